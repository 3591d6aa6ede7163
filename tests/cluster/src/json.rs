//! JSON text as Go's `encoding/json` writes it, where the difference is one of meaning.

use std::io;

use serde::Serialize;
use serde_json::{Number, Value, ser::Formatter};

/// The text of a JSON value.
pub(crate) fn to_bytes(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, GoNumbers);
    value.serialize(&mut serializer).expect("a JSON value always has a text");
    out
}

/// The text of a JSON value, as a string.
pub(crate) fn to_text(value: &Value) -> String {
    String::from_utf8(to_bytes(value)).expect("JSON is UTF-8")
}

/// What Go's untyped decoding makes of the numbers: an integer that does not fit into 64 bits with a
/// sign becomes a float.
pub(crate) fn with_go_integers(value: Value) -> Value {
    map_numbers(value, &|number| {
        if number.is_u64() && !number.is_i64() { as_float(&number) } else { number }
    })
}

/// What Go's `json.Unmarshal` into an `interface{}` makes of the numbers: floats, all of them.
pub(crate) fn with_go_floats(value: Value) -> Value {
    map_numbers(value, &|number| as_float(&number))
}

fn as_float(number: &Number) -> Number {
    number.as_f64().and_then(Number::from_f64).unwrap_or_else(|| number.clone())
}

fn map_numbers(value: Value, change: &dyn Fn(Number) -> Number) -> Value {
    match value {
        Value::Number(number) => Value::Number(change(number)),
        Value::Array(items) => items.into_iter().map(|item| map_numbers(item, change)).collect(),
        Value::Object(members) => {
            members.into_iter().map(|(key, member)| (key, map_numbers(member, change))).collect()
        }
        other => other,
    }
}

/// Without this, a float that is an integer would be written `5.0`, and a client would not get the
/// integer that the real server sends.
struct GoNumbers;

impl Formatter for GoNumbers {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        writer.write_all(go_float(value).as_bytes())
    }
}

/// Go leaves the decimal form below 1e-6 and from 1e21 on.
fn go_float(value: f64) -> String {
    let size = value.abs();
    if size == 0.0 || (1e-6..1e21).contains(&size) {
        return format!("{value}");
    }
    let text = format!("{value:e}");
    match text.split_once('e') {
        Some((mantissa, exponent)) if !exponent.starts_with('-') => {
            format!("{mantissa}e+{exponent}")
        }
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_are_written_as_go_writes_them() {
        for (value, text) in [
            (5.0, "5"),
            (-5.0, "-5"),
            (5.5, "5.5"),
            (0.0, "0"),
            (1e20, "100000000000000000000"),
            (1e21, "1e+21"),
            (1.5e300, "1.5e+300"),
            (1e-6, "0.000001"),
            (1e-7, "1e-7"),
            (12_345_678_901_234_567_890.0, "12345678901234567000"),
            (18_446_744_073_709_551_615.0, "18446744073709552000"),
        ] {
            assert_eq!(go_float(value), text);
        }
    }
}
