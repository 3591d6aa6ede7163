use std::collections::BTreeMap;
use std::fmt;
use std::path::Path;

use serde_json::{Map, Value};

use crate::names::{is_dns_label, is_dns_subdomain};
use crate::{InvalidInput, Manifest, Result, Shape};

mod inline;
mod overrides;
mod parameter;
mod parameter_file;
mod value;

pub use parameter::Parameter;
pub(crate) use parameter::parameters;
pub use value::ParameterValue;

pub(crate) const API_VERSION: &str = "template.openshift.io/v1";

/// A Template, and the parameters that one rendering overrides.
///
/// The same Template with the same parameters is all that it takes to find the same objects again:
/// keep what it was made of, not what came of it.
///
/// ```
/// use openshift_templates::Template;
///
/// let job = Template::new("worker-template")
///     .in_namespace("infra")
///     .parameter("VM_NAME", "worker-001")
///     .parameter("CORES", 4)
///     .parameter("DEBUG", true);
/// assert!(!format!("{job:?}").contains("worker-001"), "values are not shown");
/// ```
#[derive(Clone, PartialEq)]
pub struct Template {
    source: Source,
    namespace: Option<String>,
    parameters: BTreeMap<String, ParameterValue>,
    /// From files: what is given one by one wins over them.
    file_parameters: BTreeMap<String, ParameterValue>,
    labels: BTreeMap<String, String>,
    ignore_unknown: bool,
}

/// Where the Template comes from.
#[derive(Clone, PartialEq)]
pub(crate) enum Source {
    /// It is stored in the cluster, under this name.
    Stored(String),
    /// The caller has it.
    Inline(Map<String, Value>),
}

