//! The id token of the auth provider `oidc`, used as it is while it is valid.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::Secret;
use crate::error::ConfigProblem;

pub(crate) struct IdToken {
    token: Secret,
    ends: Timestamp,
}

impl IdToken {
    pub(super) fn parse(token: &str) -> Result<Self, ConfigProblem> {
        let ends = ends(token).ok_or(ConfigProblem::NotAnIdToken)?;
        Ok(Self { token: Secret::new(token), ends })
    }

    /// client-go's ten seconds: the token has to last until the server looks at it.
    pub(super) fn token(&self, now: Timestamp) -> Result<&Secret, ConfigProblem> {
        if now + SignedDuration::from_secs(10) < self.ends {
            Ok(&self.token)
        } else {
            Err(ConfigProblem::IdTokenEnded { at: self.ends.to_string() })
        }
    }
}

/// The claim `exp`. The signature is the server's to check.
fn ends(token: &str) -> Option<Timestamp> {
    let mut parts = token.split('.');
    let (Some(_), Some(claims), Some(_), None) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return None;
    };
    let claims = URL_SAFE_NO_PAD.decode(claims.trim_end_matches('=')).ok()?;
    let claims: Value = serde_json::from_slice(&claims).ok()?;
    let seconds = claims.get("exp")?;
    // Some issuers write a number with a fraction.
    #[allow(
        clippy::cast_possible_truncation,
        reason = "a cast saturates, and jiff checks the range"
    )]
    let seconds = seconds.as_i64().or_else(|| seconds.as_f64().map(|seconds| seconds as i64))?;
    Timestamp::from_second(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(claims: &str) -> String {
        format!("h.{}.s", URL_SAFE_NO_PAD.encode(claims))
    }

    #[test]
    fn a_token_is_used_until_shortly_before_its_end() {
        let id_token = IdToken::parse(&token(r#"{"exp": 1000}"#)).ok().unwrap();
        let at = |second| id_token.token(Timestamp::from_second(second).unwrap()).is_ok();
        assert!(at(0) && at(989));
        assert!(!at(990) && !at(2000));
        let ended = id_token.token(Timestamp::from_second(2000).unwrap());
        let expected = ConfigProblem::IdTokenEnded { at: "1970-01-01T00:16:40Z".to_owned() };
        assert_eq!(ended.err(), Some(expected));
    }

    #[test]
    fn what_does_not_say_when_it_ends_is_refused() {
        assert!(IdToken::parse(&token(r#"{"exp": 1000.5}"#)).is_ok());
        for claims in ["{}", "x", r#"{"exp": "soon"}"#, r#"{"exp": 1e300}"#, "[]"] {
            assert!(IdToken::parse(&token(claims)).is_err(), "{claims}");
        }
        for text in ["", "a.b", "a.b.c", "a.b.c.d", "a.é.c"] {
            assert!(IdToken::parse(text).is_err(), "{text}");
        }
    }
}
