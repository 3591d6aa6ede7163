use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::{Manifest, ResourceRef};

/// What a create would apply, in order: rendered, checked and brought into the form in which it is
/// sent. It can be saved, so that a job's identities are on record before the first mutation, and
/// applied though the Template changed meanwhile.
///
/// Saved, **it holds Secret data**; `Debug` shows identities alone.
///
/// ```no_run
/// # use openshift_templates::{CreateOptions, Namespace, Plan, Template};
/// # fn run(workers: &Namespace, job: &Template) -> Result<(), Box<dyn std::error::Error>> {
/// let plan = workers.plan(job)?;
/// std::fs::write("job.json", serde_json::to_vec(&plan)?)?;
/// workers.apply(&plan, &CreateOptions::new())?;
/// # Ok(()) }
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    namespace: String,
    objects: Vec<Manifest>,
}

impl Plan {
    pub(crate) fn new(namespace: &str, objects: impl Iterator<Item = Map<String, Value>>) -> Self {
        Self { namespace: namespace.to_owned(), objects: objects.map(Manifest::from).collect() }
    }

    /// The namespace that it was made for, and that alone it can be applied in.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The objects, as they will be sent.
    #[must_use]
    pub fn manifests(&self) -> &[Manifest] {
        &self.objects
    }

    /// The objects' identities, with the namespace and without uids: only a live object has one.
    #[must_use]
    pub fn references(&self) -> Vec<ResourceRef> {
        let bare = |object: &Manifest| object.reference().map(ResourceRef::without_uid);
        self.objects.iter().filter_map(bare).collect()
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Plan")
            .field("namespace", &self.namespace)
            .field("objects", &self.objects)
            .finish()
    }
}

/// What applying did to one object.
#[derive(Clone, PartialEq, Eq)]
pub struct Applied {
    pub(crate) reference: ResourceRef,
    pub(crate) change: Change,
    pub(crate) warnings: Vec<String>,
}

impl Applied {
    /// The object, with the uid that the server gave.
    #[must_use]
    pub fn reference(&self) -> &ResourceRef {
        &self.reference
    }

    /// What happened to it.
    #[must_use]
    pub fn change(&self) -> Change {
        self.change
    }

    /// What the server warned of, a deprecated kind for instance. The texts can quote field names.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }
}

/// The server's warnings are had only by asking: they can quote values.
impl fmt::Debug for Applied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Applied")
            .field("reference", &self.reference)
            .field("change", &self.change)
            .field("warnings", &self.warnings.len())
            .finish()
    }
}

/// What applying did to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Change {
    /// It did not exist.
    Created,
    /// It existed; whether it changed was not asked for
    /// ([`CreateOptions::compare`](crate::CreateOptions::compare)).
    Existing,
    /// It existed, and is another now.
    Changed,
    /// It existed, and was as it should be.
    Unchanged,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Created => "created",
            Self::Existing => "existing",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
        })
    }
}
