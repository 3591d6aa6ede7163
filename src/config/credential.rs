use std::error::Error;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;

use super::exec::Plugin;
use super::file::RotatedFile;
use super::id_token::IdToken;
use super::impersonation::is_header_value;
use super::{ConfigField, Secret};
use crate::error::{ConfigError, ConfigProblem};

/// Who a client is to the server, but for a client certificate of its own. Clients of one
/// configuration share it, so that a token read by one serves all.
pub(crate) struct Credential {
    field: ConfigField,
    source: Source,
}

enum Source {
    /// The whole header.
    Fixed(Secret),
    File(RotatedFile),
    Callback(Box<TokenCallback>),
    Exec(Box<Plugin>),
    IdToken(IdToken),
}

type TokenCallback = dyn Fn() -> Result<String, Box<dyn Error + Send + Sync>> + Send + Sync;

/// What one request logs in with.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Login {
    /// The `Authorization` header.
    pub(crate) authorization: Option<Secret>,
    pub(crate) certificate: Option<Arc<IssuedCert>>,
}

/// A client certificate and its key that a plugin gave, in PEM.
#[derive(PartialEq, Eq)]
pub(crate) struct IssuedCert {
    pub(crate) cert: String,
    pub(crate) key: Secret,
}

impl fmt::Debug for IssuedCert {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IssuedCert(..)")
    }
}

/// As client-go: a service account's token is rotated long before it ends, and the mounted file
/// follows within a minute.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(50);

impl Credential {
    pub(super) fn token(token: &str, field: ConfigField) -> Self {
        // The line break that a file or a YAML block leaves at its end.
        let token = token.trim_end_matches(['\r', '\n']);
        Self { field, source: Source::Fixed(Login::bearer(token)) }
    }

    /// A file that holds the token. It has to be readable now; later its last good content is
    /// kept.
    pub(super) fn token_file(path: PathBuf, field: ConfigField) -> Result<Self, ConfigError> {
        let is_good = |bytes: &[u8]| trimmed(bytes).is_some();
        let file = RotatedFile::open(path, &field, READ_AGAIN_AFTER, is_good)?;
        Ok(Self { field, source: Source::File(file) })
    }

    pub(super) fn basic(user: &str, password: &str, field: ConfigField) -> Self {
        let header = format!("Basic {}", STANDARD.encode(format!("{user}:{password}")));
        Self { field, source: Source::Fixed(Secret::new(header)) }
    }

    pub(super) fn callback(callback: Box<TokenCallback>, field: ConfigField) -> Self {
        Self { field, source: Source::Callback(callback) }
    }

    pub(super) fn exec(plugin: Plugin) -> Self {
        Self { field: plugin.field.clone(), source: Source::Exec(Box::new(plugin)) }
    }

    pub(super) fn id_token(token: IdToken, field: ConfigField) -> Self {
        Self { field, source: Source::IdToken(token) }
    }

    pub(crate) fn field(&self) -> &ConfigField {
        &self.field
    }

    pub(crate) fn is_basic(&self) -> bool {
        matches!(&self.source, Source::Fixed(header) if header.expose().starts_with("Basic "))
    }

