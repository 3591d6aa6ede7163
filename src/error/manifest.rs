use std::error::Error;
use std::fmt;

use super::one_line;

/// A rendered object that this library will not touch: the Template's author has to act.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ManifestError {
    index: usize,
    resource: String,
    problem: ManifestProblem,
}

impl ManifestError {
    pub(crate) fn new(index: usize, resource: String, problem: ManifestProblem) -> Self {
        Self { index, resource, problem }
    }

    /// The object's position in the rendered list (a `List` counts as one).
    #[must_use]
    pub fn index(&self) -> usize {
        self.index
    }

    /// `Kind/name`, as far as the manifest says.
    #[must_use]
    pub fn resource(&self) -> &str {
        &self.resource
    }

    /// What is wrong with it.
    #[must_use]
    pub fn problem(&self) -> &ManifestProblem {
        &self.problem
    }
}

/// What is wrong with a manifest or a reference.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ManifestProblem {
    /// It is no JSON object.
    NotAnObject,
    /// `metadata` is absent or no JSON object.
    NoMetadata,
    /// A field that has to be a nonempty string is not: `apiVersion`, `kind` or `metadata.name`.
    NotAString {
        /// The field.
        field: &'static str,
    },
    /// `apiVersion` is neither a version nor a group and a version.
    ApiVersion,
    /// `metadata.generateName` is there (even beside a name): the object could not be found again.
    GenerateName,
    /// `metadata.name` is `.` or `..`, holds `/` or `%`, which no API path can, or a control
    /// character, or is longer than 1,024 bytes.
    UnsafeName,
    /// It is meant for another namespace.
    OtherNamespace {
        /// The namespace it names.
        found: String,
        /// The namespace of the operation.
        expected: String,
    },
    /// `metadata.namespace` is neither absent, null nor a string.
    NamespaceNotAString,
    /// A `${reference}` was left in the identity: the Template lacks that parameter.
    Unsubstituted {
        /// The field.
        field: &'static str,
    },
    /// An earlier object has the same identity.
    Duplicate {
        /// That object's position.
        first: usize,
    },
    /// Lists within lists within lists.
    ListTooDeep,
    /// The kind does not live in namespaces.
    ClusterScoped,
    /// The kind cannot do what the operation needs.
    Unsupported {
        /// The verb it lacks.
        verb: &'static str,
    },
    /// A Secret's `stringData` is no map of strings, or `data` beside it is no map.
    SecretShape {
        /// The field.
        field: &'static str,
    },
    /// A value of a Secret's `data` is not base64 as Go reads it.
    SecretNotBase64 {
        /// The key in `data`.
        key: String,
    },
    /// It does not fit the type that it was to be read into.
    Unfit {
        /// The Rust type.
        into: &'static str,
    },
}

impl fmt::Display for ManifestProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnObject => f.write_str("it is no JSON object"),
            Self::NoMetadata => f.write_str("metadata must be an object"),
            Self::NotAString { field } => write!(f, "{field} must be a nonempty string"),
            Self::ApiVersion => f.write_str("apiVersion must be \"version\" or \"group/version\""),
            Self::GenerateName => f.write_str(
                "metadata.generateName is there, so it could not be found again: remove it and \
                 give a name",
            ),
            Self::UnsafeName => f.write_str(
                "metadata.name must not be \".\" or \"..\", hold '/', '%' or a control character, \
                     or be longer than 1024 bytes",
            ),
            Self::OtherNamespace { found, expected } => write!(
                f,
                "it is meant for namespace \"{}\", and this operation for \"{}\"",
                one_line(found),
                one_line(expected)
            ),
            Self::NamespaceNotAString => f.write_str("metadata.namespace must be a string"),
            Self::Unsubstituted { field } => {
                write!(f, "{field} still holds a \"${{\": the Template lacks that parameter")
            }
            Self::Duplicate { first } => write!(f, "object {first} has the same identity"),
            Self::ListTooDeep => f.write_str("lists are nested too deeply"),
            Self::ClusterScoped => f.write_str("the kind is cluster-scoped"),
            Self::Unsupported { verb } => write!(f, "the kind does not support {verb}"),
            Self::SecretShape { field: "data" } => f.write_str("data must be a map of strings"),
            Self::SecretShape { field } => write!(f, "{field} must be a map of strings"),
            Self::SecretNotBase64 { key } => {
                write!(f, "data.{} is not base64", one_line(key))
            }
            Self::Unfit { into } => write!(f, "it does not fit {into}"),
        }
    }
}

impl fmt::Display for ManifestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object {} ({}): {}", self.index, one_line(&self.resource), self.problem)
    }
}

impl Error for ManifestError {}
