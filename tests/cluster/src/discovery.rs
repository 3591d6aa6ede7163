//! Discovery in both forms, from one source: the recorded aggregated documents.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::OnceLock;

use serde_json::{Map, Value, json};

use crate::http::{Request, Response};
use crate::more_groups::MoreGroups;
use crate::{json, kinds, status};

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

struct Documents {
    core: Value,
    groups: Value,
    /// Not in the aggregated form; by group version and resource.
    storage_version_hashes: Value,
}

fn documents() -> &'static Documents {
    static DOCUMENTS: OnceLock<Documents> = OnceLock::new();
    let parse = |text| serde_json::from_str(text).expect("the embedded document is JSON");
    DOCUMENTS.get_or_init(|| Documents {
        core: parse(include_str!("../data/api.json")),
        groups: parse(include_str!("../data/apis.json")),
        storage_version_hashes: parse(include_str!("../data/storage-version-hashes.json")),
    })
}

fn list(value: &'static Value) -> impl Iterator<Item = &'static Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

/// Every group version with its aggregated entry.
pub(crate) fn group_versions() -> impl Iterator<Item = (&'static str, &'static str, &'static Value)>
{
    let documents = documents();
    list(&documents.core["items"]).chain(list(&documents.groups["items"])).flat_map(|group| {
        let name = text(&group["metadata"]["name"]);
        list(&group["versions"]).map(move |entry| (name, text(&entry["version"]), entry))
    })
}

/// Whether the group's backend is down: the aggregated form then has it without resources, marked `Stale`.
pub(crate) fn is_down(group: &str) -> bool {
    group_versions().any(|(name, _, entry)| name == group && entry["freshness"] == "Stale")
}

pub(crate) fn knows_group(group: &str) -> bool {
    group_versions().any(|(name, _, _)| name == group)
}

/// Answers a path that is not a resource's.
pub(crate) fn answer(path: &str, request: &Request, address: &str, more: &MoreGroups) -> Response {
    let aggregated =
        request.header("accept").is_some_and(|accept| accept.contains("as=APIGroupDiscoveryList"));
    let segments: Vec<&str> =
        path.split('/').skip(1).filter(|segment| !segment.is_empty()).collect();
    match segments.as_slice() {
        ["version"] => status::object(200, &version()),
        ["api"] if aggregated => aggregated_document(&documents().core, request),
        ["apis"] if aggregated => {
            let mut groups = documents().groups.clone();
            if let Some(items) = groups["items"].as_array_mut() {
                items.extend(more.entries());
            }
            aggregated_document(&groups, request)
        }
        ["api"] => status::object(200, &api_versions(address)),
        ["apis"] => {
            let known = list(&documents().groups["items"]).map(api_group);
            let groups: Vec<Value> = known.chain(more.entries().map(|e| api_group(&e))).collect();
            status::object(
                200,
                &json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups}),
            )
        }
        ["apis", group] => match list(&documents().groups["items"])
            .find(|entry| entry["metadata"]["name"] == *group)
            .cloned()
            .or_else(|| more.entry(group))
        {
            None => status::page_not_found(),
            Some(entry) => {
                let mut group = api_group(&entry);
                group["kind"] = "APIGroup".into();
                group["apiVersion"] = "v1".into();
                status::object(200, &group)
            }
        },
        ["api", version] => resource_list("", version),
        ["apis", group, version] => match more.entry(group) {
            Some(entry) if *version == "v1" => {
                status::object(200, &api_resource_list(group, version, &entry["versions"][0]))
            }
            _ => resource_list(group, version),
        },
        _ => status::page_not_found(),
    }
}

fn aggregated_document(document: &Value, request: &Request) -> Response {
    let mut body = json::to_bytes(document);
    body.push(b'\n');
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let etag = format!("\"{:016X}\"", hasher.finish());
    let response = if request.header("if-none-match") == Some(&etag) {
        Response { status: 304, headers: Vec::new(), body: Vec::new() }
    } else {
        Response::new(200, AGGREGATED, body)
    };
    response
        .with_header("ETag", etag)
        .with_header("Vary", "Accept")
        .with_header("Cache-Control", "public")
}

