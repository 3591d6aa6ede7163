//! Which resource a kind is, as the cluster's discovery documents say.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

use crate::error::{DiscoveryError, ManifestProblem};
use crate::names::is_dns_subdomain;
use crate::request::{Request, Verb};
use crate::transport::{Limits, Transport};
use crate::{Error, Result};

/// A resource as a path needs it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ApiResource {
    /// The plural name, checked to be fit for a path.
    pub(crate) name: String,
    namespaced: bool,
    verbs: Vec<String>,
}

impl ApiResource {
    fn can(&self, verb: Verb) -> bool {
        self.verbs.iter().any(|known| known == verb.name())
    }
}

/// What has been found so far. It is kept for the client's life; what was not found is asked for
/// again, because a custom resource can be installed at any time.
#[derive(Default)]
pub(crate) struct Discovery {
    found: RwLock<HashMap<String, Kinds>>,
}

type Kinds = Arc<HashMap<String, Vec<ApiResource>>>;

/// Why a kind cannot be acted on: the cluster lacks it, or the kind is none for this.
pub(crate) enum Unsuitable {
    Error(Error),
    Problem(ManifestProblem),
}

impl Discovery {
    /// Asks for the resources of a group version, and keeps them.
    pub(crate) fn ask(
        &self,
        transport: &Transport,
        limits: &Limits,
        api_version: &str,
    ) -> Result<()> {
        let request = Request::discovery(api_version).ok_or_else(|| malformed(api_version))?;
        let document = transport.send(&request, limits)?.into_object(&request)?;
        let kinds = read(api_version, &document).ok_or_else(|| malformed(api_version))?;
        let mut found = self.found.write().unwrap_or_else(PoisonError::into_inner);
        let known = found.entry(api_version.to_owned()).or_default();
        let mut merged = HashMap::clone(known);
        merged.extend(kinds);
        *known = Arc::new(merged);
        Ok(())
    }

    /// The one namespaced resource of this kind that supports the verb.
    pub(crate) fn resource(
        &self,
        transport: &Transport,
        limits: &Limits,
        api_version: &str,
        kind: &str,
        verb: Verb,
    ) -> Result<ApiResource, Unsuitable> {
        if let Some(candidates) = self.candidates(api_version, kind) {
            return suitable(candidates, api_version, kind, verb);
        }
        match self.ask(transport, limits, api_version) {
            // Whoever answers 404 to a group version does not serve it, Status or not.
            Err(Error::Api(error)) if error.code() == 404 => {}
            result => result.map_err(Unsuitable::Error)?,
        }
        match self.candidates(api_version, kind) {
            Some(candidates) => suitable(candidates, api_version, kind, verb),
            None => Err(Unsuitable::Error(not_served(api_version, kind))),
        }
    }

    fn candidates(&self, api_version: &str, kind: &str) -> Option<Vec<ApiResource>> {
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        found.get(api_version)?.get(kind).cloned()
    }
}

/// A kind can belong to several resources: `processedtemplates` are of kind Template too, and come
/// first. What they can do tells them apart.
fn suitable(
    candidates: Vec<ApiResource>,
    api_version: &str,
    kind: &str,
    verb: Verb,
) -> Result<ApiResource, Unsuitable> {
    if candidates.iter().all(|resource| !resource.namespaced) {
        return Err(Unsuitable::Problem(ManifestProblem::ClusterScoped));
    }
    // Whatever is created has to be found again, and is looked at by some operations: so a target
    // can always be read, which processedtemplates cannot.
    let mut lacking = verb;
    let mut able = Vec::new();
    for resource in candidates.into_iter().filter(|r| r.namespaced && r.can(verb)) {
        if resource.can(Verb::Get) {
            able.push(resource);
        } else {
            lacking = Verb::Get;
        }
    }
    match (able.pop(), able.is_empty()) {
        (Some(resource), true) => Ok(resource),
        (None, _) => {
            Err(Unsuitable::Problem(ManifestProblem::Unsupported { verb: lacking.name() }))
        }
        (Some(_), false) => {
            let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
            Err(Unsuitable::Error(DiscoveryError::Ambiguous { api_version, kind }.into()))
        }
    }
}

/// In a path these two are taken for subresources of the namespace itself, whatever group they are
/// in: apiserver's `RequestInfoFactory` (`namespaceSubresources`) judges rights by that.
const OF_THE_NAMESPACE: [&str; 2] = ["status", "finalize"];

