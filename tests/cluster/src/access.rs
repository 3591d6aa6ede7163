//! Who may do what.

use crate::http::Response;
use crate::status::{self, About};
use crate::target::{ResourceTarget, Target};

pub(crate) const ADMIN: &str = "admin";
pub(crate) const WORKER: &str = "worker";
pub(crate) const ANONYMOUS: &str = "system:anonymous";

/// A user with credentials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum User {
    /// May do everything.
    Admin,
    /// May get one Template in `infra`, and process, and create, patch, get and delete `ConfigMaps`, Secrets and
    /// `VirtualMachines` in `workers`.
    Worker,
}

impl User {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Admin => ADMIN,
            Self::Worker => WORKER,
        }
    }
}

/// What the worker may do, as in the recordings.
struct Rule {
    group: &'static str,
    resources: &'static [&'static str],
    namespace: &'static str,
    /// Empty for any.
    names: &'static [&'static str],
    verbs: &'static [&'static str],
}

const OBJECT_VERBS: &[&str] = &["get", "create", "patch", "delete"];

const WORKER_RULES: &[Rule] = &[
    Rule {
        group: "template.openshift.io",
        resources: &["templates"],
        namespace: "infra",
        names: &["worker-template"],
        verbs: &["get"],
    },
    Rule {
        group: "template.openshift.io",
        resources: &["processedtemplates"],
        namespace: "workers",
        names: &[],
        verbs: &["create"],
    },
    Rule {
        group: "",
        resources: &["configmaps", "secrets"],
        namespace: "workers",
        names: &[],
        verbs: OBJECT_VERBS,
    },
    Rule {
        group: "kubevirt.io",
        resources: &["virtualmachines"],
        namespace: "workers",
        names: &[],
        verbs: OBJECT_VERBS,
    },
];

impl Rule {
    fn allows(&self, verb: &str, target: &ResourceTarget) -> bool {
        let name = target.name.as_deref().unwrap_or_default();
        target.subresource.is_none()
            && self.group == target.group
            && self.resources.contains(&target.resource.as_str())
            && Some(self.namespace) == target.namespace.as_deref()
            && (self.names.is_empty() || self.names.contains(&name))
            && self.verbs.contains(&verb)
    }
}

/// Refuses what the user may not do.
pub(crate) fn check(user: &str, method: &str, target: &Target) -> Result<(), Response> {
    match target {
        Target::Path(path) => check_path(user, method, path),
        Target::Resource(target) => check_resource(user, method, target),
    }
}

fn check_path(user: &str, method: &str, path: &str) -> Result<(), Response> {
    let anyone = path == "/version";
    let discovery =
        ["/api", "/apis"].iter().any(|root| path == *root || path.starts_with(&format!("{root}/")));
    if user == ADMIN || anyone || (user == WORKER && discovery && method == "GET") {
        return Ok(());
    }
    let verb = method.to_ascii_lowercase();
    let message = format!("forbidden: User {user:?} cannot {verb} path {path:?}");
    Err(status::forbidden(&message, About::default()))
}

pub(crate) fn is_allowed(user: &str, verb: &str, target: &ResourceTarget) -> bool {
    // Whoever is known may ask about himself: a cluster's role system:basic-user.
    let is_review = target.group == "authorization.k8s.io"
        && target.resource == "selfsubjectaccessreviews"
        && verb == "create";
    user == ADMIN
        || (user == WORKER
            && (is_review || WORKER_RULES.iter().any(|rule| rule.allows(verb, target))))
}

fn check_resource(user: &str, method: &str, target: &ResourceTarget) -> Result<(), Response> {
    let verb = verb(method, target.name.is_some());
    if is_allowed(user, verb, target) {
        return Ok(());
    }
    let name = target.name.as_deref().unwrap_or_default();
    let about = About { name, group: &target.group, kind: &target.resource };
    let subject =
        if name.is_empty() { about.qualified() } else { format!("{} {name:?}", about.qualified()) };
    let place = target.namespace.as_ref().map_or_else(
        || "at the cluster scope".to_owned(),
        |namespace| format!("in the namespace {namespace:?}"),
    );
    let resource = match &target.subresource {
        Some(subresource) => format!("{}/{subresource}", target.resource),
        None => target.resource.clone(),
    };
    let message = format!(
        "{subject} is forbidden: User {user:?} cannot {verb} resource {resource:?} in API group {:?} {place}",
        target.group
    );
    Err(status::forbidden(&message, about))
}

fn verb(method: &str, named: bool) -> &'static str {
    match (method, named) {
        ("GET" | "HEAD", true) => "get",
        ("GET" | "HEAD", false) => "list",
        ("POST", _) => "create",
        ("PUT", _) => "update",
        ("PATCH", _) => "patch",
        ("DELETE", true) => "delete",
        ("DELETE", false) => "deletecollection",
        _ => "",
    }
}
