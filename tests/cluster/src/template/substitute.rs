//! `${P}` and `${{P}}`, with every quirk of the real substitution.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use crate::json;

/// The real server panics, for a null in a list and for a key that becomes no string.
#[derive(Debug, PartialEq)]
pub(super) struct Panic;

/// The parameters' values by name; of several definitions the last counts.
pub(super) struct Values(pub(super) BTreeMap<String, String>);

impl Values {
    /// Always a string: for the message and for labels.
    pub(super) fn text(&self, text: &str) -> String {
        match self.whole(text) {
            Some(value) => value.to_owned(),
            None => self.references(text),
        }
    }

    /// Every key and every string value, at any depth.
    pub(super) fn object(&self, members: Map<String, Value>) -> Result<Map<String, Value>, Panic> {
        // A key that a parameter makes wins over the same key written out.
        let mut literal = Map::new();
        let mut made = Map::new();
        for (key, value) in members {
            let Value::String(new_key) = self.string(&key) else {
                return Err(Panic);
            };
            let removed = value.is_string();
            let value = self.value(value)?;
            if removed && value.is_null() {
                continue;
            }
            let place = if new_key == key { &mut literal } else { &mut made };
            place.insert(new_key, value);
        }
        literal.append(&mut made);
        Ok(literal)
    }

    fn value(&self, value: Value) -> Result<Value, Panic> {
        match value {
            Value::String(text) => Ok(self.string(&text)),
            Value::Object(members) => self.object(members).map(Value::Object),
            Value::Array(items) => items.into_iter().map(|item| self.item(item)).collect(),
            other => Ok(other),
        }
    }

    fn item(&self, item: Value) -> Result<Value, Panic> {
        let made = item.is_string();
        match self.value(item)? {
            Value::Null if made => Err(Panic),
            item => Ok(item),
        }
    }

    /// A whole `${{P}}` is read as JSON; what is no JSON stays a string.
    fn string(&self, text: &str) -> Value {
        match self.whole(text) {
            None => Value::String(self.references(text)),
            Some(value) => match serde_json::from_str(value) {
                Ok(value) => json::with_go_floats(value),
                Err(_) => Value::String(value.to_owned()),
            },
        }
    }

    /// `^\$\{\{([a-zA-Z0-9_]+)\}\}$`, of a known parameter.
    fn whole(&self, text: &str) -> Option<&str> {
        let name = text.strip_prefix("${{")?.strip_suffix("}}")?;
        self.0.get(name).filter(|_| is_name(name)).map(String::as_str)
    }

    /// The references are those of the original text, but each replaces the first of its like in what there is by then.
    fn references(&self, text: &str) -> String {
        let mut result = text.to_owned();
        for name in references(text) {
            if let Some(value) = self.0.get(name) {
                result = result.replacen(&format!("${{{name}}}"), value, 1);
            }
        }
        result
    }
}

/// `^[a-zA-Z0-9_]+$`
pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The names in `\$\{([a-zA-Z0-9_]+?)\}`, left to right.
pub(super) fn references(text: &str) -> Vec<&str> {
    text.match_indices("${")
        .filter_map(|(at, _)| {
            let rest = text.get(at + 2..)?;
            let name = rest.get(..rest.find('}')?)?;
            is_name(name).then_some(name)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn values(pairs: &[(&str, &str)]) -> Values {
        Values(pairs.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect())
    }

    #[test]
    fn references_in_text() {
        for (pairs, text, expected) in [
            (&[("A", "${B}"), ("B", "x")][..], "${A} ${B}", "x ${B}"),
            (&[("A", "${B}"), ("B", "x")], "${A}-${B}-${B}", "x-x-${B}"),
            (&[("A", "${A}!")], "${A} ${A}", "${A}!! ${A}"),
            (&[("A", "1")], "${ZZ} ${A-B} ${ A } ${} $A ${A", "${ZZ} ${A-B} ${ A } ${} $A ${A"),
            (&[("A", "1")], "$${A} \\${A}", "$1 \\1"),
            (&[("A", "1")], "${${A}} ${A${A}}", "${1} ${A1}"),
            (&[("A", "a"), ("B", "b")], "${{A}} ${B}", "${{A}} b"),
            (&[("A", "B"), ("B", "b")], "${{${A}}}", "${{B}}"),
            (&[("a", "1")], "${A} ${a}", "${A} 1"),
            (&[("E", "")], "x${E}y", "xy"),
        ] {
            assert_eq!(values(pairs).text(text), expected, "{text}");
            assert_eq!(values(pairs).string(text), Value::from(expected), "{text}");
        }
    }

    #[test]
    fn only_a_whole_double_reference_counts() {
        let values = values(&[("P", "5")]);
        for text in ["${{P}}\n", "x${{P}}", "${{P}}${{P}}", "${{ P }}", "${{Q}}"] {
            assert_eq!(values.string(text), Value::from(text));
        }
        assert_eq!(values.text("${{P}}"), "5");
        assert_eq!(values.text("a ${{P}}"), "a ${{P}}");
    }

    #[test]
    fn values_are_read_as_json() {
        for (value, text) in [
            ("5", "5"),
            ("-5", "-5"),
            ("5.0", "5"),
            ("5.50", "5.5"),
            ("1e3", "1000"),
            (" 5 ", "5"),
            ("true", "true"),
            ("false", "false"),
            ("\"q\"", "\"q\""),
            ("{\"a\": [1, \"${B}\"]}", "{\"a\":[1,\"${B}\"]}"),
            ("", "\"\""),
            ("9007199254740993", "9007199254740992"),
            ("12345678901234567890", "12345678901234567000"),
            ("1e20", "100000000000000000000"),
            ("1e21", "1e+21"),
            ("0.0000001", "1e-7"),
        ] {
            let found = json::to_text(&values(&[("P", value), ("B", "b")]).string("${{P}}"));
            assert_eq!(found, text, "{value}");
        }
        for value in [
            "05",
            "+5",
            ".5",
            "1.",
            "0x10",
            "1_000",
            "5m",
            "abc",
            "yes",
            "True",
            "NaN",
            "1E400",
            "{bad",
            "{\"a\":1} x",
        ] {
            assert_eq!(values(&[("P", value)]).string("${{P}}"), Value::from(value));
        }
    }

    #[test]
    fn maps_and_lists() {
        let values =
            values(&[("A", "foo"), ("N", "null"), ("E", ""), ("B", "true"), ("FIVE", "5")]);
        for (before, after) in [
            (json!({"gone": "${{N}}", "kept": null}), Some(json!({"kept": null}))),
            (json!({"${A}": "made", "foo": "written"}), Some(json!({"foo": "made"}))),
            (json!({"${E}": 1}), Some(json!({"": 1}))),
            (json!({"${{A}}": 1}), Some(json!({"foo": 1}))),
            (
                json!({"l": ["${{B}}", "${{E}}", "${A}", null, 1]}),
                Some(json!({"l": [true, "", "foo", null, 1]})),
            ),
            (json!({"l": ["${{N}}"]}), None),
            (json!({"${{FIVE}}": 1}), None),
            (json!({"${{B}}": 1}), None),
            (json!({"${{N}}": 1}), None),
            (json!({"a": {"b": [{"c": "${A}"}]}}), Some(json!({"a": {"b": [{"c": "foo"}]}}))),
        ] {
            let members = before.as_object().expect("an object").clone();
            assert_eq!(values.object(members).ok().map(Value::Object), after, "{before}");
        }
    }
}
