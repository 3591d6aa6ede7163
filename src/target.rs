//! The boundary: which objects an operation may touch at all. Everything here is settled for all
//! objects before the first of them is touched.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::discovery::{ApiResource, Unsuitable};
use crate::error::{ApiError, ManifestError, ManifestProblem};
use crate::manifest::identity;
use crate::request::{Request, Verb, is_api_version};
use crate::scope::Scope;
use crate::{Error, InvalidInput, Manifest, ResourceRef, Result};

/// An object that may be touched: its identity, with the namespace set, and the resource it is.
pub(crate) struct Target {
    pub(crate) reference: ResourceRef,
    pub(crate) resource: ApiResource,
    namespace: String,
}

impl Target {
    /// Whether an answer says that exactly this object is not there.
    pub(crate) fn is_absent(&self, answer: &ApiError) -> bool {
        answer.is_absence_of(self.reference.group(), self.reference.name())
    }

    /// A request about this object, or with [`Verb::Create`] about its collection.
    pub(crate) fn request(&self, verb: Verb) -> Result<Request> {
        let name = (verb != Verb::Create).then(|| self.reference.name());
        let (api_version, namespace) = (self.reference.api_version(), &self.namespace);
        Request::namespaced(verb, api_version, namespace, &self.resource.name, name)
            .ok_or_else(|| crate::discovery::not_served(api_version, self.reference.kind()))
    }
}

/// A rendered object as it may be applied, and its position in the rendered list.
pub(crate) struct Rendered {
    pub(crate) index: usize,
    pub(crate) object: Map<String, Value>,
    pub(crate) reference: ResourceRef,
}

impl Rendered {
    pub(crate) fn refuse(&self, problem: ManifestProblem) -> Error {
        ManifestError::new(self.index, identity(&self.object), problem).into()
    }
}

/// Nobody nests lists this deep; the bound keeps a hostile one from using up the stack.
const LIST_DEPTH: usize = 8;

/// Checks rendered objects, each by itself, after lists have given way to their items.
pub(crate) fn rendered(objects: Vec<Manifest>, namespace: &str) -> Result<Vec<Rendered>> {
    let mut flat = Vec::with_capacity(objects.len());
    for (index, object) in objects.into_iter().enumerate() {
        flatten(index, Value::Object(object.into_map()), 0, &mut flat)?;
    }
    flat.into_iter()
        .map(|(index, object)| match check_object(&object, namespace) {
            Ok(reference) => Ok(Rendered { index, object, reference }),
            Err(problem) => Err(ManifestError::new(index, identity(&object), problem).into()),
        })
        .collect()
}

fn flatten(
    index: usize,
    object: Value,
    depth: usize,
    flat: &mut Vec<(usize, Map<String, Value>)>,
) -> Result<()> {
    let refuse = |object: &Map<String, Value>, problem| {
        Err(ManifestError::new(index, identity(object), problem).into())
    };
    let Value::Object(mut object) = object else {
        return refuse(&Map::new(), ManifestProblem::NotAnObject);
    };
    let is_list = object.get("kind").and_then(Value::as_str).is_some_and(|k| k.ends_with("List"));
    match object.remove("items") {
        Some(Value::Array(_)) if is_list && depth == LIST_DEPTH => {
            refuse(&object, ManifestProblem::ListTooDeep)
        }
        Some(Value::Array(items)) if is_list => {
            items.into_iter().try_for_each(|item| flatten(index, item, depth + 1, flat))
        }
        items => {
            object.extend(items.map(|items| ("items".to_owned(), items)));
            flat.push((index, object));
            Ok(())
        }
    }
}

fn check_object(
    object: &Map<String, Value>,
    namespace: &str,
) -> Result<ResourceRef, ManifestProblem> {
    let Some(Value::Object(metadata)) = object.get("metadata") else {
        return Err(ManifestProblem::NoMetadata);
    };
    if metadata.contains_key("generateName") {
        return Err(ManifestProblem::GenerateName);
    }
    let found = match metadata.get("namespace") {
        None | Some(Value::Null) => None,
        Some(Value::String(found)) => Some(found.as_str()),
        Some(_) => return Err(ManifestProblem::NamespaceNotAString),
    };
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or_default().to_owned();
    let reference = ResourceRef::new(
        text(object.get("apiVersion")),
        text(object.get("kind")),
        text(metadata.get("name")),
    );
    check_identity(&reference, found, namespace)?;
    Ok(reference.with_namespace(namespace))
}

/// Most kinds' names have at most 253 characters; roles are bounded by what a URL can carry only.
const NAME_LIMIT: usize = 1024;

