use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::error::{ManifestError, ManifestProblem, one_line};
use crate::{ResourceRef, Result};

/// One object, rendered or live, exactly as the server sent it: explicit nulls, unknown fields and
/// 64-bit integers survive.
///
/// It can hold Secret data, so `Debug` shows its identity alone.
///
/// ```
/// use openshift_templates::Manifest;
///
/// let manifest: Manifest = serde_json::from_str(
///     r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": null}"#,
/// )?;
/// assert_eq!(manifest.kind(), Some("ConfigMap"));
/// assert!(manifest.as_map()["data"].is_null());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Manifest(Map<String, Value>);

impl Manifest {
    /// `apiVersion`, when it is a string.
    #[must_use]
    pub fn api_version(&self) -> Option<&str> {
        self.0.get("apiVersion")?.as_str()
    }

    /// `kind`, when it is a string.
    #[must_use]
    pub fn kind(&self) -> Option<&str> {
        self.0.get("kind")?.as_str()
    }

    /// `metadata.name`, when it is a string.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.metadata("name")
    }

    /// `metadata.namespace`, when it is a string.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.metadata("namespace")
    }

    /// `metadata.uid`, when it is a string: of a live object the server's, of a rendered one
    /// whatever its author left there.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.metadata("uid")
    }

    /// `metadata.resourceVersion`, when it is a string: it differs whenever the object does.
    #[must_use]
    pub fn resource_version(&self) -> Option<&str> {
        self.metadata("resourceVersion")
    }

    /// The field managers that applied or created the object, as its `metadata.managedFields` say.
    /// `None` when it says nothing.
    pub(crate) fn managers(&self) -> Option<Vec<&str>> {
        let entries = self.0.get("metadata")?.get("managedFields")?.as_array()?;
        let of_the_object = |entry: &&Value| {
            let text = |field| entry.get(field).and_then(Value::as_str).unwrap_or_default();
            matches!(text("operation"), "Apply" | "Update") && text("subresource").is_empty()
        };
        Some(
            entries
                .iter()
                .filter(of_the_object)
                .filter_map(|entry| entry.get("manager")?.as_str())
                .collect(),
        )
    }

    fn metadata(&self, field: &str) -> Option<&str> {
        self.0.get("metadata")?.get(field)?.as_str()
    }

    /// `status`, as the kind defines it. Many kinds have none.
    ///
    /// ```no_run
    /// # fn run(live: &openshift_templates::Manifest) {
    /// let ready = live.status().and_then(|status| status.get("ready"));
    /// # let _ = ready;
    /// # }
    /// ```
    #[must_use]
    pub fn status(&self) -> Option<&Value> {
        self.0.get("status")
    }

    /// The identity, with the namespace and uid that are there. `None` when `apiVersion`, `kind`
    /// or `metadata.name` is missing.
    ///
    /// ```
    /// use openshift_templates::Manifest;
    ///
    /// let live: Manifest = serde_json::from_str(
    ///     r#"{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "uid": "u"}}"#,
    /// )?;
    /// let reference = live.reference().expect("it has an identity");
    /// assert_eq!(reference.uid(), Some("u"));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[must_use]
    pub fn reference(&self) -> Option<ResourceRef> {
        let mut reference = ResourceRef::new(self.api_version()?, self.kind()?, self.name()?);
        if let Some(namespace) = self.namespace() {
            reference = reference.with_namespace(namespace);
        }
        if let Some(uid) = self.uid() {
            reference = reference.with_uid(uid);
        }
        Some(reference)
    }

    /// Reads the object into a type of the caller's, one of k8s-openapi's for instance.
    ///
    /// # Errors
    ///
    /// [`ManifestProblem::Unfit`] with the type's name. The deserialiser's own text could quote
    /// values, and is left out.
    ///
    /// ```
    /// use openshift_templates::Manifest;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct ConfigMap { data: std::collections::BTreeMap<String, String> }
    ///
    /// # let live: Manifest = serde_json::from_str(r#"{"data": {"a": "1"}}"#).unwrap();
    /// let config_map: ConfigMap = live.deserialize()?;
    /// assert_eq!(config_map.data["a"], "1");
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn deserialize<T: DeserializeOwned>(&self) -> Result<T> {
        T::deserialize(Value::Object(self.0.clone())).map_err(|_| {
            let problem = ManifestProblem::Unfit { into: std::any::type_name::<T>() };
            ManifestError::new(0, identity(&self.0), problem).into()
        })
    }

    /// The fields.
    #[must_use]
    pub fn as_map(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The fields, owned.
    #[must_use]
    pub fn into_map(self) -> Map<String, Value> {
        self.0
    }
}

impl From<Map<String, Value>> for Manifest {
    fn from(map: Map<String, Value>) -> Self {
        Self(map)
    }
}

impl fmt::Debug for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Manifest({})", one_line(&identity(&self.0)))
    }
}

/// `Kind/name`, as far as an object says.
pub(crate) fn identity(object: &Map<String, Value>) -> String {
    let text = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("?").to_owned();
    let name = object.get("metadata").and_then(|metadata| metadata.get("name"));
    format!("{}/{}", text(object.get("kind")), text(name))
}

/// Takes out what only the server may set. A Template can hold exported objects, and an old uid
/// or resourceVersion in an apply would be a precondition.
pub(crate) fn strip_server_owned(object: &mut Map<String, Value>) {
    object.remove("status");
    if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
        for field in [
            "uid",
            "resourceVersion",
            "managedFields",
            "creationTimestamp",
            "generation",
            "deletionTimestamp",
            "deletionGracePeriodSeconds",
        ] {
            metadata.remove(field);
        }
    }
}
