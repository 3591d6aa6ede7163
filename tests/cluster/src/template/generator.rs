//! The `expression` generator, with the real one's peculiarities: `[a-z]` never yields `z`.

use std::hash::{BuildHasher, Hasher, RandomState};

const ALPHABET: &str = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
const NUMERALS: &str = "0123456789";
const SYMBOLS: &str = "~!@#$%^&*()-_+={}[]\\|<,>.?/\"';:`";

#[derive(Debug, PartialEq)]
pub(super) enum Failure {
    Invalid(String),
    /// The real generator draws from an empty alphabet and takes the request down with it.
    Panic,
}

/// Replaces one `[..]{n}` after the other until none is left.
pub(super) fn generate(from: &str) -> Result<String, Failure> {
    let mut text = from.to_owned();
    while let Some((start, end)) = find_expression(&text) {
        let generated = {
            let expression = text.get(start..end).unwrap_or_default();
            generate_one(expression)?
        };
        text.replace_range(start..end, &generated);
    }
    Ok(text)
}

/// The first match of `\[([a-zA-Z0-9\-\\]+)\](\{([0-9]+)\})`.
fn find_expression(text: &str) -> Option<(usize, usize)> {
    text.match_indices('[').find_map(|(start, _)| {
        let rest = text.get(start + 1..)?;
        let inner = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '-' || c == '\\'))?;
        let count = rest.get(inner..)?.strip_prefix("]{")?;
        let digits = count.find(|c: char| !c.is_ascii_digit())?;
        let closed = count.get(digits..)?.starts_with('}');
        (inner > 0 && digits > 0 && closed).then_some((start, start + 1 + inner + 2 + digits + 1))
    })
}

fn generate_one(expression: &str) -> Result<String, Failure> {
    let brace = expression.rfind('{').unwrap_or_default();
    let (ranges, count) = expression.split_at(brace);
    if !is_well_formed(ranges) {
        return Err(Failure::Invalid(format!("malformed expresion syntax: {ranges}")));
    }
    // Go's Atoi stops at the largest integer and its error is ignored.
    let length = count.trim_matches(['{', '}']).parse().unwrap_or(i64::MAX);
    if !(1..=255).contains(&length) {
        return Err(Failure::Invalid(format!(
            "range must be within [1-255] characters ({length})"
        )));
    }
    let mut alphabet: Vec<char> = Vec::new();
    for (first, last) in pieces(ranges) {
        for c in piece_alphabet(first, last)?.chars() {
            if !alphabet.contains(&c) {
                alphabet.push(c);
            }
        }
    }
    (0..length).map(|_| pick(&alphabet).ok_or(Failure::Panic)).collect()
}

/// Matches `\[(\\w|\\d|\\a|\\A)|([a-zA-Z0-9]\-[a-zA-Z0-9])+\]`, which is not anchored.
fn is_well_formed(ranges: &str) -> bool {
    let class = ["[\\w", "[\\d", "[\\a", "[\\A"].iter().any(|class| ranges.starts_with(class));
    let range = matches!(ranges.as_bytes(), [.., from, b'-', to, b']']
        if from.is_ascii_alphanumeric() && to.is_ascii_alphanumeric());
    class || range
}

/// First and last byte of each match of `[\\]?[a-zA-Z0-9]\-?[a-zA-Z0-9]?`.
fn pieces(ranges: &str) -> Vec<(char, char)> {
    let chars: Vec<char> = ranges.chars().collect();
    let at = |index: usize| chars.get(index).copied().unwrap_or(']');
    let mut pieces = Vec::new();
    let mut index = 0;
    while index < chars.len() {
        let first = at(index);
        let mut last = index + usize::from(first == '\\');
        if !at(last).is_ascii_alphanumeric() {
            index += 1;
            continue;
        }
        if at(last + 1) == '-' {
            last += 1;
        }
        if at(last + 1).is_ascii_alphanumeric() {
            last += 1;
        }
        pieces.push((first, at(last)));
        index = last + 1;
    }
    pieces
}

