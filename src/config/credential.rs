use std::fmt;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// Text that no `Debug` shows.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Secret(String);

impl Secret {
    pub(crate) fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

/// What goes into the `Authorization` header. Clients of one configuration share it, so that a
/// token read by one serves all.
pub(crate) struct Credential {
    field: ConfigField,
    token: Token,
}

enum Token {
    Fixed(Secret),
    File { path: PathBuf, last: Mutex<Option<(Secret, Instant)>> },
}

/// As client-go: a service account's token is rotated long before it ends, and the mounted file
/// follows within a minute.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(50);

impl Credential {
    pub(super) fn token(token: &str, field: ConfigField) -> Self {
        let token = token.trim_end_matches(['\r', '\n']).to_owned();
        Self { field, token: Token::Fixed(Secret(token)) }
    }

    /// A file that holds the token. It has to be readable now; later its last good content is
    /// kept.
    pub(super) fn token_file(path: PathBuf, field: ConfigField) -> Result<Self, ConfigError> {
        let bytes = super::read(path.clone(), Some(field.clone()))?;
        let last = trimmed(&bytes)
            .ok_or(ConfigError::Invalid { field: field.clone(), problem: ConfigProblem::Needed })?;
        let last = Mutex::new(Some((last, Instant::now())));
        Ok(Self { field, token: Token::File { path, last } })
    }

    pub(crate) fn field(&self) -> &ConfigField {
        &self.field
    }

    /// Whether the value could stand in a header, without showing it.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.bearer(Instant::now()).map(drop)
    }

    /// The token to send with a request that is made `now`.
    pub(crate) fn bearer(&self, now: Instant) -> Result<Secret, ConfigError> {
        let token = match &self.token {
            Token::Fixed(token) => token.clone(),
            Token::File { path, last } => {
                let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
                let kept = last.take();
                let fresh = |(_, read): &(Secret, Instant)| {
                    now.saturating_duration_since(*read) < READ_AGAIN_AFTER
                };
                let (token, read) = match kept {
                    Some(kept) if fresh(&kept) => kept,
                    kept => match (std::fs::read(path).ok().and_then(|b| trimmed(&b)), kept) {
                        (Some(token), _) => (token, now),
                        (None, Some(kept)) => kept,
                        (None, None) => return Err(self.invalid(ConfigProblem::Needed)),
                    },
                };
                *last = Some((token.clone(), read));
                token
            }
        };
        if token.0.is_empty() {
            return Err(self.invalid(ConfigProblem::Needed));
        }
        if !token.0.bytes().all(|b| matches!(b, b'\t' | b' '..=b'~' | 0x80..)) {
            return Err(self.refused());
        }
        Ok(token)
    }

    /// What to say when the token turns out to be no header value after all.
    pub(crate) fn refused(&self) -> ConfigError {
        self.invalid(ConfigProblem::NotAHeaderValue)
    }

    fn invalid(&self, problem: ConfigProblem) -> ConfigError {
        ConfigError::Invalid { field: self.field.clone(), problem }
    }
}

/// The file's text without the line break that editors put at its end.
fn trimmed(bytes: &[u8]) -> Option<Secret> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    (!text.is_empty()).then(|| Secret(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field() -> ConfigField {
        ConfigField::setter("tokenFile")
    }

    #[test]
    fn a_token_file_is_read_again_and_its_last_good_content_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, " one\r\n").unwrap();
        let credential = Credential::token_file(path.clone(), field()).unwrap();
        let start = Instant::now();
        let at = |seconds| {
            let token = credential.bearer(start + Duration::from_secs(seconds)).unwrap();
            token.expose().to_owned()
        };
        assert_eq!(at(0), "one");
        std::fs::write(&path, "two").unwrap();
        assert_eq!(at(40), "one");
        assert_eq!(at(60), "two");
        std::fs::write(&path, "\n").unwrap();
        assert_eq!(at(120), "two");
        std::fs::remove_file(&path).unwrap();
        assert_eq!(at(180), "two");
        std::fs::write(&path, "three").unwrap();
        assert_eq!(at(181), "three");
    }

    #[test]
    fn a_token_that_is_no_header_value_is_refused() {
        for (token, fits) in
            [("a", true), ("a\n", true), ("", false), ("a\nb", false), ("a\0", false)]
        {
            assert_eq!(Credential::token(token, field()).check().is_ok(), fits, "{token:?}");
        }
    }
}
