use std::sync::Arc;

use jiff::Timestamp;
use serde_json::Value;

use super::Version;
use crate::config::Secret;
use crate::config::credential::{IssuedCert, Login};
use crate::error::ExecProblem;
use crate::yaml;

/// What a plugin gave.
pub(in crate::config) struct Output {
    pub(super) login: Login,
    pub(super) ends: Option<Timestamp>,
}

impl Output {
    pub(super) fn parse(bytes: &[u8], version: Version) -> Result<Self, ExecProblem> {
        let text = yaml::decode(bytes).ok_or(ExecProblem::NotAnExecCredential)?;
        let root = yaml::first_document(&text).map_err(|_| ExecProblem::NotAnExecCredential)?;
        if root.get("kind").and_then(Value::as_str) != Some("ExecCredential") {
            return Err(ExecProblem::NotAnExecCredential);
        }
        if root.get("apiVersion").and_then(Value::as_str) != Some(version.name()) {
            return Err(ExecProblem::OtherVersion { expected: version.name() });
        }
        let status = root.get("status").and_then(Value::as_object);
        let status = status.ok_or(ExecProblem::Output { field: "status" })?;
        let text = |name: &str, field| match status.get(name) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text.as_str()).filter(|text| !text.is_empty())),
            Some(_) => Err(ExecProblem::Output { field }),
        };
        let token = text("token", "status.token")?;
        let cert = text("clientCertificateData", "status.clientCertificateData")?;
        let key = text("clientKeyData", "status.clientKeyData")?;
        let certificate = match (cert, key) {
            (Some(cert), Some(key)) => {
                Some(Arc::new(IssuedCert { cert: cert.to_owned(), key: Secret::new(key) }))
            }
            (Some(_), None) => return Err(ExecProblem::Output { field: "status.clientKeyData" }),
            (None, Some(_)) => {
                return Err(ExecProblem::Output { field: "status.clientCertificateData" });
            }
            (None, None) if token.is_none() => {
                return Err(ExecProblem::Output { field: "status.token" });
            }
            (None, None) => None,
        };
        let ends = text("expirationTimestamp", "status.expirationTimestamp")?
            .map(|text| {
                let field = "status.expirationTimestamp";
                text.parse().map_err(|_| ExecProblem::Output { field })
            })
            .transpose()?;
        Ok(Self { login: Login { authorization: token.map(Login::bearer), certificate }, ends })
    }
}
