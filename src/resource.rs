use std::fmt;

use serde::{Deserialize, Serialize};

use crate::Template;

/// The identity of one object: all that is needed to read or delete it later.
///
/// Its serialised form is the original's reference,
/// `{"apiVersion", "kind", "metadata": {"name", "namespace", "uid"}}`: references saved by it load
/// here. Unknown fields are ignored, so a whole manifest loads as the reference to itself.
///
/// ```
/// use openshift_templates::ResourceRef;
///
/// let saved = r#"{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","uid":"u"}}"#;
/// let reference: ResourceRef = serde_json::from_str(saved)?;
/// assert_eq!(reference, ResourceRef::new("v1", "ConfigMap", "a").with_uid("u"));
/// assert_eq!(serde_json::to_string(&reference)?, saved);
/// assert_eq!(reference.to_string(), "ConfigMap/a");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Wire", into = "Wire")]
pub struct ResourceRef {
    api_version: String,
    kind: String,
    name: String,
    namespace: Option<String>,
    uid: Option<String>,
}

impl ResourceRef {
    /// An object by group version, kind and name, in whatever namespace it is looked for in.
    #[must_use]
    pub fn new(
        api_version: impl Into<String>,
        kind: impl Into<String>,
        name: impl Into<String>,
    ) -> Self {
        Self {
            api_version: api_version.into(),
            kind: kind.into(),
            name: name.into(),
            namespace: None,
            uid: None,
        }
    }

    /// The namespace. An operation in another one refuses the reference; an empty one counts as
    /// none.
    #[must_use]
    pub fn with_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// The uid that the server gave. Deleting takes it as a precondition, so that another object
    /// of the same name is left alone; reading ignores it. An empty one counts as none.
    #[must_use]
    pub fn with_uid(mut self, uid: impl Into<String>) -> Self {
        self.uid = Some(uid.into());
        self
    }

    /// The group version, `v1` or `apps/v1`.
    #[must_use]
    pub fn api_version(&self) -> &str {
        &self.api_version
    }

    /// The kind.
    #[must_use]
    pub fn kind(&self) -> &str {
        &self.kind
    }

    /// The name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace, if the reference says.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// The uid, if the reference says.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }

    pub(crate) fn without_uid(mut self) -> Self {
        self.uid = None;
        self
    }

    /// The group, without the version: empty for the core group.
    pub(crate) fn group(&self) -> &str {
        self.api_version.split_once('/').map_or("", |(group, _)| group)
    }
}

impl fmt::Display for ResourceRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::error::one_line(&format!("{}/{}", self.kind, self.name)))
    }
}

/// The shape of a manifest, of which a reference is a part.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Wire {
    api_version: String,
    kind: String,
    metadata: WireMetadata,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct WireMetadata {
    name: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    namespace: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    uid: Option<String>,
    /// Only its presence counts, null or not.
    #[serde(default, skip_serializing, deserialize_with = "present")]
    generate_name: bool,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    serde::de::IgnoredAny::deserialize(deserializer).map(|_| true)
}

impl TryFrom<Wire> for ResourceRef {
    type Error = &'static str;

    fn try_from(Wire { api_version, kind, metadata }: Wire) -> Result<Self, Self::Error> {
        if metadata.generate_name {
            return Err("metadata.generateName has no place in a reference");
        }
        let WireMetadata { name, namespace, uid, .. } = metadata;
        Ok(Self { api_version, kind, name, namespace, uid })
    }
}

impl From<ResourceRef> for Wire {
    fn from(reference: ResourceRef) -> Self {
        let ResourceRef { api_version, kind, name, namespace, uid } = reference;
        let metadata = WireMetadata { name, namespace, uid, generate_name: false };
        Self { api_version, kind, metadata }
    }
}

/// What to read or delete: the objects that a Template renders, or those that references name.
/// Never both; made from either.
///
/// ```no_run
/// # use openshift_templates::{Namespace, ResourceRef, Template};
/// # fn run(workers: &Namespace, job: &Template, saved: Vec<ResourceRef>) -> openshift_templates::Result<()> {
/// workers.get(job)?;
/// workers.get(&saved)?;
/// workers.delete(&saved[..1])?;
/// workers.delete(&[ResourceRef::new("v1", "ConfigMap", "a")])?;
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Selection<'a> {
    /// The objects that the Template renders now, with these parameters.
    Template(&'a Template),
    /// These objects.
    References(&'a [ResourceRef]),
}

impl<'a> From<&'a Template> for Selection<'a> {
    fn from(template: &'a Template) -> Self {
        Self::Template(template)
    }
}

impl<'a> From<&'a [ResourceRef]> for Selection<'a> {
    fn from(references: &'a [ResourceRef]) -> Self {
        Self::References(references)
    }
}

impl<'a> From<&'a Vec<ResourceRef>> for Selection<'a> {
    fn from(references: &'a Vec<ResourceRef>) -> Self {
        Self::References(references)
    }
}

impl<'a, const N: usize> From<&'a [ResourceRef; N]> for Selection<'a> {
    fn from(references: &'a [ResourceRef; N]) -> Self {
        Self::References(references)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_manifest_loads_as_the_reference_to_itself() {
        let manifest = r#"{"apiVersion":"v1","kind":"Secret","data":{"a":"Yg=="},
            "metadata":{"name":"s","namespace":null,"labels":{},"uid":"u"}}"#;
        let reference: ResourceRef = serde_json::from_str(manifest).unwrap();
        assert_eq!(reference, ResourceRef::new("v1", "Secret", "s").with_uid("u"));
    }

    #[test]
    fn generate_name_is_refused_even_as_null() {
        for value in ["null", "\"\"", "\"x-\""] {
            let text = format!(
                r#"{{"apiVersion":"v1","kind":"Secret","metadata":{{"name":"s","generateName":{value}}}}}"#
            );
            assert!(serde_json::from_str::<ResourceRef>(&text).is_err(), "{value}");
        }
    }
}