/// Reads an `APIResourceList`. Subresources (`pods/log`) are not targets. `None` when the document
/// is not about this group version, or names a resource in a way that no path could take.
fn read(
    api_version: &str,
    document: &Map<String, Value>,
) -> Option<HashMap<String, Vec<ApiResource>>> {
    if document.get("groupVersion")?.as_str()? != api_version {
        return None;
    }
    let mut kinds: HashMap<String, Vec<ApiResource>> = HashMap::new();
    let resources = match document.get("resources") {
        None | Some(Value::Null) => return Some(kinds),
        Some(resources) => resources.as_array()?,
    };
    for resource in resources {
        let name = resource.get("name")?.as_str()?;
        if name.contains('/') || OF_THE_NAMESPACE.contains(&name) {
            continue;
        }
        if !is_dns_subdomain(name) {
            return None;
        }
        let verbs = match resource.get("verbs") {
            None | Some(Value::Null) => Vec::new(),
            Some(verbs) => verbs
                .as_array()?
                .iter()
                .filter_map(|verb| verb.as_str().map(str::to_owned))
                .collect(),
        };
        kinds.entry(resource.get("kind")?.as_str()?.to_owned()).or_default().push(ApiResource {
            name: name.to_owned(),
            namespaced: resource.get("namespaced")?.as_bool()?,
            verbs,
        });
    }
    Some(kinds)
}

pub(crate) fn not_served(api_version: &str, kind: &str) -> Error {
    let (api_version, kind) = (api_version.to_owned(), kind.to_owned());
    DiscoveryError::NotServed { api_version, kind }.into()
}

fn malformed(api_version: &str) -> Error {
    DiscoveryError::Malformed { api_version: api_version.to_owned() }.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    proptest! {
        #[test]
        fn every_resource_has_a_name_that_is_one_segment(name in ".{0,20}|[a-z./%]{0,12}") {
            let document = list(&json!([resource(&name, true, &["get"])]));
            let found = kinds(&document).and_then(|mut kinds| kinds.remove("Thing"));
            for resource in found.into_iter().flatten() {
                prop_assert!(is_dns_subdomain(&resource.name) && resource.name == name);
            }
        }
    }

    fn kinds(document: &Value) -> Option<HashMap<String, Vec<ApiResource>>> {
        read("example.com/v1", document.as_object().unwrap())
    }

    fn list(resources: &Value) -> Value {
        json!({"kind": "APIResourceList", "groupVersion": "example.com/v1", "resources": resources})
    }

    fn resource(name: &str, namespaced: bool, verbs: &[&str]) -> Value {
        json!({"name": name, "kind": "Thing", "namespaced": namespaced, "verbs": verbs})
    }

    fn choose(resources: &Value) -> Result<String, String> {
        let candidates = kinds(&list(resources)).unwrap().remove("Thing").unwrap();
        match suitable(candidates, "example.com/v1", "Thing", Verb::Patch) {
            Ok(resource) => Ok(resource.name),
            Err(Unsuitable::Error(error)) => Err(error.to_string()),
            Err(Unsuitable::Problem(problem)) => Err(problem.to_string()),
        }
    }

    #[test]
    fn the_resource_that_can_do_it_is_chosen() {
        let both = json!([
            resource("processed", true, &["create"]),
            resource("things", true, &["get", "patch"])
        ]);
        assert_eq!(choose(&both).as_deref(), Ok("things"));
        let subresource = json!([
            resource("things/scale", true, &["get", "patch"]),
            resource("things", true, &["get", "patch"])
        ]);
        assert_eq!(choose(&subresource).as_deref(), Ok("things"));
        let unable = json!([resource("things", true, &["create"])]);
        assert_eq!(choose(&unable).unwrap_err(), "the kind does not support patch");
        let unreadable = json!([resource("things", true, &["patch"])]);
        assert_eq!(choose(&unreadable).unwrap_err(), "the kind does not support get");
        let cluster = json!([resource("things", false, &["get", "patch"])]);
        assert_eq!(choose(&cluster).unwrap_err(), "the kind is cluster-scoped");
        let twice =
            json!([resource("a", true, &["get", "patch"]), resource("b", true, &["get", "patch"])]);
        assert!(choose(&twice).unwrap_err().contains("several"));
    }

    #[test]
    fn a_document_that_could_lead_astray_is_refused() {
        for name in ["../secrets", "..", ".", "", "a%2fb", "a?b", "a b", "A"] {
            let document = list(&json!([resource(name, true, &["get", "patch"])]));
            let slash = name.contains('/');
            assert_eq!(kinds(&document).map(|k| k.len()), slash.then_some(0), "{name}");
        }
        for name in OF_THE_NAMESPACE {
            let document = list(&json!([resource(name, true, &["get", "patch"])]));
            assert_eq!(kinds(&document).map(|k| k.len()), Some(0), "{name}");
        }
        let other = json!({"kind": "APIResourceList", "groupVersion": "v1", "resources": []});
        assert!(kinds(&other).is_none());
        assert!(kinds(&json!({})).is_none());
        assert_eq!(kinds(&list(&Value::Null)).map(|k| k.len()), Some(0));
    }
}
