use std::sync::Arc;
use std::time::Duration;

use super::document::Entry;
use super::exec;
use super::pem::pem;
use crate::config::environment::Environment;
use crate::config::id_token::IdToken;
use crate::config::{ClientCert, Config, Credential, Impersonation};
use crate::error::{ConfigError, ConfigProblem};

/// Kubelets and cert-manager replace the files; client-go looks at them at every handshake, no
/// oftener than this.
const CERT_READ_AGAIN_AFTER: Duration = Duration::from_secs(1);

pub(super) fn apply(
    user: &Entry<'_>,
    cluster: &Entry<'_>,
    environment: &Environment,
    config: &mut Config,
) -> Result<(), ConfigError> {
    let fixed = fixed_credential(user)?;
    config.client_cert = client_cert(user)?;
    let plugin = user.mapping("exec")?;
    let provider = user.mapping("auth-provider")?;
    if let Some(plugin) = &plugin {
        exec::check(plugin)?;
        if provider.is_some() {
            return Err(user.invalid("exec", ConfigProblem::Beside { other: "auth-provider" }));
        }
    }
    config.impersonation = impersonation(user)?;
    let from_provider = match &provider {
        Some(provider) => {
            check_provider(provider)?;
            fixed.is_none().then(|| id_token(provider)).transpose()?
        }
        None => None,
    };
    // As client-go: what is written down disables the plugin, a certificate too.
    config.credential = match (fixed, plugin) {
        (Some(fixed), _) => Some(fixed),
        (None, Some(plugin)) if config.client_cert.is_none() => {
            Some(Credential::exec(exec::plugin(user, &plugin, cluster, environment, config)?))
        }
        (None, _) => from_provider,
    }
    .map(Arc::new);
    Ok(())
}

/// A token, which the file gives when it can be read, or basic authentication, never both.
fn fixed_credential(user: &Entry<'_>) -> Result<Option<Credential>, ConfigError> {
    let token = user.string("token")?;
    let token_file = user.path("tokenFile")?;
    let (name, password) = (user.string("username")?, user.string("password")?);
    if name.is_some() || password.is_some() {
        let field = if name.is_some() { "username" } else { "password" };
        let other = match (&token, &token_file) {
            (None, None) => {
                let (name, password) = (name.unwrap_or_default(), password.unwrap_or_default());
                return Ok(Some(Credential::basic(&name, &password, user.field(field))));
            }
            (Some(_), _) => "token",
            (None, Some(_)) => "tokenFile",
        };
        return Err(user.invalid(field, ConfigProblem::Beside { other }));
    }
    if let Some(file) = token_file {
        match (Credential::token_file(file, user.field("tokenFile")), &token) {
            (Ok(credential), _) => return Ok(Some(credential)),
            (Err(error), None) => return Err(error),
            (Err(_), Some(_)) => {}
        }
    }
    Ok(token.map(|token| Credential::token(&token, user.field("token"))))
}

fn client_cert(user: &Entry<'_>) -> Result<Option<ClientCert>, ConfigError> {
    // A key without a certificate is nothing to log in with, and ignored.
    let Some(cert) = pem(user, "client-certificate", CERT_READ_AGAIN_AFTER)? else {
        return Ok(None);
    };
    let key =
        pem(user, "client-key", CERT_READ_AGAIN_AFTER)?.ok_or_else(|| user.needed("client-key"))?;
    Ok(Some(ClientCert { cert, key }))
}

fn impersonation(user: &Entry<'_>) -> Result<Option<Impersonation>, ConfigError> {
    let uid = user.string("as-uid")?;
    let groups = user.strings("as-groups")?;
    let mut extra = Vec::new();
    if let Some(fields) = user.mapping("as-user-extra")? {
        for name in fields.fields() {
            for value in fields.strings(name)? {
                extra.push((name.clone(), value));
            }
        }
    }
    let Some(name) = user.string("as")? else {
        let set = [
            ("as-uid", uid.is_some()),
            ("as-groups", !groups.is_empty()),
            ("as-user-extra", !extra.is_empty()),
        ];
        return match set.into_iter().find(|(_, is_set)| *is_set) {
            Some((field, _)) => Err(user.invalid(field, ConfigProblem::Without { other: "as" })),
            None => Ok(None),
        };
    };
    let mut impersonation = Impersonation::user(name);
    if let Some(uid) = uid {
        impersonation = impersonation.uid(uid);
    }
    impersonation = groups.into_iter().fold(impersonation, Impersonation::group);
    let with_extra = |i: Impersonation, (name, value)| i.extra(name, value);
    Ok(Some(extra.into_iter().fold(impersonation, with_extra)))
}

/// Kubernetes 1.26 took the providers of clouds out, and refuses them by name.
fn check_provider(provider: &Entry<'_>) -> Result<(), ConfigError> {
    let problem = match provider.string("name")?.as_deref() {
        None => ConfigProblem::Needed,
        Some("oidc") => return Ok(()),
        Some("gcp") => ConfigProblem::ReplacedProvider { plugin: "gke-gcloud-auth-plugin" },
        Some("azure") => ConfigProblem::ReplacedProvider { plugin: "kubelogin" },
        Some(_) => ConfigProblem::UnknownProvider,
    };
    Err(provider.invalid("name", problem))
}

fn id_token(provider: &Entry<'_>) -> Result<Credential, ConfigError> {
    let settings = provider.mapping("config")?.ok_or_else(|| provider.needed("config"))?;
    for needed in ["idp-issuer-url", "client-id"] {
        settings.string(needed)?.ok_or_else(|| settings.needed(needed))?;
    }
    let token = settings.string("id-token")?.ok_or_else(|| settings.needed("id-token"))?;
    let token = IdToken::parse(&token).map_err(|problem| settings.invalid("id-token", problem))?;
    Ok(Credential::id_token(token, settings.field("id-token")))
}
