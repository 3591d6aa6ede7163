//! An embedded API server that behaves like OpenShift's, over real TCP and TLS on loopback, for tests.
//!
//! ```
//! use openshift_templates_testing::{Cluster, User};
//!
//! let cluster = Cluster::start();
//! assert!(cluster.url().starts_with("https://127.0.0.1:"));
//! assert!(cluster.object("template.openshift.io/v1", "templates", Some("infra"), "worker-template").is_some());
//! println!("{} {}", cluster.kubeconfig().display(), cluster.token(User::Worker));
//! ```
//!
//! It keeps objects with uids, owners for each field, preconditions, dry run, finalizers and namespaces that end; it
//! serves discovery in both forms and the template API. What it answers was taken from recorded exchanges with a real
//! control plane, which its own tests replay. It has the namespaces `default`, `infra`, `workers`, `other` and the
//! terminating `ending`, and two Templates in `infra`. It runs no controllers: what waits for one stays as it is.
//!
//! Not emulated: watches, PUT, JSON and strategic merge patches, deletion of collections, subresources, and the
//! parts of the template API that are not deterministic.

// A panic here means that a test or its environment is broken. Indices are those of JSON values, where what is missing
// reads as null; should a request lead to a panic all the same, it is answered with a 500, as the real server does.
#![allow(clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod access;
mod admission;
mod api;
mod apply;
mod base64;
mod body;
mod connection;
mod create;
mod decoding;
mod defaults;
mod delete;
mod discovery;
mod fault;
mod fields;
mod http;
mod ids;
mod journal;
mod json;
mod kinds;
mod listener;
mod managed_fields;
mod more_groups;
mod options;
mod pki;
mod review;
mod schema;
mod server;
mod status;
mod store;
mod target;
mod template;
mod validate;
mod wire;
mod world;
mod write;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;
use tempfile::TempDir;

pub use access::User;
pub use fault::Fault;
pub use journal::Exchange;
pub use listener::Reception;

use api::Api;
use kinds::Kind;
use listener::Listener;
use pki::Pki;
use server::{Server, Shared};
use store::Key;

/// A running cluster. Dropping it ends its threads and removes its files.
pub struct Cluster {
    url: String,
    tokens: HashMap<&'static str, String>,
    kubeconfig: PathBuf,
    service_account: PathBuf,
    _server: Server,
    shared: Arc<Shared>,
    _folder: TempDir,
}

impl Cluster {
    /// Starts a cluster on a free port of 127.0.0.1.
    ///
    /// # Panics
    ///
    /// When the environment allows no listener, no temporary folder or no certificates.
    #[must_use]
    pub fn start() -> Self {
        let listener = Listener::open().expect("a port of the loopback interface is free");
        let address = listener.address();
        let url = format!("https://{address}");
        let users = [User::Admin, User::Worker].map(User::name);
        let tokens: HashMap<&str, String> =
            users.iter().map(|user| (*user, format!("{user}-{}", ids::token()))).collect();
        let pki = Pki::new(&users);
        let folder = TempDir::new().expect("a temporary folder can be made");
        let kubeconfig = folder.path().join("kubeconfig");
        let token = |user: &str| tokens.get(user).cloned().unwrap_or_default();
        fs::write(&kubeconfig, world::kubeconfig(&url, &pki, &token))
            .expect("the temporary folder can be written");
        let service_account = folder.path().join("serviceaccount");
        world::write_service_account(&service_account, &pki.ca_pem, &token(access::WORKER));
        let by_token =
            tokens.iter().map(|(user, token)| (token.clone(), (*user).to_owned())).collect();
        let api = Api::new(address.to_string(), by_token, world::store());
        let shared = Arc::new(Shared::new(listener, pki, api));
        let server = Server::start(Arc::clone(&shared));
        Self { url, tokens, kubeconfig, service_account, _server: server, shared, _folder: folder }
    }