    /// What can be told without asking anybody: whether the value could stand in a header.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        match self.source {
            Source::Callback(_) | Source::Exec(_) => Ok(()),
            _ => self.login(Instant::now()).map(drop),
        }
    }

    /// What to send with a request that is made `now`.
    pub(crate) fn login(&self, now: Instant) -> Result<Login, ConfigError> {
        match &self.source {
            Source::Fixed(header) => self.checked(header.clone()),
            Source::File(file) => self.file_login(&file.content(now)),
            Source::Callback(callback) => {
                let token = callback().map_err(|source| ConfigError::TokenCallback { source })?;
                self.checked(Login::bearer(token.trim_end_matches(['\r', '\n'])))
            }
            Source::Exec(plugin) => plugin.login(),
            Source::IdToken(token) => {
                let token = token.token(Timestamp::now()).map_err(|p| self.invalid(p))?;
                self.checked(Login::bearer(token.expose()))
            }
        }
    }

    /// What to send after the server did not accept `refused`; `None` when that is all there is.
    pub(crate) fn login_again(
        &self,
        refused: &Login,
        now: Instant,
    ) -> Result<Option<Login>, ConfigError> {
        let login = match &self.source {
            Source::Fixed(_) | Source::IdToken(_) => return Ok(None),
            Source::File(file) => self.file_login(&file.content_now(now))?,
            Source::Callback(_) => self.login(now)?,
            Source::Exec(plugin) => plugin.login_again(refused)?,
        };
        Ok(Some(login).filter(|login| login != refused))
    }

    fn file_login(&self, bytes: &[u8]) -> Result<Login, ConfigError> {
        let token = trimmed(bytes).ok_or_else(|| self.invalid(ConfigProblem::Needed))?;
        self.checked(Login::bearer(token))
    }

    fn checked(&self, header: Secret) -> Result<Login, ConfigError> {
        if header.expose() == BEARER {
            return Err(self.invalid(ConfigProblem::Needed));
        }
        let login = Login { authorization: Some(header), certificate: None };
        if login.has_unusable_header() {
            return Err(self.invalid(ConfigProblem::NotAHeaderValue));
        }
        Ok(login)
    }

    fn invalid(&self, problem: ConfigProblem) -> ConfigError {
        ConfigError::Invalid { field: self.field.clone(), problem }
    }
}

const BEARER: &str = "Bearer ";

impl Login {
    pub(super) fn bearer(token: &str) -> Secret {
        Secret::new(format!("{BEARER}{token}"))
    }

    pub(super) fn has_unusable_header(&self) -> bool {
        self.authorization.as_ref().is_some_and(|header| !is_header_value(header.expose()))
    }
}

/// The file's text without the line break that editors put at its end.
fn trimmed(bytes: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(bytes).ok()?.trim();
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field() -> ConfigField {
        ConfigField::setter("tokenFile")
    }

    fn header(login: &Login) -> String {
        login.authorization.as_ref().unwrap().expose().to_owned()
    }

    #[test]
    fn a_token_file_is_read_again_and_its_last_good_content_kept() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, " one\r\n").unwrap();
        let credential = Credential::token_file(path.clone(), field()).unwrap();
        let start = Instant::now();
        let at = |seconds| {
            let login = credential.login(start + Duration::from_secs(seconds)).unwrap();
            header(&login).strip_prefix("Bearer ").unwrap().to_owned()
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
    fn a_refused_token_is_looked_for_anew_and_told_only_when_it_differs() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        std::fs::write(&path, "one").unwrap();
        let credential = Credential::token_file(path.clone(), field()).unwrap();
        let now = Instant::now();
        let one = credential.login(now).unwrap();
        assert_eq!(credential.login_again(&one, now).unwrap(), None);
        std::fs::write(&path, "two").unwrap();
        let two = credential.login_again(&one, now).unwrap().unwrap();
        assert_eq!(header(&two), "Bearer two");
        assert_eq!(credential.login(now).unwrap(), two, "and it stays");
        let fixed = Credential::token("a", field());
        assert_eq!(fixed.login_again(&fixed.login(now).unwrap(), now).unwrap(), None);
    }

    #[test]
    fn a_token_that_is_no_header_value_is_refused() {
        for (token, fits) in
            [("a", true), ("a\n", true), ("", false), ("a\nb", false), ("a\0", false)]
        {
            assert_eq!(Credential::token(token, field()).check().is_ok(), fits, "{token:?}");
        }
    }

    #[test]
    fn basic_authentication_is_one_header() {
        let credential = Credential::basic("u", "", field());
        assert_eq!(header(&credential.login(Instant::now()).unwrap()), "Basic dTo=");
    }
}
