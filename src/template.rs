use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value, json};

use crate::names::{is_dns_label, is_dns_subdomain};
use crate::{Error, InvalidInput, Result, Shape};

pub(crate) const API_VERSION: &str = "template.openshift.io/v1";

/// A Template stored in the cluster, and the parameters that one rendering overrides.
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
#[derive(Clone, PartialEq, Eq)]
pub struct Template {
    name: String,
    namespace: Option<String>,
    parameters: BTreeMap<String, ParameterValue>,
}

impl Template {
    /// The Template of this name, in the namespace of the operation, with its own defaults.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self { name: name.into(), namespace: None, parameters: BTreeMap::new() }
    }

    /// Where the Template is stored. Defaults to the namespace of the operation.
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

    /// The Template's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The namespace given with [`in_namespace`](Self::in_namespace).
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// Everything about the inputs that can be refused without asking the cluster.
    pub(crate) fn check(&self) -> Result<()> {
        if !is_dns_subdomain(&self.name) {
            let shape = Shape::of(&self.name, |c| {
                c.is_ascii_lowercase() || c.is_ascii_digit() || "-.".contains(c)
            });
            return Err(InvalidInput::TemplateName { shape }.into());
        }
        if let Some(namespace) = &self.namespace {
            check_namespace("template namespace", namespace)?;
        }
        if self.parameters.contains_key("") {
            return Err(InvalidInput::EmptyParameterName.into());
        }
        Ok(())
    }

    /// Makes of the stored Template what is to be posted for rendering.
    ///
    /// The metadata shrinks to the name: a namespace or an owner of the stored object has no place
    /// there. **Every** definition of an overridden name is changed, because the server takes the
    /// last one.
    pub(crate) fn override_in(&self, mut stored: Map<String, Value>) -> Result<Value> {
        stored.insert("metadata".to_owned(), json!({ "name": self.name }));
        stored.remove("status");

        let mut definitions: Vec<_> = match stored.get_mut("parameters") {
            Some(Value::Array(definitions)) => {
                definitions.iter_mut().filter_map(Value::as_object_mut).collect()
            }
            _ => Vec::new(),
        };
        let known: BTreeSet<String> =
            definitions.iter().filter_map(|d| text(d, "name").map(str::to_owned)).collect();
        let unknown: Vec<_> =
            self.parameters.keys().filter(|name| !known.contains(*name)).cloned().collect();
        if !unknown.is_empty() {
            let known = known.into_iter().collect();
            return Err(InvalidInput::UnknownParameters { unknown, known }.into());
        }

        let mut generated: Vec<(String, bool)> = Vec::new();
        for definition in &mut definitions {
            let Some(name) = text(definition, "name").map(str::to_owned) else { continue };
            let overridden = self.parameters.get(&name);
            if let Some(value) = overridden {
                definition.insert("value".to_owned(), Value::String(value.0.clone()));
                definition.remove("generate");
                definition.remove("from");
            }
            let open = overridden.is_none()
                && text(definition, "generate").is_some_and(|generator| !generator.is_empty())
                && text(definition, "value").unwrap_or_default().is_empty();
            match generated.iter_mut().find(|(earlier, _)| *earlier == name) {
                Some((_, earlier)) => *earlier = open,
                None => generated.push((name, open)),
            }
        }
        let parameters: Vec<_> =
            generated.into_iter().filter_map(|(name, open)| open.then_some(name)).collect();
        if !parameters.is_empty() {
            return Err(InvalidInput::UnresolvedGenerators { parameters }.into());
        }
        Ok(Value::Object(stored))
    }
}

fn text<'a>(definition: &'a Map<String, Value>, field: &str) -> Option<&'a str> {
    definition.get(field)?.as_str()
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
            .field("name", &self.name)
            .field("namespace", &self.namespace)
            .field("parameters", &self.parameters.keys())
            .finish()
    }
}

/// A parameter's value, in the one form that the API has for it: a string.
///
/// Made from strings as they are, from `bool` (`true`, `false`), from integers up to 128 bits, and
/// from finite floats. Floats are written as Python's `str` writes them (`1.0`, `1e+16`, `1e-05`),
/// so that jobs started by the Python original are found again.
///
/// ```
/// use openshift_templates::ParameterValue;
///
/// assert_eq!(ParameterValue::from(true).as_str(), "true");
/// assert_eq!(ParameterValue::try_from(1e16)?.as_str(), "1e+16");
/// assert!(ParameterValue::try_from(f64::NAN).is_err());
/// # Ok::<(), openshift_templates::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct ParameterValue(String);

impl ParameterValue {
    /// The value as it is sent.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ParameterValue(..)")
    }
}

impl From<&str> for ParameterValue {
    fn from(value: &str) -> Self {
        Self(value.to_owned())
    }
}