fn check_identity(
    reference: &ResourceRef,
    found: Option<&str>,
    namespace: &str,
) -> Result<(), ManifestProblem> {
    for (field, value) in [("apiVersion", reference.api_version()), ("kind", reference.kind())] {
        if value.is_empty() {
            return Err(ManifestProblem::NotAString { field });
        }
    }
    let name = reference.name();
    if name.trim().is_empty() {
        return Err(ManifestProblem::NotAString { field: "metadata.name" });
    }
    let is_unsafe = |c: char| c.is_control() || c == '/' || c == '%';
    if name == "." || name == ".." || name.len() > NAME_LIMIT || name.contains(is_unsafe) {
        return Err(ManifestProblem::UnsafeName);
    }
    if !is_api_version(reference.api_version()) {
        return Err(ManifestProblem::ApiVersion);
    }
    match found.filter(|found| !found.is_empty() && *found != namespace) {
        Some(found) => Err(ManifestProblem::OtherNamespace {
            found: found.to_owned(),
            expected: namespace.to_owned(),
        }),
        None => Ok(()),
    }
}

/// What a create has to refuse beyond that, because a replay could not reach it, or not tell it
/// from another object.
pub(crate) fn check_replayable(objects: &[Rendered]) -> Result<()> {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for object in objects {
        let reference = &object.reference;
        let namespace = object.object.get("metadata").and_then(|m| m.get("namespace"));
        for (field, value) in [
            ("metadata.name", reference.name()),
            ("metadata.namespace", namespace.and_then(Value::as_str).unwrap_or_default()),
            ("kind", reference.kind()),
            ("apiVersion", reference.api_version()),
        ] {
            if value.contains("${") {
                return Err(object.refuse(ManifestProblem::Unsubstituted { field }));
            }
        }
        // Two versions of one group are two views of one object, and so are the roles of
        // OpenShift's own group and of Kubernetes'.
        let group = match (reference.group(), reference.kind()) {
            ("authorization.openshift.io", "Role" | "RoleBinding") => "rbac.authorization.k8s.io",
            (group, _) => group,
        };
        let identity = (group, reference.kind(), reference.name());
        if let Some(first) = seen.insert(identity, object.index) {
            return Err(object.refuse(ManifestProblem::Duplicate { first }));
        }
    }
    Ok(())
}

/// Finds the resource of each rendered object.
pub(crate) fn resolve(scope: &Scope<'_>, objects: &[Rendered], verb: Verb) -> Result<Vec<Target>> {
    objects
        .iter()
        .map(|object| {
            find(scope, object.reference.clone(), verb)
                .map_err(|unsuitable| unsuitable.into_error(|problem| object.refuse(problem)))
        })
        .collect()
}

/// Checks references and finds the resource of each.
pub(crate) fn resolve_references(
    scope: &Scope<'_>,
    references: &[ResourceRef],
    verb: Verb,
) -> Result<Vec<Target>> {
    let refuse = |index: usize, reference: &ResourceRef, problem| {
        let resource = reference.to_string();
        Error::from(InvalidInput::Reference { index, resource, problem: Box::new(problem) })
    };
    for (index, reference) in references.iter().enumerate() {
        check_identity(reference, reference.namespace(), scope.namespace())
            .map_err(|problem| refuse(index, reference, problem))?;
    }
    let resolve = |(index, reference): (usize, &ResourceRef)| {
        let target = reference.clone().with_namespace(scope.namespace());
        find(scope, target, verb)
            .map_err(|u| u.into_error(|problem| refuse(index, reference, problem)))
    };
    references.iter().enumerate().map(resolve).collect()
}

fn find(scope: &Scope<'_>, reference: ResourceRef, verb: Verb) -> Result<Target, Unsuitable> {
    let resource = scope.resource(reference.api_version(), reference.kind(), verb)?;
    Ok(Target { reference, resource, namespace: scope.namespace().to_owned() })
}

