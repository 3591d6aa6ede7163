//! Members and elements of JSON text with the text of each, in the order written: what a `Value` no longer knows, and
//! what the errors of the template API quote. The text must already have been found to be JSON.

/// The members of an object: key and the value's text. `None` when it is no object.
pub(super) fn members(text: &str) -> Option<Vec<(String, &str)>> {
    let mut rest = text.trim_start().strip_prefix('{')?.trim_start();
    let mut members = Vec::new();
    while rest.starts_with('"') {
        let (key, after) = rest.split_at(value_length(rest));
        let after = after.trim_start().strip_prefix(':')?.trim_start();
        let (value, after) = after.split_at(value_length(after));
        members.push((serde_json::from_str(key).ok()?, value));
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    Some(members)
}

/// The elements of an array. `None` when it is no array.
pub(super) fn elements(text: &str) -> Option<Vec<&str>> {
    let mut rest = text.trim_start().strip_prefix('[')?.trim_start();
    let mut elements = Vec::new();
    while !rest.is_empty() && !rest.starts_with(']') {
        let (value, after) = rest.split_at(value_length(rest));
        elements.push(value);
        rest = after.trim_start().trim_start_matches(',').trim_start();
    }
    Some(elements)
}

/// The text without the blanks between its tokens, as Go writes a raw message.
pub(super) fn compact(text: &str) -> String {
    let mut in_string = InString::default();
    text.chars().filter(|&c| in_string.step(c) || !c.is_ascii_whitespace()).collect()
}

/// Go's name for what a value is.
pub(super) fn type_of(text: &str) -> &'static str {
    match text.chars().next() {
        Some('{') => "object",
        Some('[') => "array",
        Some('"') => "string",
        Some('t' | 'f') => "bool",
        Some('n') => "null",
        _ => "number",
    }
}

#[derive(Default)]
struct InString {
    inside: bool,
    escaped: bool,
}

impl InString {
    /// Whether this character belongs to a string, its quotes included.
    fn step(&mut self, c: char) -> bool {
        if !self.inside {
            self.inside = c == '"';
            return self.inside;
        }
        if self.escaped {
            self.escaped = false;
        } else if c == '\\' {
            self.escaped = true;
        } else if c == '"' {
            self.inside = false;
        }
        true
    }
}

fn value_length(text: &str) -> usize {
    let mut in_string = InString::default();
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        let was_inside = in_string.inside;
        let quoted = in_string.step(c);
        let string_ends = was_inside && !in_string.inside;
        match c {
            '{' | '[' if !quoted => depth += 1,
            '}' | ']' if !quoted && depth > 0 => depth -= 1,
            // A bare number or word ends before one of these.
            '}' | ']' | ',' | ' ' | '\t' | '\n' | '\r' if !quoted && depth == 0 => return at,
            _ if !string_ends => continue,
            _ => {}
        }
        if depth == 0 && (string_ends || matches!(c, '}' | ']')) {
            return at + c.len_utf8();
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_cut_at_its_values() {
        let text = r#" { "a" : {"b": "}\"" } , "c":1,"d" : [ 1 , "x, y" ] ,"a":null}"#;
        let found = members(text).expect("an object");
        let expected =
            [("a", r#"{"b": "}\"" }"#), ("c", "1"), ("d", r#"[ 1 , "x, y" ]"#), ("a", "null")];
        assert_eq!(
            found.iter().map(|(key, value)| (key.as_str(), *value)).collect::<Vec<_>>(),
            expected
        );
        assert_eq!(
            elements(r#"[ 1 , "x, y",[],{} ,true]"#).expect("an array"),
            ["1", "\"x, y\"", "[]", "{}", "true"]
        );
        assert!(members("[]").is_none() && elements("5").is_none());
        assert_eq!(compact(r#"{ "a b" : [ 1 , "\" x" ] }"#), r#"{"a b":[1,"\" x"]}"#);
    }
}
