//! The dialect of `oc process --param-file`.

use std::path::Path;

use super::ParameterValue;
use super::inline::read_text;
use crate::{InvalidInput, Result};

const EXPECTED: &str = "list of NAME=VALUE lines";

pub(super) fn read(path: &Path) -> Result<Vec<(String, ParameterValue)>> {
    let text = read_text(path, EXPECTED)?;
    let mut parameters = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let unusable = || InvalidInput::FileFormat {
            path: path.to_owned(),
            line: Some(index + 1),
            expected: EXPECTED,
        };
        let line = without_comment(line).trim();
        if line.is_empty() {
            continue;
        }
        let (name, value) = split(line).ok_or_else(unusable)?;
        parameters.push((name.to_owned(), ParameterValue::from(value)));
    }
    Ok(parameters)
}

/// A `#` begins a comment, but for one within quotes.
fn without_comment(line: &str) -> &str {
    let mut quote = None;
    let mut escaped = false;
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (None, '#') => return line.get(..at).unwrap_or(line),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if !escaped && c == open => quote = None,
            _ => {}
        }
        escaped = quote.is_some() && c == '\\' && !escaped;
    }
    line
}

/// Whichever of `=` and `:` comes first ends the name.
fn split(line: &str) -> Option<(&str, String)> {
    let (name, value) = line.split_once(['=', ':'])?;
    let name = name.trim();
    let name = name.strip_prefix("export ").unwrap_or(name).trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_';
    if name.is_empty() || !name.chars().all(fits) || name.starts_with(|c: char| c.is_ascii_digit())
    {
        return None;
    }
    Some((name, unquoted(value.trim())?))
}

/// The text between quotes, with its escapes resolved; `None` for a quote that stays open. What is
/// not in quotes stays as it is.
fn unquoted(value: &str) -> Option<String> {
    let Some(quote) = value.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
        return Some(value.to_owned());
    };
    let mut text = String::new();
    let mut rest = value.chars().skip(1);
    while let Some(c) = rest.next() {
        match c {
            '\\' => text.push(match rest.next()? {
                'n' => '\n',
                'r' => '\r',
                escaped => escaped,
            }),
            c if c == quote => return rest.next().is_none().then_some(text),
            c => text.push(c),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Error, Template};

    fn file(text: &str) -> Result<Vec<(String, String)>> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("parameters.env");
        std::fs::write(&path, text).unwrap();
        let own = |(name, value): (String, ParameterValue)| (name, value.as_str().to_owned());
        Ok(read(&path)?.into_iter().map(own).collect())
    }

    #[test]
    fn each_form_of_a_line_is_read() {
        for (line, value) in [
            ("A=1", "1"),
            ("A = 1 ", "1"),
            ("A: 1", "1"),
            ("export A=1", "1"),
            ("A=", ""),
            ("A=''", ""),
            ("A=1 # one", "1"),
            ("A='# one' # two", "# one"),
            ("A=\"a\\nb\\r\\\"c\\\\\"", "a\nb\r\"c\\"),
            ("A='a\\nb'", "a\nb"),
            ("A=a'b", "a'b"),
            ("A=CN=x,OU=y", "CN=x,OU=y"),
            ("A=my,1%pa=s:t", "my,1%pa=s:t"),
            ("A: b=c", "b=c"),
            ("A=${B}", "${B}"),
        ] {
            let expected = vec![("A".to_owned(), value.to_owned())];
            assert_eq!(file(line).unwrap(), expected, "{line}");
        }
        assert!(file("\n# nothing\n   \n").unwrap().is_empty());
    }

    #[test]
    fn a_line_that_is_none_is_told_by_its_number_and_not_shown() {
        for line in ["SECRET", "=SECRET", "A-B=SECRET", "1A=SECRET", "A='SECRET", "A='SECRET'x"] {
            let error = file(&format!("OK=1\n{line}\n")).unwrap_err();
            let Error::InvalidInput(InvalidInput::FileFormat { line: Some(2), .. }) = &error else {
                panic!("{line}: {error:?}")
            };
            assert!(!format!("{error} {error:?}").contains("SECRET"));
        }
    }

    #[test]
    fn what_is_said_one_by_one_wins_and_then_the_earlier_file() {
        let dir = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let (first, second) = (write("1", "A=1\nB=1\nC=1"), write("2", "B=2\nC=2\nD=2"));
        let template = Template::new("t")
            .parameter("A", "0")
            .parameters_from_file(first)
            .and_then(|t| t.parameters_from_file(second))
            .unwrap();
        let overrides = template.overrides();
        let all: Vec<_> = overrides.iter().map(|(n, v)| (n.as_str(), v.as_str())).collect();
        assert_eq!(all, [("A", "0"), ("B", "1"), ("C", "1"), ("D", "2")]);
    }
}
