use std::error::Error;
use std::fmt;

use super::one_line;

/// The cluster does not serve what a manifest or a reference names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DiscoveryError {
    /// Neither now nor, most likely, ever without an administrator: the API is not installed, or
    /// no longer served in this version.
    NotServed {
        /// The group version, as the manifest writes it.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// Several resources of the group version have the kind, and nothing tells them apart.
    Ambiguous {
        /// The group version, as the manifest writes it.
        api_version: String,
        /// The kind.
        kind: String,
    },
    /// The discovery document is not one, or is about another group version, or names the
    /// resource in a way that could not stand in a path.
    Malformed {
        /// The group version asked for.
        api_version: String,
    },
}

impl fmt::Display for DiscoveryError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotServed { api_version, kind } => write!(
                f,
                "the cluster does not serve kind {} in {}",
                one_line(kind),
                one_line(api_version)
            ),
            Self::Ambiguous { api_version, kind } => write!(
                f,
                "the cluster serves several resources of kind {} in {}",
                one_line(kind),
                one_line(api_version)
            ),
            Self::Malformed { api_version } => {
                write!(f, "the discovery document of {} is malformed", one_line(api_version))
            }
        }
    }
}

impl Error for DiscoveryError {}
