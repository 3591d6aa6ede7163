use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{ManifestProblem, one_line};

/// An argument that was refused before any request, or because of what the stored Template says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum InvalidInput {
    /// A namespace is not a DNS label of at most 63 characters.
    Namespace {
        /// Which one: `namespace` or `template namespace`.
        argument: &'static str,
        /// What the value looks like.
        shape: Shape,
    },
    /// A Template's name is not a DNS subdomain of at most 253 characters.
    TemplateName {
        /// What the value looks like.
        shape: Shape,
    },
    /// A namespace is given for a Template that the caller has, and that is stored nowhere.
    NotStored,
    /// A manifest or file is no Template.
    NotATemplate {
        /// The field that shows it: `kind`, `apiVersion`, `parameters` or the whole document.
        field: &'static str,
    },
    /// A file cannot be read.
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        kind: io::ErrorKind,
    },
    /// A file is not of the format that it should have.
    FileFormat {
        /// The file.
        path: PathBuf,
        /// The line, counted from one, when it is known.
        line: Option<usize>,
        /// What it should be.
        expected: &'static str,
    },
    /// A parameter has no name.
    EmptyParameterName,
    /// A parameter's value is NaN or infinite.
    NonFiniteParameter,
    /// The stored Template has no such parameters.
    UnknownParameters {
        /// The names that the Template lacks, sorted.
        unknown: Vec<String>,
        /// The names that it has, sorted.
        known: Vec<String>,
    },
    /// Parameters that the server would generate, so that no replay could find the same objects.
    UnresolvedGenerators {
        /// Their names, in the Template's order.
        parameters: Vec<String>,
    },
    /// A field manager is blank, holds a control character, or is longer than 128 bytes.
    FieldManager {
        /// What the value looks like.
        shape: Shape,
    },
    /// A timeout is zero or absurd (more than a year).
    Timeout {
        /// Which one: `connect` or `read`.
        argument: &'static str,
    },
    /// An object that was read earlier says no `metadata.resourceVersion` to compare with.
    NoResourceVersion {
        /// `Kind/name`.
        resource: String,
    },
    /// A plan was made for another namespace.
    PlanNamespace {
        /// The plan's namespace.
        found: String,
        /// The operation's.
        expected: String,
    },
    /// A reference cannot be acted on.
    Reference {
        /// Its position in the list.
        index: usize,
        /// `Kind/name`.
        resource: String,
        /// What is wrong with it.
        problem: Box<ManifestProblem>,
    },
}

/// What a refused value looks like, without showing it: it may be a secret in the wrong place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shape {
    characters: usize,
    offending: Option<(usize, char)>,
}

impl Shape {
    pub(crate) fn of(value: &str, allowed: impl Fn(char) -> bool) -> Self {
        Self {
            characters: value.chars().count(),
            offending: value.chars().enumerate().find(|(_, c)| !allowed(*c)),
        }
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.characters, self.offending) {
            (0, _) => f.write_str("it is empty"),
            (n, None) => write!(f, "it has {n} characters"),
            (n, Some((i, c))) => write!(f, "it has {n} characters, the one at {i} is {c:?}"),
        }
    }
}

impl fmt::Display for InvalidInput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Namespace { argument, shape } => write!(
                f,
                "the {argument} must be a DNS label (lower-case letters, digits, '-', at most 63 \
                 characters): {shape}"
            ),
            Self::TemplateName { shape } => write!(
                f,
                "the Template's name must be a DNS subdomain (lower-case letters, digits, '-', \
                 '.', at most 253 characters): {shape}"
            ),
            Self::NotStored => f.write_str(
                "a Template that is not stored has no namespace: leave out the template namespace",
            ),
            Self::NotATemplate { field } => {
                write!(f, "it is no Template of template.openshift.io/v1: see its {field}")
            }
            Self::File { path, kind } => write!(f, "cannot read {}: {kind}", path.display()),
            Self::FileFormat { path, line, expected } => {
                write!(f, "{} is no {expected}", path.display())?;
                line.map_or(Ok(()), |line| write!(f, " (line {line})"))
            }
            Self::EmptyParameterName => f.write_str("a parameter's name is empty"),
            Self::NonFiniteParameter => {
                f.write_str("a parameter's value must be finite, it is NaN or infinite")
            }
            Self::UnknownParameters { unknown, known } => {
                write!(
                    f,
                    "the Template has no parameter {}; it has {}",
                    names(unknown),
                    if known.is_empty() { "none".into() } else { names(known) }
                )?;
                for name in unknown {
                    if let Some(nearest) = nearest(name, known) {
                        write!(f, " ({} for {}?)", one_line(nearest), one_line(name))?;
                    }
                }
                Ok(())
            }
            Self::UnresolvedGenerators { parameters } => write!(
                f,
                "the server would generate {}: give each a value, so that the same inputs lead to \
                 the same objects again",
                names(parameters)
            ),
            Self::FieldManager { shape } => write!(
                f,
                "the field manager must be a nonblank, printable string of at most 128 bytes: {shape}"
            ),
            Self::Timeout { argument } => {
                write!(f, "the {argument} timeout must be more than zero and less than a year")
            }
            Self::NoResourceVersion { resource } => {
                write!(
                    f,
                    "{resource} has no metadata.resourceVersion, so it was not read from a cluster"
                )
            }
            Self::PlanNamespace { found, expected } => write!(
                f,
                "the plan is for namespace \"{}\", and this operation for \"{}\"",
                one_line(found),
                one_line(expected)
            ),
            Self::Reference { index, resource, problem } => {
                write!(f, "reference {index} ({}): {problem}", one_line(resource))
            }
        }
    }
}

fn names(names: &[String]) -> String {
    names.iter().map(|name| one_line(name)).collect::<Vec<_>>().join(", ")
}

/// The known name that is most likely meant: but for case, or at most a third of its letters away.
fn nearest<'a>(name: &str, known: &'a [String]) -> Option<&'a str> {
    let lower = name.to_lowercase();
    known
        .iter()
        .map(|candidate| (edits(&lower, &candidate.to_lowercase()), candidate.as_str()))
        .min()
        .filter(|(edits, candidate)| *edits <= candidate.chars().count() / 3)
        .map(|(_, candidate)| candidate)
}

/// Letters to insert, delete or exchange to get from one word to the other.
fn edits(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        for (cell, b) in row.iter_mut().skip(1).zip(&to) {
            let above = *cell;
            *cell = (diagonal + usize::from(a != *b)).min(above + 1).min(left + 1);
            diagonal = above;
            left = *cell;
        }
        if let Some(first) = row.first_mut() {
            *first = i + 1;
        }
    }
    row.last().copied().unwrap_or_default()
}

impl Error for InvalidInput {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_suggested() {
        let known = ["VM_NAME", "IMAGE_TAG", "N"].map(str::to_owned);
        for (name, expected) in [
            ("vm_name", Some("VM_NAME")),
            ("VMNAME", Some("VM_NAME")),
            ("IMAGETAGS", Some("IMAGE_TAG")),
            ("M", None),
            ("n", Some("N")),
            ("PASSWORD", None),
            ("", None),
        ] {
            assert_eq!(nearest(name, &known), expected, "{name}");
        }
        assert_eq!(edits("kitten", "sitting"), 3);
        assert_eq!(edits("", "abc"), 3);
        assert_eq!(edits("abc", ""), 3);
    }
}
