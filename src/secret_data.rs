//! A core v1 Secret's `stringData`, merged into `data` as the API server would on a create.
//!
//! Server-side apply keeps what `stringData` once put into `data` even when a later apply drops
//! it, because no field manager owns it: so only `data` is ever applied.

use base64::Engine;
use base64::alphabet;
use base64::engine::general_purpose::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use serde_json::{Map, Value};

use crate::error::ManifestProblem;

/// Go's `base64.StdEncoding`: padded, without a look at the unused bits at the end.
const GO_STANDARD: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_allow_trailing_bits(true)
        .with_decode_padding_mode(DecodePaddingMode::RequireCanonical),
);

pub(crate) fn normalize(secret: &mut Map<String, Value>) -> Result<(), ManifestProblem> {
    if let Some(strings) = secret.remove("stringData") {
        let Value::Object(strings) = strings else {
            return Err(ManifestProblem::SecretShape { field: "stringData" });
        };
        let data = secret.entry("data").or_insert_with(|| Value::Object(Map::new()));
        let Value::Object(data) = data else {
            return Err(ManifestProblem::SecretShape { field: "data" });
        };
        for (key, value) in strings {
            let Value::String(value) = value else {
                return Err(ManifestProblem::SecretShape { field: "stringData" });
            };
            data.insert(key, Value::String(STANDARD.encode(value)));
        }
    }
    match secret.get("data") {
        None | Some(Value::Null) => Ok(()),
        Some(Value::Object(data)) => data.iter().try_for_each(|(key, value)| match value {
            Value::Null => Ok(()),
            Value::String(text) if is_go_base64(text) => Ok(()),
            _ => Err(ManifestProblem::SecretNotBase64 { key: key.clone() }),
        }),
        Some(_) => Err(ManifestProblem::SecretShape { field: "data" }),
    }
}

/// Go skips line breaks wherever they stand.
fn is_go_base64(text: &str) -> bool {
    let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
    GO_STANDARD.decode(text).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_what_go_takes() {
        let taken = ["", "Yg==", "Y\r\ng=\n=", "YWI=", "YWJj", "Yh==", "+/+/"];
        let refused = ["Yg", "Yg=", "Y g==", "-_-_", "Yg==Yg==", "=", "not base64!", "\t"];
        assert!(taken.iter().all(|text| is_go_base64(text)));
        for text in refused {
            assert!(!is_go_base64(text), "{text:?}");
        }
    }
}