    /// `https://127.0.0.1:PORT`. The certificate is also good for `localhost` and `::1`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The host to connect to.
    #[must_use]
    pub fn host(&self) -> &'static str {
        "127.0.0.1"
    }

    /// The port to connect to.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.shared.listener.address().port()
    }

    /// The certificate authority that signed the server's certificate, as PEM text.
    #[must_use]
    pub fn ca_pem(&self) -> &str {
        &self.shared.pki.ca_pem
    }

    /// A kubeconfig with the contexts `worker` (the current one), `admin`, `worker-cert`, `admin-cert`, `bad-token` and
    /// `anonymous`, each in the namespace `workers`.
    #[must_use]
    pub fn kubeconfig(&self) -> &Path {
        &self.kubeconfig
    }

    /// A folder as pods find it mounted: `token` of the worker, `ca.crt`, and `namespace` with `workers`.
    #[must_use]
    pub fn service_account_dir(&self) -> &Path {
        &self.service_account
    }

    /// The user's bearer token.
    #[must_use]
    pub fn token(&self, user: User) -> &str {
        self.tokens.get(user.name()).map_or("", String::as_str)
    }

    /// The user's client certificate and its key, as PEM text.
    #[must_use]
    pub fn client_cert(&self, user: User) -> (String, String) {
        let pair = self.shared.pki.clients.get(user.name()).cloned().unwrap_or_default();
        (pair.cert_pem, pair.key_pem)
    }

    /// Every request received, in the order in which they came.
    #[must_use]
    pub fn journal(&self) -> Vec<Exchange> {
        self.shared.journal.all()
    }

    /// Forgets the requests received so far.
    pub fn clear_journal(&self) {
        drop(self.take_journal());
    }

    /// Every request received since it was last taken or cleared: a long run can so count without keeping it all. The
    /// answer to one that is being served at the moment is not noted any more.
    #[must_use]
    pub fn take_journal(&self) -> Vec<Exchange> {
        self.shared.journal.take()
    }

    /// Installs so many more API groups, of five kinds each, that hold no objects: whoever asks for all that the
    /// cluster has is told of them.
    pub fn add_groups(&self, count: usize) {
        self.shared.api.more_groups.add(count);
    }

    /// How many TCP connections have been accepted.
    #[must_use]
    pub fn connections(&self) -> u64 {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// How many TCP connections are open on this side.
    #[must_use]
    pub fn open_connections(&self) -> usize {
        self.shared.open_connections()
    }

    /// A stored object, by its group version (`v1`, `apps/v1`) and resource (`configmaps`).
    ///
    /// # Panics
    ///
    /// When the cluster does not know the resource.
    #[must_use]
    pub fn object(
        &self,
        group_version: &str,
        resource: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<Value> {
        let key = Key::new(kind(group_version, resource), namespace, name);
        self.shared.api.store().get(&key).cloned()
    }

    /// Every stored object of a namespace.
    #[must_use]
    pub fn objects(&self, namespace: &str) -> Vec<Value> {
        self.shared.api.store().in_namespace(namespace).cloned().collect()
    }

    /// Puts an object into the store, as an administrator would, in place of the one of its name if there is one; a
    /// namespaced object that names no namespace goes into `workers`.
    ///
    /// # Panics
    ///
    /// When the cluster does not know the kind or would refuse the object.
    pub fn store(&self, manifest: Value) {
        world::put(&mut self.shared.api.store(), manifest, "administrator");
    }

    /// Gives a stored object this `status`, as its controller would; uid and everything else stay.
    ///
    /// ```
    /// # let cluster = openshift_templates_testing::Cluster::start();
    /// # cluster.store(serde_json::json!({
    /// #     "apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": {"name": "worker-001"},
    /// #     "spec": {"template": {}},
    /// # }));
    /// let ready = serde_json::json!({"conditions": [{"type": "Ready", "status": "True"}]});
    /// cluster.set_status("kubevirt.io/v1", "virtualmachines", Some("workers"), "worker-001", ready);
    /// ```
    ///
    /// # Panics
    ///
    /// When the cluster does not know the resource or has no such object.
    pub fn set_status(
        &self,
        group_version: &str,
        resource: &str,
        namespace: Option<&str>,
        name: &str,
        status: Value,
    ) {
        let key = Key::new(kind(group_version, resource), namespace, name);
        let mut store = self.shared.api.store();
        let mut object = store.get(&key).cloned().expect("the object exists");
        object["status"] = status;
        store.put(key, object);
    }

    /// Removes an object, whatever its finalizers, as a controller that has done its work would; returns it.
    ///
    /// # Panics
    ///
    /// When the cluster does not know the resource.
    #[must_use]
    pub fn remove(
        &self,
        group_version: &str,
        resource: &str,
        namespace: Option<&str>,
        name: &str,
    ) -> Option<Value> {
        let key = Key::new(kind(group_version, resource), namespace, name);
        self.shared.api.store().remove(&key)
    }

    /// Marks a namespace as terminating: nothing new can be created in it, and nothing goes by itself.
    pub fn terminate_namespace(&self, name: &str) {
        self.shared.api.store().terminate_namespace(name);
    }

    /// Removes a namespace with all that it holds.
    pub fn finish_namespace(&self, name: &str) {
        self.shared.api.store().finish_namespace(name);
    }

    /// Adds a fault. Of several that match a request the one added first is used, as long as it has any left.
    pub fn fault(&self, fault: Fault) {
        self.shared.faults.add(fault);
    }

    /// How many requests a fault has struck.
    #[must_use]
    pub fn faults_struck(&self) -> u64 {
        self.shared.faults.struck()
    }

    /// From now on this becomes of new connections; those that are there stay.
    ///
    /// # Panics
    ///
    /// When the system cannot do it: see [`Reception`].
    pub fn receive(&self, reception: Reception) {
        self.shared.listener.receive(reception);
    }

    /// Removes every fault, and serves new connections again.
    pub fn clear_faults(&self) {
        self.shared.faults.clear();
        self.shared.listener.receive(Reception::Served);
    }
}

fn kind(group_version: &str, resource: &str) -> &'static Kind {
    let (group, version) = group_version.split_once('/').unwrap_or(("", group_version));
    kinds::lookup(group, version, resource)
        .unwrap_or_else(|| panic!("the cluster does not know {resource} of {group_version}"))
}
