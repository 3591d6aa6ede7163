//! The API's rules for names, as RFC 1123 and the Kubernetes object-name conventions give them,
//! and how they are spelled in a URL.

/// A namespace's name: at most 63 of `[a-z0-9-]`, beginning and ending with none of the dashes.
pub(crate) fn is_dns_label(text: &str) -> bool {
    let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    text.len() <= 63
        && text.bytes().all(|byte| inner(byte) || byte == b'-')
        && text.bytes().next().is_some_and(inner)
        && text.bytes().last().is_some_and(inner)
}

/// A Template's name: labels joined by dots, at most 253 characters. The API bounds the whole
/// name, not each label.
pub(crate) fn is_dns_subdomain(text: &str) -> bool {
    let label = |label: &str| {
        let edge =
            |byte: Option<u8>| byte.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        edge(label.bytes().next())
            && edge(label.bytes().last())
            && label.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    text.len() <= 253 && text.split('.').all(label)
}

/// Appends `text`, percent-encoded but for ASCII letters, digits and `kept`.
pub(crate) fn push_percent_encoded(target: &mut String, text: &str, kept: &[u8]) {
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.contains(&byte) {
            target.push(char::from(byte));
        } else {
            let digit = |nibble| char::from_digit(nibble, 16).unwrap_or('0').to_ascii_uppercase();
            target.extend(['%', digit(u32::from(byte >> 4)), digit(u32::from(byte & 15))]);
        }
    }
}
