//! YAML as the JSON that Kubernetes makes of it: the first document, merge keys applied, the last
//! of two equal keys winning.

use std::cell::Cell;
use std::fmt;

use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, SeqAccess, VariantAccess, Visitor,
};
use serde_json::{Map, Number, Value};

/// The first document; null when there is none. The error is a line, counted from one, when the
/// parser knows it: its own text would quote values.
pub(crate) fn first_document(text: &str) -> Result<Value, Option<usize>> {
    let says_nothing = |line: &str| line.trim().is_empty() || line.trim_start().starts_with('#');
    if text.lines().all(says_nothing) {
        return Ok(Value::Null);
    }
    if is_too_deep(text) {
        return Err(None);
    }
    let Some(document) = serde_yaml::Deserializer::from_str(text).next() else {
        return Ok(Value::Null);
    };
    let left = Cell::new(text.len().saturating_mul(10).saturating_add(1024 * 1024));
    Node { left: &left }
        .deserialize(document)
        .map_err(|error| error.location().map(|location| location.line()))
}

/// The parser takes a time that grows with the square of how many brackets are open, and only then
/// counts them. Brackets in texts are counted too, which no document would notice.
fn is_too_deep(text: &str) -> bool {
    const LIMIT: usize = 1000;
    let mut open: usize = 0;
    text.bytes().any(|byte| {
        match byte {
            b'[' | b'{' => open += 1,
            b']' | b'}' => open = open.saturating_sub(1),
            _ => {}
        }
        open > LIMIT
    })
}

/// UTF-8, with a byte order mark or without, or UTF-16LE as PowerShell's `>` writes it.
pub(crate) fn decode(bytes: &[u8]) -> Option<String> {
    if let Some(rest) = bytes.strip_prefix(b"\xff\xfe") {
        let units: Vec<u16> = rest
            .chunks_exact(2)
            .filter_map(|pair| pair.try_into().ok().map(u16::from_le_bytes))
            .collect();
        return String::from_utf16(&units).ok();
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).ok().map(str::to_owned)
}

/// One node, with all that is in it. Aliases can make a document many times as large as its text
/// is, so that what it comes to is counted: `left` is what it still may.
#[derive(Clone, Copy)]
struct Node<'a> {
    left: &'a Cell<usize>,
}

/// What a node takes besides its text, in bytes, about. Text without aliases comes to less than
/// ten times its length: two characters make a node.
const NODE: usize = 16;

impl Node<'_> {
    fn count<E: Error>(self, size: usize) -> Result<(), E> {
        let left = self.left.get().checked_sub(size);
        self.left.set(left.ok_or_else(|| E::custom("too many aliases"))?);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.count(NODE)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML node that JSON has too")
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Number::from_f64(value).map(Value::Number).ok_or_else(|| E::custom("not a JSON number"))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        self.count(value.len())?;
        Ok(Value::String(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(value) = items.next_element_seed(self)? {
            values.push(value);
        }
        Ok(Value::Array(values))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        let mut merged = Vec::new();
        while let Some((key, value)) = entries.next_entry_seed(self, self)? {
            match (key, value) {
                (Value::String(key), Value::Object(fields)) if key == "<<" => merged.push(fields),
                (Value::String(key), Value::Array(sources)) if key == "<<" => {
                    for source in sources {
                        let Value::Object(fields) = source else {
                            return Err(A::Error::custom(
                                "a merge of something else than mappings",
                            ));
                        };
                        merged.push(fields);
                    }
                }
                (Value::String(key), value) => drop(fields.insert(key, value)),
                (key @ (Value::Number(_) | Value::Bool(_) | Value::Null), value) => {
                    fields.insert(key.to_string(), value);
                }
                _ => return Err(A::Error::custom("a key that is no scalar")),
            }
        }
        // What a mapping says itself counts more than what is merged into it, and of two sources
        // the first.
        for (key, value) in merged.into_iter().flatten() {
            fields.entry(key).or_insert(value);
        }
        Ok(Value::Object(fields))
    }

    /// A tag that is no part of JSON: the content counts.
    fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<Value, A::Error> {
        let (_tag, content) = data.variant::<String>()?;
        content.newtype_variant_seed(self)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn yaml_is_read_as_kubernetes_reads_it() {
        let cases = [
            ("", json!(null)),
            ("# nothing\n", json!(null)),
            (
                "a: 1\nb: 1.5\nc: true\nd: ~\ne: text\n",
                json!({"a": 1, "b": 1.5, "c": true, "d": null, "e": "text"}),
            ),
            ("a: 1\na: 2\n", json!({"a": 2})),
            ("a: {b: 1, b: 2}\n", json!({"a": {"b": 2}})),
            (
                "x: &x {a: 1, b: 1}\ny: {b: 2, <<: *x}\n",
                json!({"x": {"a": 1, "b": 1}, "y": {"a": 1, "b": 2}}),
            ),
            (
                "x: &x {a: 1}\nz: &z {a: 2, b: 2}\ny: {<<: [*x, *z]}\n",
                json!({"x": {"a": 1}, "z": {"a": 2, "b": 2}, "y": {"a": 1, "b": 2}}),
            ),
            ("1: a\ntrue: b\n", json!({"1": "a", "true": "b"})),
            ("a: 18446744073709551615\n", json!({"a": u64::MAX})),
            ("a: !thing {b: 1}\n", json!({"a": {"b": 1}})),
            ("a: 1\n---\na: 2\n", json!({"a": 1})),
            ("{\"a\":\t[1, null]}", json!({"a": [1, null]})),
        ];
        for (text, expected) in cases {
            assert_eq!(first_document(text), Ok(expected), "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_read_is_told_by_its_line() {
        assert_eq!(first_document("a: 1\nb: [\n"), Err(Some(3)));
        for text in ["a: .nan\n", "? [a]\n: 1\n", "<<: [1]\n", "a: *nobody\n", "\t- a"] {
            assert!(first_document(text).is_err(), "{text:?}");
        }
        let deep = "[".repeat(10_000);
        assert!(first_document(&deep).is_err());
        let mut laughs = "a: &a [x,x,x,x,x,x,x,x,x,x]\n".to_owned();
        for (name, inner) in ('b'..='j').zip('a'..='i') {
            let ten = format!("*{inner},").repeat(10);
            laughs.extend([&*format!("{name}: &{name} "), "[", &ten, "]\n"]);
        }
        assert!(first_document(&laughs).is_err());
        let wide = format!("a: &a {}\nb: [{}]\n", "x".repeat(100_000), "*a,".repeat(10_000));
        assert!(first_document(&wide).is_err());
    }

    #[test]
    fn the_encodings_of_editors_and_shells_are_read() {
        let utf16: Vec<u8> = "a: é".encode_utf16().flat_map(u16::to_le_bytes).collect();
        assert_eq!(decode(&[&b"\xff\xfe"[..], &utf16].concat()).as_deref(), Some("a: é"));
        assert_eq!(decode(b"\xef\xbb\xbfa: 1").as_deref(), Some("a: 1"));
        assert_eq!(decode(b"a: 1").as_deref(), Some("a: 1"));
        assert_eq!(decode(b"\xff"), None);
    }
}
