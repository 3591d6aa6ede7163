//! One request to one answer: who asks, whether they may, and who does it.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};

use crate::access::{self, ANONYMOUS};
use crate::http::{Request, Response};
use crate::kinds::{self, Kind};
use crate::more_groups::MoreGroups;
use crate::status::{self, About};
use crate::store::{Key, Store};
use crate::target::{self, Query, ResourceTarget, Target};
use crate::write::Write;
use crate::{apply, create, delete, discovery, options, review, template};

/// The API server's limit for the body of a request.
const MAX_BODY: usize = 3 * 1024 * 1024;

const DEPRECATED: &str = "299 - \"apps.openshift.io/v1 DeploymentConfig is deprecated in v4.14+, unavailable in v4.10000+\"";

pub(crate) struct Api {
    address: String,
    tokens: HashMap<String, String>,
    store: Mutex<Store>,
    pub(crate) more_groups: MoreGroups,
}

impl Api {
    pub(crate) fn new(address: String, tokens: HashMap<String, String>, store: Store) -> Self {
        Self { address, tokens, store: Mutex::new(store), more_groups: MoreGroups::default() }
    }

    pub(crate) fn store(&self) -> MutexGuard<'_, Store> {
        self.store.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client certificate counts before a token; a token that nobody has is no credential.
    pub(crate) fn authenticate(
        &self,
        request: &Request,
        certificate_user: Option<&str>,
    ) -> Option<String> {
        if let Some(user) = certificate_user {
            return Some(user.to_owned());
        }
        let Some(authorization) = request.header("authorization") else {
            return Some(ANONYMOUS.to_owned());
        };
        let token = authorization.strip_prefix("Bearer ")?;
        self.tokens.get(token.trim()).cloned()
    }

    pub(crate) fn handle(&self, request: &Request, user: Option<&str>) -> Response {
        let (target, query) = target::parse(&request.target);
        // Refused before anything behind the aggregator could see it.
        if let Err(refusal) = admit(request, user, &target) {
            return decorate(refusal, "no-cache, private");
        }
        let answer = match &target {
            Target::Path(path) if request.method == "GET" => {
                Ok(discovery::answer(path, request, &self.address, &self.more_groups))
            }
            Target::Path(_) => Err(status::method_not_allowed()),
            Target::Resource(target) => {
                self.resource(user.unwrap_or_default(), target, request, &query)
            }
        };
        // Errors are answers too; as `Err` they only took the shorter way.
        let mut answer = answer.unwrap_or_else(|error| error);
        if is_deployment_config(&target) {
            answer = answer.with_header("Warning", DEPRECATED);
        }
        let aggregated = target_group(&target).is_some_and(kinds::is_aggregated_group);
        decorate(answer, if aggregated { "no-store" } else { "no-cache, private" })
    }

    fn resource(
        &self,
        user: &str,
        target: &ResourceTarget,
        request: &Request,
        query: &Query,
    ) -> Result<Response, Response> {
        let kind = kind_of(target)?;
        if request.body.len() > MAX_BODY {
            return Err(status::too_large(MAX_BODY));
        }
        if kind.resource == "selfsubjectaccessreviews" && request.method == "POST" {
            return review::review(user, request);
        }
        if kind.resource == "processedtemplates" {
            return self.process(kind, target, request, query);
        }
        self.object(kind, target, request, query)
    }

    fn process(
        &self,
        kind: &Kind,
        target: &ResourceTarget,
        request: &Request,
        query: &Query,
    ) -> Result<Response, Response> {
        let (Some(namespace), None) = (&target.namespace, &target.name) else {
            return Err(status::no_such_resource());
        };
        if request.method != "POST" {
            return Err(status::method_not_allowed());
        }
        template::process(kind, namespace, request, query, &self.store())
    }

    fn object(
        &self,
        kind: &Kind,
        target: &ResourceTarget,
        request: &Request,
        query: &Query,
    ) -> Result<Response, Response> {
        let namespace = target.namespace.as_deref();
        let mut store = self.store();
        match (request.method.as_str(), target.name.as_deref()) {
            ("GET", None) if kind.allows("list") => Ok(list(kind, namespace, &store)),
            ("POST", None) if kind.allows("create") => {
                create::create(kind, namespace, request, query, &mut store)
            }
            ("GET", Some(name)) if kind.allows("get") => {
                options::format(request)?;
                let object = store.get(&Key::new(kind, namespace, name));
                let object =
                    object.ok_or_else(|| status::not_found(About::resource(kind, name)))?;
                Ok(status::object(200, object))
            }
            ("PATCH", Some(name)) if kind.allows("patch") => apply::patch(
                Write { kind, namespace, name, dry_run: false },
                request,
                query,
                &mut store,
            ),
            ("DELETE", Some(name)) if kind.allows("delete") => delete::delete(
                Write { kind, namespace, name, dry_run: false },
                request,
                query,
                &mut store,
            ),
            _ => Err(status::method_not_allowed()),
        }
    }
}

fn admit(request: &Request, user: Option<&str>, target: &Target) -> Result<(), Response> {
    let user = user.ok_or_else(status::unauthorized)?;
    access::check(user, &request.method, target)
}

fn decorate(answer: Response, cache: &str) -> Response {
    let answer = answer.with_header("Audit-Id", crate::ids::uid());
    let has_its_own = answer.headers.iter().any(|(name, _)| name == "Cache-Control");
    if has_its_own { answer } else { answer.with_header("Cache-Control", cache) }
}

fn is_deployment_config(target: &Target) -> bool {
    matches!(target, Target::Resource(target)
        if target.group == "apps.openshift.io" && target.resource == "deploymentconfigs")
}

fn target_group(target: &Target) -> Option<&str> {
    match target {
        Target::Resource(target) => Some(&target.group),
        Target::Path(path) => path.strip_prefix("/apis/")?.split_once('/').map(|(group, _)| group),
    }
}

fn kind_of(target: &ResourceTarget) -> Result<&'static Kind, Response> {
    if discovery::is_down(&target.group) {
        return Err(status::plain(503, "service unavailable\n"));
    }
    if !discovery::knows_group(&target.group) {
        return Err(status::page_not_found());
    }
    let kind = kinds::lookup(&target.group, &target.version, &target.resource).filter(|kind| {
        let is_namespace = kind.group.is_empty() && kind.resource == "namespaces";
        let scoped = match (&target.namespace, &target.name) {
            (Some(_), _) => kind.namespaced || is_namespace,
            (None, Some(_)) => !kind.namespaced,
            (None, None) => true,
        };
        scoped && target.subresource.is_none()
    });
    kind.ok_or_else(|| {
        if kinds::is_custom_group(&target.group) {
            status::page_not_found()
        } else {
            status::no_such_resource()
        }
    })
}

/// The items say neither kind nor version: the list does.
fn list(kind: &Kind, namespace: Option<&str>, store: &Store) -> Response {
    let items: Vec<Value> = store
        .list(kind, namespace)
        .map(|object| {
            let mut item = object.clone();
            if let Some(members) = item.as_object_mut().filter(|_| !kind.is_custom()) {
                members.remove("kind");
                members.remove("apiVersion");
            }
            item
        })
        .collect();
    status::object(
        200,
        &json!({
            "kind": format!("{}List", kind.kind), "apiVersion": kind.api_version(),
            "metadata": {"resourceVersion": store.revision().to_string()}, "items": items,
        }),
    )
}
