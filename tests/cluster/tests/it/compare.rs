//! Comparison of a recorded answer with the one given, up to what differs from one cluster to the next.

use std::collections::BTreeMap;

use serde_json::Value;

/// Recorded uids and resource versions and what stands for them here. Each recorded one must always be the same one
/// here, and the other way round: so what is unchanged there is unchanged here too.
#[derive(Default)]
pub(crate) struct Names {
    here: BTreeMap<String, String>,
    there: BTreeMap<String, String>,
}

impl Names {
    fn agree(&mut self, kind: &str, recorded: &str, found: &str) -> Result<(), String> {
        let recorded = format!("{kind} {recorded}");
        let found = format!("{kind} {found}");
        let here = self.here.entry(recorded.clone()).or_insert_with(|| found.clone());
        let there = self.there.entry(found.clone()).or_insert_with(|| recorded.clone());
        if *here == found && *there == recorded {
            return Ok(());
        }
        Err(format!("recorded {recorded} was {here}, now it is {found}, which was {there}"))
    }

    /// A recorded text with the uids of here.
    pub(crate) fn translate(&self, text: &str) -> String {
        let uids = self.here.iter().filter_map(|(recorded, found)| {
            Some((recorded.strip_prefix("uid ")?, found.strip_prefix("uid ")?))
        });
        uids.fold(text.to_owned(), |text, (recorded, found)| text.replace(recorded, found))
    }

    /// Everything that differs, with its path.
    pub(crate) fn differences(&mut self, recorded: &Value, found: &Value) -> Vec<String> {
        let mut differences = Vec::new();
        self.compare("", recorded, found, &mut differences);
        differences
    }

    fn compare(
        &mut self,
        path: &str,
        recorded: &Value,
        found: &Value,
        differences: &mut Vec<String>,
    ) {
        match (recorded, found) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    match new.get(key) {
                        Some(other) => {
                            self.compare(&format!("{path}/{key}"), value, other, differences);
                        }
                        None => {
                            differences.push(format!("{path}/{key}: missing, recorded {value}"));
                        }
                    }
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    differences.push(format!("{path}/{key}: not recorded, found {value}"));
                }
            }
            (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
                for (index, (value, other)) in old.iter().zip(new).enumerate() {
                    self.compare(&format!("{path}/{index}"), value, other, differences);
                }
            }
            (Value::String(old), Value::String(new)) => {
                let agreed = match path.rsplit('/').next().unwrap_or_default() {
                    "uid" => self.agree("uid", old, new),
                    "resourceVersion" => self.agree("resourceVersion", old, new),
                    "time" | "creationTimestamp" | "deletionTimestamp"
                        if is_time(old) && is_time(new) =>
                    {
                        Ok(())
                    }
                    _ if self.translate(old) == *new => Ok(()),
                    _ => Err(format!("recorded {old:?}, found {new:?}")),
                };
                differences.extend(agreed.err().map(|why| format!("{path}: {why}")));
            }
            (old, new) if old == new => {}
            (old, new) => differences.push(format!("{path}: recorded {old}, found {new}")),
        }
    }
}

fn is_time(text: &str) -> bool {
    let shape: String = text.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    shape == "0000-00-00T00:00:00Z"
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_is_the_clusters_own_may_differ() {
        let recorded = json!({"metadata": {"uid": "a", "resourceVersion": "1", "creationTimestamp":
            "2026-11-30T23:16:29Z"}, "data": ["x"], "status": "uid a"});
        let mut names = Names::default();
        let same = json!({"metadata": {"uid": "b", "resourceVersion": "7", "creationTimestamp":
            "2027-01-01T00:00:00Z"}, "data": ["x"], "status": "uid b"});
        assert!(names.differences(&recorded, &same).is_empty());
        for (pointer, value) in [
            ("/metadata/uid", json!("c")),
            ("/metadata/resourceVersion", json!("8")),
            ("/metadata/creationTimestamp", json!("now")),
            ("/data/0", json!("y")),
            ("/data", json!(["x", "y"])),
            ("/status", json!("uid c")),
            ("/metadata", json!({})),
        ] {
            let mut other = same.clone();
            *other.pointer_mut(pointer).unwrap() = value;
            assert_ne!(names.differences(&recorded, &other), Vec::<String>::new(), "{pointer}");
        }
    }
}
