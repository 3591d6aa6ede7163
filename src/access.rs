use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use crate::Manifest;

/// The rights that the operations on one Template need, and nothing beyond them: what a Role has
/// to allow, namespace by namespace.
///
/// ```no_run
/// # use openshift_templates::{Namespace, Template};
/// # fn run(workers: &Namespace, job: &Template) -> openshift_templates::Result<()> {
/// let access = workers.access(job)?;
/// println!("{}", access.to_yaml());
/// for missing in workers.check_access(&access)? {
///     println!("missing: {missing}");
/// }
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    rules: Vec<AccessRule>,
}

/// What has to be allowed on one resource in one namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessRule {
    pub(crate) namespace: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) names: Vec<String>,
    pub(crate) verbs: Vec<&'static str>,
}

impl Access {
    pub(crate) fn new(rules: Vec<AccessRule>) -> Self {
        let mut merged: Vec<AccessRule> = Vec::new();
        for rule in rules {
            if !merged.contains(&rule) {
                merged.push(rule);
            }
        }
        Self { rules: merged }
    }

    /// The rules, each resource once.
    #[must_use]
    pub fn rules(&self) -> &[AccessRule] {
        &self.rules
    }

    /// The rules as Roles, one a namespace. Bind each to the user or the service account.
    ///
    /// ```no_run
    /// # fn run(access: &openshift_templates::Access) {
    /// for role in access.roles("mini-scheduler") {
    ///     println!("{:?} in {:?}", role, role.namespace());
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn roles(&self, name: &str) -> Vec<Manifest> {
        let mut namespaces: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for rule in &self.rules {
            let mut policy = json!({
                "apiGroups": [rule.group], "resources": [rule.resource], "verbs": rule.verbs,
            });
            if let (false, Some(policy)) = (rule.names.is_empty(), policy.as_object_mut()) {
                policy.insert("resourceNames".to_owned(), json!(rule.names));
            }
            namespaces.entry(&rule.namespace).or_default().push(policy);
        }
        namespaces
            .into_iter()
            .filter_map(|(namespace, rules)| {
                let role = json!({
                    "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role",
                    "metadata": {"name": name, "namespace": namespace}, "rules": rules,
                });
                serde_json::from_value(role).ok()
            })
            .collect()
    }

    /// The Roles as YAML documents, to be reviewed and applied by whoever owns the namespaces. They
    /// are named `openshift-templates`.
    #[must_use]
    pub fn to_yaml(&self) -> String {
        let documents = self.roles("openshift-templates");
        let texts: Vec<_> =
            documents.iter().filter_map(|role| serde_yaml::to_string(role).ok()).collect();
        texts.join("---\n")
    }
}

impl AccessRule {
    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The resource, in the plural.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The names that it can be restricted to; empty when it cannot.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The verbs.
    #[must_use]
    pub fn verbs(&self) -> &[&'static str] {
        &self.verbs
    }
}

/// A right that the server says is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingAccess {
    pub(crate) namespace: String,
    pub(crate) group: String,
    pub(crate) resource: String,
    pub(crate) verb: &'static str,
}

impl MissingAccess {
    /// The namespace.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The API group; empty for the core group.
    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    /// The resource, in the plural.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// The verb.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        self.verb
    }
}

impl fmt::Display for MissingAccess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let dot = if self.group.is_empty() { "" } else { "." };
        write!(
            f,
            "{} {}{dot}{} in namespace \"{}\"",
            self.verb, self.resource, self.group, self.namespace
        )
    }
}
