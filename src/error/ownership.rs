use std::error::Error;
use std::fmt;

use super::one_line;

/// An object was left alone because it does not provably belong to the field manager asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OwnershipError {
    /// Others applied or created it.
    Foreign {
        /// The field managers that it has.
        managers: Vec<String>,
    },
    /// It says nothing of its field managers, as objects of `authorization.openshift.io` do.
    Unprovable,
    /// It changed each time between looking at it and deleting it.
    KeepsChanging,
}

impl fmt::Display for OwnershipError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Foreign { managers } => {
                f.write_str("left alone, it belongs to ")?;
                for (i, manager) in managers.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, one_line(manager))?;
                }
                Ok(())
            }
            Self::Unprovable => f.write_str("left alone, it does not say whom it belongs to"),
            Self::KeepsChanging => f.write_str("left alone, it keeps changing"),
        }
    }
}

impl Error for OwnershipError {}