impl From<&String> for ParameterValue {
    fn from(value: &String) -> Self {
        Self(value.clone())
    }
}

macro_rules! from_display {
    ($($scalar:ty),*) => {
        $(impl From<$scalar> for ParameterValue {
            fn from(value: $scalar) -> Self {
                Self(value.to_string())
            }
        })*
    };
}

from_display!(String, bool, i8, i16, i32, i64, i128, isize, u8, u16, u32, u64, u128, usize);

impl TryFrom<f64> for ParameterValue {
    type Error = Error;

    fn try_from(value: f64) -> Result<Self> {
        if !value.is_finite() {
            return Err(InvalidInput::NonFiniteParameter.into());
        }
        // Both languages write the shortest digits that read back as the same number; they differ
        // in the exponent's form, and in where it begins: Python at 1e16 and below 1e-4.
        let scientific = format!("{value:e}");
        let Some((digits, exponent)) = scientific.split_once('e') else {
            return Ok(Self(scientific));
        };
        let text = match exponent.parse::<i32>() {
            Ok(e) if !(-4..16).contains(&e) => {
                let sign = if e < 0 { '-' } else { '+' };
                format!("{digits}e{sign}{:02}", e.unsigned_abs())
            }
            _ => {
                let plain = value.to_string();
                if plain.contains('.') { plain } else { plain + ".0" }
            }
        };
        Ok(Self(text))
    }
}

impl TryFrom<f32> for ParameterValue {
    type Error = Error;

    /// Through `f64`, as Python has no shorter float: `0.1_f32` is `0.10000000149011612`.
    fn try_from(value: f32) -> Result<Self> {
        Self::try_from(f64::from(value))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(parameters: Value) -> Map<String, Value> {
        let Value::Object(map) = json!({
            "kind": "Template", "apiVersion": API_VERSION, "status": {},
            "metadata": {"name": "t", "namespace": "infra", "uid": "u"},
            "parameters": parameters,
        }) else {
            unreachable!()
        };
        map
    }

    #[test]
    fn only_the_name_is_left_of_the_metadata() {
        let posted = Template::new("t").override_in(stored(Value::Null)).unwrap();
        assert_eq!(
            posted,
            json!({"kind": "Template", "apiVersion": API_VERSION, "metadata": {"name": "t"}, "parameters": null})
        );
    }

    #[test]
    fn every_definition_of_a_name_is_overridden() {
        let posted = Template::new("t")
            .parameter("A", "")
            .override_in(stored(json!([
                {"name": "A", "value": "1", "required": true},
                {"name": "B", "value": "2"},
                {"name": "A", "generate": "expression", "from": "[a-z]{8}"},
            ])))
            .unwrap();
        assert_eq!(
            posted["parameters"],
            json!([
                {"name": "A", "value": "", "required": true},
                {"name": "B", "value": "2"},
                {"name": "A", "value": ""},
            ])
        );
    }

    #[test]
    fn unknown_names_are_listed_with_the_known_ones() {
        let error = Template::new("t")
            .parameters([("z", "1"), ("B", "1"), ("a", "1")])
            .override_in(stored(json!([{"name": "B"}, {"name": "A"}, {"name": "B"}])))
            .unwrap_err();
        let Error::InvalidInput(InvalidInput::UnknownParameters { unknown, known }) = error else {
            panic!("{error:?}")
        };
        assert_eq!((unknown, known), (vec!["a".into(), "z".into()], vec!["A".into(), "B".into()]));
    }

    #[test]
    fn the_last_definition_says_whether_a_value_would_be_generated() {
        let generators =
            |parameters: Value| match Template::new("t").override_in(stored(parameters)) {
                Err(Error::InvalidInput(InvalidInput::UnresolvedGenerators { parameters })) => {
                    parameters
                }
                Ok(_) => Vec::new(),
                Err(error) => panic!("{error:?}"),
            };
        let open = json!({"name": "A", "generate": "expression", "from": "x"});
        assert_eq!(generators(json!([open])), ["A"]);
        assert_eq!(generators(json!([{"name": "A", "value": "1"}, open])), ["A"]);
        assert!(generators(json!([open, {"name": "A", "value": "1"}])).is_empty());
        assert!(generators(json!([{"name": "A", "generate": "", "value": ""}])).is_empty());
        assert!(
            generators(json!([{"name": "A", "generate": "expression", "value": "1"}])).is_empty()
        );
        let second = json!({"name": "Z", "generate": "expression", "value": null});
        assert_eq!(generators(json!([second, open])), ["Z", "A"]);
    }

    #[test]
    fn integers_keep_all_their_digits() {
        assert_eq!(ParameterValue::from(i128::MIN).as_str(), i128::MIN.to_string());
        assert_eq!(ParameterValue::from(u128::MAX).as_str(), u128::MAX.to_string());
    }
}
