//! The kinds that the cluster knows: those of its discovery documents, and what else tells them apart.

use std::sync::OnceLock;

use serde_json::Value;

use crate::discovery;

/// One resource of one group version.
// The field is what the API calls it.
#[allow(clippy::struct_field_names)]
#[derive(Debug)]
pub(crate) struct Kind {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) resource: String,
    pub(crate) kind: String,
    pub(crate) namespaced: bool,
    pub(crate) verbs: Vec<String>,
    pub(crate) has_status: bool,
}

impl Kind {
    pub(crate) fn api_version(&self) -> String {
        if self.group.is_empty() {
            self.version.clone()
        } else {
            format!("{}/{}", self.group, self.version)
        }
    }

    pub(crate) fn allows(&self, verb: &str) -> bool {
        self.verbs.iter().any(|allowed| allowed == verb)
    }

    /// Go's text of a group version kind: `/v1, Kind=ConfigMap`.
    pub(crate) fn gvk_text(&self) -> String {
        format!("{}/{}, Kind={}", self.group, self.version, self.kind)
    }

    /// Roles and bindings of this group are stored as those of `rbac.authorization.k8s.io`: apply does not create them.
    pub(crate) fn is_proxied(&self) -> bool {
        self.group == "authorization.openshift.io" && self.resource != "rolebindingrestrictions"
    }

    pub(crate) fn is_custom(&self) -> bool {
        is_custom_group(&self.group)
    }

    /// Whether `metadata.generation` counts the changes of the spec; the recordings show it for these, not for the
    /// core group's.
    pub(crate) fn counts_generations(&self) -> bool {
        !self.group.is_empty() && (self.has_status || self.is_custom())
    }
}

/// Groups made of custom resource definitions.
pub(crate) fn is_custom_group(group: &str) -> bool {
    ["kubevirt.io", "example.com"].contains(&group)
}

/// Groups served by openshift-apiserver, behind the aggregator.
pub(crate) fn is_aggregated_group(group: &str) -> bool {
    ["apps", "authorization", "build", "image", "project", "route", "template"]
        .iter()
        .any(|name| group.strip_suffix(".openshift.io") == Some(*name))
}

pub(crate) fn all() -> &'static [Kind] {
    static KINDS: OnceLock<Vec<Kind>> = OnceLock::new();
    KINDS.get_or_init(|| discovery::group_versions().flat_map(kinds_of).collect())
}

fn kinds_of((group, version, entry): (&str, &str, &Value)) -> Vec<Kind> {
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let resources = entry["resources"].as_array().into_iter().flatten();
    resources
        .map(|resource| Kind {
            group: group.to_owned(),
            version: version.to_owned(),
            resource: text(&resource["resource"]),
            kind: text(&resource["responseKind"]["kind"]),
            namespaced: resource["scope"] == "Namespaced",
            verbs: resource["verbs"].as_array().into_iter().flatten().map(text).collect(),
            has_status: resource["subresources"]
                .as_array()
                .is_some_and(|list| list.iter().any(|entry| entry["subresource"] == "status")),
        })
        .collect()
}

pub(crate) fn lookup(group: &str, version: &str, resource: &str) -> Option<&'static Kind> {
    all()
        .iter()
        .find(|kind| kind.group == group && kind.version == version && kind.resource == resource)
}

/// The stored resource of a kind: `processedtemplates` too says that its kind is Template.
pub(crate) fn by_kind(api_version: &str, kind: &str) -> Option<&'static Kind> {
    all().iter().find(|entry| {
        entry.kind == kind && entry.api_version() == api_version && entry.allows("get")
    })
}