impl Unsuitable {
    fn into_error(self, refuse: impl Fn(ManifestProblem) -> Error) -> Error {
        match self {
            Self::Error(error) => error,
            Self::Problem(problem) => refuse(problem),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// Fields as they should be, as they should not, and anything else.
    fn field() -> impl Strategy<Value = Value> {
        const KNOWN: &[&str] =
            &["", ".", "..", "a", "workers", "other", "v1", "apps/v1", "a/b/c", "List", "a%2fb"];
        prop_oneof![
            4 => prop::sample::select(KNOWN).prop_map(Value::from),
            1 => ".{0,9}".prop_map(Value::from),
            1 => Just(Value::Null),
            1 => Just(json!(["workers"])),
            1 => Just(json!({"name": "a"})),
        ]
    }

    fn object() -> impl Strategy<Value = Value> {
        let flat =
            (field(), field(), field(), field()).prop_map(|(version, kind, name, namespace)| {
                json!({"apiVersion": version, "kind": kind,
                "metadata": {"name": name, "namespace": namespace}})
            });
        flat.prop_recursive(10, 30, 3, |inner| {
            (field(), prop::collection::vec(inner, 0..3))
                .prop_map(|(kind, items)| json!({"kind": kind, "items": items}))
        })
    }

    proptest! {
        #[test]
        fn what_is_let_through_is_one_object_of_the_target_namespace(
            values in prop::collection::vec(object(), 0..4),
        ) {
            let Ok(rendered) = rendered(objects(&values), "workers") else { return Ok(()) };
            for Rendered { object, reference, .. } in &rendered {
                let namespace = object["metadata"].get("namespace").and_then(Value::as_str);
                prop_assert!(matches!(namespace, None | Some("" | "workers")));
                prop_assert_eq!(reference.namespace(), Some("workers"));
                let path = Request::namespaced(
                    Verb::Patch, reference.api_version(), "workers", "things", Some(reference.name()),
                );
                prop_assert!(path.is_some(), "{} has no path", reference);
            }
            if check_replayable(&rendered).is_ok() {
                let mut names: Vec<_> = rendered
                    .iter()
                    .map(|r| (r.reference.group(), r.reference.kind(), r.reference.name()))
                    .collect();
                names.sort_unstable();
                names.dedup();
                prop_assert_eq!(names.len(), rendered.len());
            }
        }
    }

    fn objects(values: &[Value]) -> Vec<Manifest> {
        values.iter().map(|v| v.as_object().unwrap().clone().into()).collect()
    }

    fn named(kind: &str, name: &str) -> Value {
        json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}})
    }

    fn names(values: &[Value]) -> Vec<String> {
        let rendered = rendered(objects(values), "workers").unwrap();
        rendered.iter().map(|r| r.reference.name().to_owned()).collect()
    }

    fn problem(values: &[Value]) -> ManifestProblem {
        let result = rendered(objects(values), "workers").and_then(|r| check_replayable(&r));
        match result.unwrap_err() {
            Error::InvalidManifest(error) => error.problem().clone(),
            error => panic!("{error:?}"),
        }
    }

    #[test]
    fn lists_give_way_to_their_items_in_place() {
        let inner = json!({"kind": "ConfigMapList", "items": [named("ConfigMap", "b")]});
        let list =
            json!({"apiVersion": "v1", "kind": "List", "items": [inner, named("ConfigMap", "c")]});
        let not_a_list =
            json!({"apiVersion": "v1", "kind": "Menu", "metadata": {"name": "d"}, "items": [1]});
        assert_eq!(names(&[named("ConfigMap", "a"), list, not_a_list]), ["a", "b", "c", "d"]);
        assert_eq!(names(&[json!({"kind": "List", "items": []})]), [""; 0]);
        // Without items it is an object like any other.
        assert_eq!(names(&[named("AllowList", "a")]), ["a"]);
    }

    #[test]
    fn lists_are_bounded_in_depth() {
        let nested = |depth| {
            (0..depth)
                .fold(named("ConfigMap", "a"), |item, _| json!({"kind": "List", "items": [item]}))
        };
        assert_eq!(names(&[nested(LIST_DEPTH)]), ["a"]);
        assert_eq!(problem(&[nested(LIST_DEPTH + 1)]), ManifestProblem::ListTooDeep);
        assert_eq!(problem(&[json!({"kind": "List", "items": [5]})]), ManifestProblem::NotAnObject);
    }

    #[test]
    fn a_namespace_is_the_targets_or_none() {
        let within = |namespace: Value| json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": namespace}});
        for fits in [json!(null), json!(""), json!("workers")] {
            assert_eq!(names(&[within(fits)]), ["a"]);
        }
        assert_eq!(
            problem(&[within(json!("other"))]),
            ManifestProblem::OtherNamespace { found: "other".into(), expected: "workers".into() }
        );
        assert_eq!(problem(&[within(json!({}))]), ManifestProblem::NamespaceNotAString);
    }

    #[test]
    fn what_a_replay_could_not_reach_is_refused() {
        let leftover = ManifestProblem::Unsubstituted { field: "metadata.name" };
        assert_eq!(problem(&[named("ConfigMap", "a-${B}")]), leftover);
        let twice = [named("ConfigMap", "a"), named("Secret", "a"), named("ConfigMap", "a")];
        assert_eq!(problem(&twice), ManifestProblem::Duplicate { first: 0 });
        let versions = ["apps/v1", "apps/v1beta1"]
            .map(|v| json!({"apiVersion": v, "kind": "Deployment", "metadata": {"name": "a"}}));
        assert_eq!(problem(&versions), ManifestProblem::Duplicate { first: 0 });
        let groups = ["apps/v1", "extensions/v1beta1"]
            .map(|v| json!({"apiVersion": v, "kind": "Deployment", "metadata": {"name": "a"}}));
        assert!(check_replayable(&rendered(objects(&groups), "workers").unwrap()).is_ok());
    }
}
