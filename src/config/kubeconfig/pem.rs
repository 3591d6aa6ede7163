use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::document::Entry;
use crate::config::Pem;
use crate::error::{ConfigError, ConfigProblem};

/// A file, or the same thing in base64 in the field that ends in `-data`.
pub(super) fn pem(
    entry: &Entry<'_>,
    file_field: &'static str,
    read_again_after: Duration,
) -> Result<Option<Pem>, ConfigError> {
    let data_field = format!("{file_field}-data");
    match (entry.path(file_field)?, entry.string(&data_field)?) {
        (None, None) => Ok(None),
        (Some(_), Some(_)) => {
            Err(entry.invalid(&data_field, ConfigProblem::Beside { other: file_field }))
        }
        (Some(path), None) => Ok(Some(Pem::file(path, entry.field(file_field), read_again_after)?)),
        (None, Some(data)) => {
            let text = decode(&data)
                .ok_or_else(|| entry.invalid(&data_field, ConfigProblem::NotBase64))?;
            Ok(Some(Pem::given(text, entry.field(&data_field))))
        }
    }
}

/// Base64, with whatever breaks its lines. A value that YAML tags as `!!binary` is base64 of the
/// base64 text, and the tag is lost by now: nothing that is PEM could be mistaken for it.
fn decode(data: &str) -> Option<Vec<u8>> {
    let decode = |text: &[u8]| {
        let text: Vec<u8> = text.iter().copied().filter(|b| !b.is_ascii_whitespace()).collect();
        STANDARD.decode(text).ok()
    };
    let once = decode(data.as_bytes())?;
    if once.contains(&b'-') {
        return Some(once);
    }
    Some(decode(&once).filter(|twice| twice.contains(&b'-')).unwrap_or(once))
}
