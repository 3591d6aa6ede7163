use std::fmt;

use serde_json::Value;

use crate::{Manifest, ResourceRef};

/// How one object is doing, as far as its kind keeps to a convention.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectStatus {
    pub(crate) reference: ResourceRef,
    pub(crate) state: State,
}

impl ObjectStatus {
    pub(crate) fn of(reference: ResourceRef, live: Option<&Manifest>) -> Self {
        Self { reference, state: live.map_or(State::Absent, state) }
    }

    /// The object, with its uid when it exists.
    #[must_use]
    pub fn reference(&self) -> &ResourceRef {
        &self.reference
    }

    /// How it is doing.
    #[must_use]
    pub fn state(&self) -> &State {
        &self.state
    }
}

/// How an object is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum State {
    /// It does not exist.
    Absent,
    /// It exists. Its kind says no more, or not by a convention that is known here.
    Present,
    /// It is ready: one of the conditions `Ready`, `Available` or `Complete` is true, or a
    /// `VirtualMachine` is `Running`.
    Ready,
    /// It is not ready (yet): the condition is false or unknown.
    NotReady {
        /// The condition, or `printableStatus`, that says so.
        condition: String,
        /// Its reason, a word, if it has one.
        reason: Option<String>,
    },
    /// It has failed: the condition `Failed` is true.
    Failed {
        /// Its reason, a word, if it has one.
        reason: Option<String>,
    },
    /// It is being deleted, and waits for its finalizers.
    Deleting,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let because = |f: &mut fmt::Formatter<'_>, reason: &Option<String>| match reason {
            Some(reason) => write!(f, " ({})", crate::error::one_line(reason)),
            None => Ok(()),
        };
        match self {
            Self::Absent => f.write_str("absent"),
            Self::Present => f.write_str("present"),
            Self::Ready => f.write_str("ready"),
            Self::NotReady { condition, reason } => {
                write!(f, "not ready: {}", crate::error::one_line(condition))?;
                because(f, reason)
            }
            Self::Failed { reason } => {
                f.write_str("failed")?;
                because(f, reason)
            }
            Self::Deleting => f.write_str("deleting"),
        }
    }
}

/// Conditions that say of a whole object that it is well, in the order in which they count.
const GOOD: [&str; 3] = ["Ready", "Available", "Complete"];

fn state(live: &Manifest) -> State {
    let deleted = live.as_map().get("metadata").and_then(|m| m.get("deletionTimestamp"));
    if deleted.is_some_and(|time| !time.is_null()) {
        return State::Deleting;
    }
    if let Some((status, reason)) = condition(live, "Failed")
        && status == "True"
    {
        return State::Failed { reason };
    }
    // A VirtualMachine that is meant to be stopped is not "not ready".
    let printable = live.status().and_then(|s| s.get("printableStatus")).and_then(Value::as_str);
    for name in GOOD {
        if let Some((status, reason)) = condition(live, name) {
            return match status.as_str() {
                "True" => State::Ready,
                _ => State::NotReady {
                    condition: name.to_owned(),
                    reason: reason.or(printable.map(str::to_owned)),
                },
            };
        }
    }
    match printable {
        Some("Running") => State::Ready,
        Some(printable) => State::NotReady { condition: printable.to_owned(), reason: None },
        None => State::Present,
    }
}

/// A condition's status and reason.
pub(crate) fn condition(live: &Manifest, name: &str) -> Option<(String, Option<String>)> {
    let conditions = live.status()?.get("conditions")?.as_array()?;
    let text = |condition: &Value, field| condition.get(field)?.as_str().map(str::to_owned);
    let found = conditions.iter().find(|c| text(c, "type").as_deref() == Some(name))?;
    Some((text(found, "status")?, text(found, "reason").filter(|r| !r.is_empty())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(status: &Value) -> State {
        let live = json!({"kind": "X", "metadata": {}, "status": status});
        state(&serde_json::from_value(live).unwrap())
    }

    fn conditions(all: &[(&str, &str, &str)]) -> Value {
        let all: Vec<_> = all
            .iter()
            .map(|(name, status, reason)| json!({"type": name, "status": status, "reason": reason}))
            .collect();
        json!({ "conditions": all })
    }

    #[test]
    fn only_what_conventions_say_is_said() {
        let not_ready = |condition: &str, reason: Option<&str>| State::NotReady {
            condition: condition.to_owned(),
            reason: reason.map(str::to_owned),
        };
        let cases = [
            (json!(null), State::Present),
            (json!({}), State::Present),
            (json!({"conditions": "x"}), State::Present),
            (conditions(&[("Strange", "True", "")]), State::Present),
            (conditions(&[("Ready", "True", "")]), State::Ready),
            (
                conditions(&[("Progressing", "True", ""), ("Available", "True", "Enough")]),
                State::Ready,
            ),
            (
                conditions(&[("Available", "False", "TooFew")]),
                not_ready("Available", Some("TooFew")),
            ),
            (conditions(&[("Ready", "Unknown", "")]), not_ready("Ready", None)),
            (conditions(&[("Complete", "True", "")]), State::Ready),
            (
                conditions(&[("Failed", "True", "BackoffLimitExceeded"), ("Ready", "True", "")]),
                State::Failed { reason: Some("BackoffLimitExceeded".to_owned()) },
            ),
            (conditions(&[("Failed", "False", "")]), State::Present),
            (json!({"printableStatus": "Running"}), State::Ready),
            (json!({"printableStatus": "Starting"}), not_ready("Starting", None)),
        ];
        for (status, expected) in cases {
            assert_eq!(of(&status), expected, "{status}");
        }
    }

    #[test]
    fn what_is_being_deleted_is_nothing_else() {
        let live = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
            "status": {"conditions": [{"type": "Ready", "status": "True"}]}});
        assert_eq!(state(&serde_json::from_value(live).unwrap()), State::Deleting);
    }
}