impl Template {
    /// The stored Template of this name, in the namespace of the operation, with its own defaults.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self::from_source(Source::Stored(name.into()))
    }

    /// A Template that the caller has: it need not be stored. The server renders it all the same.
    ///
    /// The old `apiVersion: v1` is taken for `template.openshift.io/v1`, and numbers and booleans
    /// as default values of parameters for their text, as `oc process -f` does.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::NotATemplate`] for anything but a Template.
    ///
    /// ```
    /// use openshift_templates::{Manifest, Template};
    ///
    /// let manifest: Manifest = serde_json::from_str(
    ///     r#"{"apiVersion": "v1", "kind": "Template", "parameters": [{"name": "N", "value": 3}],
    ///         "objects": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "c-${N}"}}]}"#,
    /// )?;
    /// let job = Template::inline(manifest)?.parameter("N", 4);
    /// # let _ = job;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn inline(manifest: Manifest) -> Result<Self> {
        Ok(Self::from_source(Source::Inline(inline::template(manifest.into_map())?)))
    }

    /// A Template in a file, in YAML or JSON: the first document, merge keys applied, the last of
    /// two equal keys winning.
    ///
    /// Plain scalars are read as YAML 1.2 has them. `oc` reads YAML 1.1, where `yes`, `no`, `on`,
    /// `off` are booleans too and `012` is ten: quote them where it matters.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::File`] when it cannot be read, [`InvalidInput::FileFormat`] when it is
    /// neither YAML nor JSON, and as [`inline`](Self::inline).
    ///
    /// ```no_run
    /// use openshift_templates::Template;
    ///
    /// let job = Template::from_file("worker-template.yaml")?.parameter("VM_NAME", "worker-001");
    /// # let _ = job;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn from_file(path: impl AsRef<Path>) -> Result<Self> {
        Ok(Self::from_source(Source::Inline(inline::template(inline::read(path.as_ref())?)?)))
    }

    fn from_source(source: Source) -> Self {
        Self {
            source,
            namespace: None,
            parameters: BTreeMap::new(),
            file_parameters: BTreeMap::new(),
            labels: BTreeMap::new(),
            ignore_unknown: false,
        }
    }

    /// Where the Template is stored. Defaults to the namespace of the operation. A Template that
    /// the caller has is stored nowhere: operations refuse it then.
    #[must_use]
    pub fn in_namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = Some(namespace.into());
        self
    }

    /// Overrides one parameter; the last value given for a name counts. An empty string is a
    /// value. The stored Template is not changed.
    ///
    /// Pass what is text as text: an image tag `0012` or `1e5` given as a number would arrive as
    /// `12` or `100000.0`.
    #[must_use]
    pub fn parameter(mut self, name: impl Into<String>, value: impl Into<ParameterValue>) -> Self {
        self.parameters.insert(name.into(), value.into());
        self
    }

    /// Overrides several parameters.
    ///
    /// ```
    /// use openshift_templates::Template;
    ///
    /// let job = Template::new("worker-template").parameters([("VM_NAME", "a"), ("TOKEN", "b")]);
    /// # let _ = job;
    /// ```
    #[must_use]
    pub fn parameters<N, V>(mut self, parameters: impl IntoIterator<Item = (N, V)>) -> Self
    where
        N: Into<String>,
        V: Into<ParameterValue>,
    {
        self.parameters.extend(parameters.into_iter().map(|(n, v)| (n.into(), v.into())));
        self
    }

    /// Overrides the parameters that a file lists, in the dialect of `oc process --param-file`:
    /// `NAME=VALUE` or `NAME: VALUE`, a line each, `export` before it or not; `#` begins a comment
    /// outside quotes; within single or double quotes `\n`, `\r` and `\"` are escapes; nothing is
    /// expanded.
    ///
    /// What [`parameter`](Self::parameter) and [`parameters`](Self::parameters) say wins over a
    /// file, and an earlier file over a later one.
    ///
    /// # Errors
    ///
    /// [`InvalidInput::File`] when it cannot be read, [`InvalidInput::FileFormat`] with the line
    /// that is none of this.
    ///
    /// ```no_run
    /// use openshift_templates::Template;
    ///
    /// let job = Template::new("worker-template").parameters_from_file("worker.env")?;
    /// # let _ = job;
    /// # Ok::<(), openshift_templates::Error>(())
    /// ```
    pub fn parameters_from_file(mut self, path: impl AsRef<Path>) -> Result<Self> {
        for (name, value) in parameter_file::read(path.as_ref())? {
            self.file_parameters.entry(name).or_insert(value);
        }
        Ok(self)
    }

    /// Whether a parameter that the Template does not have is left out instead of being an error,
    /// so that one set of parameters can serve many Templates. Defaults to `false`.
    #[must_use]
    pub fn ignore_unknown_parameters(mut self, ignore: bool) -> Self {
        self.ignore_unknown = ignore;
        self
    }

    /// A label for every rendered object, as `oc process -l` sets it; it wins over a label of this
    /// name in the Template's own `labels`. The server puts it into each object's metadata, not
    /// into pod templates or selectors.
    ///
    /// ```
    /// use openshift_templates::Template;
    ///
    /// let job = Template::new("worker-template").label("example.com/job", "worker-001");
    /// # let _ = job;
    /// ```
    #[must_use]
    pub fn label(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.labels.insert(key.into(), value.into());
        self
    }

    /// The Template's name; empty for one that the caller has and that names itself nowhere.
    #[must_use]
    pub fn name(&self) -> &str {
        match &self.source {
            Source::Stored(name) => name,
            Source::Inline(template) => inline::name(template).unwrap_or_default(),
        }
    }

    /// The namespace given with [`in_namespace`](Self::in_namespace).
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    pub(crate) fn source(&self) -> &Source {
        &self.source
    }

    /// Everything about the inputs that can be refused without asking the cluster.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.source {
            Source::Stored(name) if !is_dns_subdomain(name) => {
                let shape = Shape::of(name, |c| {
                    c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)
                });
                return Err(InvalidInput::TemplateName { shape }.into());
            }
            Source::Inline(_) if self.namespace.is_some() => {
                return Err(InvalidInput::NotStored.into());
            }
            _ => {}
        }
        if let Some(namespace) = &self.namespace {
            check_namespace("template namespace", namespace)?;
        }
        if self.parameters.contains_key("") {
            return Err(InvalidInput::EmptyParameterName.into());
        }
        Ok(())
    }
}

pub(crate) fn check_namespace(argument: &'static str, namespace: &str) -> Result<()> {
    if is_dns_label(namespace) {
        return Ok(());
    }
    let shape = Shape::of(namespace, |c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    Err(InvalidInput::Namespace { argument, shape }.into())
}

impl fmt::Debug for Template {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Template")
            .field("name", &self.name())
            .field("namespace", &self.namespace())
            .field("inline", &matches!(self.source, Source::Inline(_)))
            .field("parameters", &self.parameters.keys())
            .field("file_parameters", &self.file_parameters.keys())
            .field("labels", &self.labels.keys())
            .field("ignore_unknown", &self.ignore_unknown)
            .finish()
    }
}