fn piece_alphabet(first: char, last: char) -> Result<String, Failure> {
    let ascii = format!("{ALPHABET}{NUMERALS}{SYMBOLS}");
    match (first, last) {
        ('\\', 'w') => Ok(format!("{ALPHABET}{NUMERALS}_")),
        ('\\', 'd') => Ok(NUMERALS.to_owned()),
        ('\\', 'a') => Ok(format!("{ALPHABET}{NUMERALS}")),
        ('\\', 'A') => Ok(SYMBOLS.to_owned()),
        _ => {
            let (from, to) =
                (ascii.find(first).unwrap_or_default(), ascii.rfind(last).unwrap_or_default());
            let slice = ascii.get(from..to).map(str::to_owned);
            slice
                .ok_or_else(|| Failure::Invalid(format!("invalid range specified: {first}-{last}")))
        }
    }
}

fn pick(alphabet: &[char]) -> Option<char> {
    let random = RandomState::new().build_hasher().finish();
    let count = u64::try_from(alphabet.len()).ok().filter(|&count| count > 0)?;
    alphabet.get(usize::try_from(random % count).ok()?).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_text_is_literal() {
        for text in [
            "[a-z]+",
            "[a-z]{3,5}",
            "[a-z_]{5}",
            "[^a-z]{5}",
            "\\w{5}",
            "{8}",
            "",
            "[a-z",
            "x[a-z]y",
        ] {
            assert_eq!(generate(text), Ok(text.to_owned()), "{text}");
        }
    }

    #[test]
    fn the_last_of_a_range_never_comes() {
        let digits = "012345678";
        for (from, length, alphabet) in [
            ("[a-z]{200}", 200, "abcdefghijklmnopqrstuvwxy"),
            ("[0-9]{200}", 200, digits),
            ("[A-F0-9]{200}", 200, "ABCDE012345678"),
            ("[0-1]{8}", 8, "0"),
            ("[\\d]{200}", 200, NUMERALS),
            ("[\\A]{20}x", 21, &format!("{SYMBOLS}x")),
            ("[\\w]{200}", 200, &format!("{ALPHABET}{NUMERALS}_")),
            ("[\\a]{200}", 200, &format!("{ALPHABET}{NUMERALS}")),
            ("[a-Z]{200}", 200, ALPHABET),
            ("[a-9]{200}", 200, &format!("{ALPHABET}{NUMERALS}")),
            ("[\\da-c]{200}", 200, &format!("{ALPHABET}{NUMERALS}")),
            ("pre-[a-b]{3}-mid-[0-1]{2}", 14, "pre-mida0"),
        ] {
            let text = generate(from).expect(from);
            assert_eq!(text.chars().count(), length, "{from}");
            assert!(text.chars().all(|c| alphabet.contains(c)), "{from}: {text}");
        }
        assert_eq!(generate("[0-1]{8}"), Ok("00000000".to_owned()));
    }

    #[test]
    fn what_it_refuses() {
        for (from, why) in [
            ("[abc]{5}", "malformed expresion syntax: [abc]"),
            ("[a]{5}", "malformed expresion syntax: [a]"),
            ("[09]{5}", "malformed expresion syntax: [09]"),
            ("[a-c0]{5}", "malformed expresion syntax: [a-c0]"),
            ("[-]{5}", "malformed expresion syntax: [-]"),
            ("[a-z]{256}", "range must be within [1-255] characters (256)"),
            ("[a-z]{0}", "range must be within [1-255] characters (0)"),
            (
                "[a-z]{99999999999999999999}",
                "range must be within [1-255] characters (9223372036854775807)",
            ),
            ("[A-z]{5}", "invalid range specified: A-z"),
            ("[z-a]{5}", "invalid range specified: z-a"),
            ("[0-z]{5}", "invalid range specified: 0-z"),
        ] {
            assert_eq!(generate(from), Err(Failure::Invalid(why.to_owned())), "{from}");
        }
        assert_eq!(generate("[a-a]{5}"), Err(Failure::Panic));
    }
}