fn resource_list(group: &str, version: &str) -> Response {
    if is_down(group) {
        return status::plain(503, "service unavailable\n");
    }
    if let Some((_, _, entry)) =
        group_versions().find(|(name, number, _)| (*name, *number) == (group, version))
    {
        return status::object(200, &api_resource_list(group, version, entry));
    }
    // A group of custom resources, like an unknown one, has no handler that would know about versions.
    if knows_group(group) && !kinds::is_custom_group(group) {
        status::no_such_resource()
    } else {
        status::page_not_found()
    }
}

fn group_version(group: &str, version: &str) -> String {
    if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") }
}

fn api_resource_list(group: &str, version: &str, entry: &Value) -> Value {
    let group_version = group_version(group, version);
    let mut resources = Vec::new();
    for resource in entry["resources"].as_array().into_iter().flatten() {
        let name = text(&resource["resource"]);
        let namespaced = resource["scope"] == "Namespaced";
        let mut api_resource = api_resource(&group_version, name, namespaced, resource);
        api_resource["singularName"] = resource["singularResource"].clone();
        for optional in ["shortNames", "categories"] {
            if let Some(value) = resource.get(optional) {
                api_resource[optional] = value.clone();
            }
        }
        let hashes = &documents().storage_version_hashes;
        if let Some(hash) = hashes.get(format!("{group_version}/{name}")) {
            api_resource["storageVersionHash"] = hash.clone();
        }
        resources.push(api_resource);
        for subresource in resource["subresources"].as_array().into_iter().flatten() {
            let name = format!("{name}/{}", text(&subresource["subresource"]));
            resources.push(self::api_resource(&group_version, &name, namespaced, subresource));
        }
    }
    let mut list =
        json!({"kind": "APIResourceList", "groupVersion": group_version, "resources": resources});
    if !group.is_empty() {
        // The oldest group's list is the one without it.
        list["apiVersion"] = "v1".into();
    }
    list
}

/// `group` and `version` are said only where they differ from the list's own.
fn api_resource(list: &str, name: &str, namespaced: bool, entry: &Value) -> Value {
    let kind = &entry["responseKind"];
    let mut resource = json!({
        "name": name, "singularName": "", "namespaced": namespaced, "kind": kind["kind"], "verbs": entry["verbs"],
    });
    let (group, version) = (text(&kind["group"]), text(&kind["version"]));
    if !version.is_empty() && group_version(group, version) != list {
        if !group.is_empty() {
            resource["group"] = group.into();
        }
        resource["version"] = version.into();
    }
    resource
}

fn api_group(entry: &Value) -> Value {
    let name = text(&entry["metadata"]["name"]);
    let versions: Vec<Value> = entry["versions"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|entry| {
            let version = text(&entry["version"]);
            json!({"groupVersion": group_version(name, version), "version": version})
        })
        .collect();
    let mut group = Map::new();
    group.insert("name".to_owned(), name.into());
    group.insert("preferredVersion".to_owned(), versions.first().cloned().unwrap_or_default());
    group.insert("versions".to_owned(), versions.into());
    Value::Object(group)
}

fn api_versions(address: &str) -> Value {
    json!({
        "kind": "APIVersions", "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": address}],
    })
}

/// As recorded: a build of the control plane that nobody stamped.
fn version() -> Value {
    json!({
        "major": "1", "minor": "36", "emulationMajor": "1", "emulationMinor": "36",
        "minCompatibilityMajor": "1", "minCompatibilityMinor": "35",
        "gitVersion": "v0.0.0-master+$Format:%H$", "gitCommit": "$Format:%H$", "gitTreeState": "",
        "buildDate": "1970-01-01T00:00:00Z", "goVersion": "go1.26.6", "compiler": "gc", "platform": "linux/amd64",
    })
}
