//! Who the server is: webpki's rules, and one of Go's that kubeconfigs rely on.

use std::fmt;
use std::sync::{Arc, OnceLock};

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, DigitallySignedStruct, Error, OtherError, RootCertStore, SignatureScheme,
};

use super::certificate::{describe, rfc3339, validity};
use super::roots::system_roots;
use crate::error::{CertificateError as NotAccepted, CertificateProblem};

/// What the server's certificate is measured by.
pub(super) enum Trust {
    /// The configured CAs.
    Certificates(Vec<CertificateDer<'static>>),
    /// The system's roots, read at the first handshake, and these.
    System(Vec<CertificateDer<'static>>),
    /// Nothing.
    Anyone,
}

pub(super) struct Verifier {
    who: &'static str,
    trust: Trust,
    /// The same in words.
    trusted: String,
    provider: Arc<CryptoProvider>,
    webpki: OnceLock<Result<Arc<WebPkiServerVerifier>, Error>>,
}

impl Verifier {
    pub(super) fn new(
        who: &'static str,
        trust: Trust,
        trusted: String,
        provider: Arc<CryptoProvider>,
    ) -> Self {
        Self { who, trust, trusted, provider, webpki: OnceLock::new() }
    }

    fn webpki(&self) -> Result<&WebPkiServerVerifier, Error> {
        let built = self.webpki.get_or_init(|| {
            let mut roots = RootCertStore::empty();
            let certificates = match &self.trust {
                Trust::Certificates(certificates) => certificates.clone(),
                Trust::System(more) => [system_roots(), more.clone()].concat(),
                Trust::Anyone => Vec::new(),
            };
            roots.add_parsable_certificates(certificates);
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), self.provider.clone())
                .build()
                .map_err(|_| Error::General(format!("no CA among {}", self.trusted)))
        });
        built.as_ref().map(|webpki| &**webpki).map_err(Clone::clone)
    }

    /// Go accepts a server certificate that is itself among the configured ones, CA or not, when
    /// its name and dates fit. A self-signed server's kubeconfig holds just that.
    fn is_configured_itself(
        &self,
        end_entity: &CertificateDer<'_>,
        name: &ServerName<'_>,
        now: UnixTime,
    ) -> Option<Result<(), Error>> {
        let (Trust::Certificates(certificates) | Trust::System(certificates)) = &self.trust else {
            return None;
        };
        if !certificates.iter().any(|certificate| **certificate == **end_entity) {
            return None;
        }
        Some(ParsedCertificate::try_from(end_entity).and_then(|parsed| {
            rustls::client::verify_server_name(&parsed, name)?;
            let bad = || Error::from(CertificateError::BadEncoding);
            let (not_before, not_after) = validity(end_entity).ok_or_else(bad)?;
            if now < not_before {
                return Err(CertificateError::NotValidYetContext { time: now, not_before }.into());
            }
            if now > not_after {
                return Err(CertificateError::ExpiredContext { time: now, not_after }.into());
            }
            Ok(())
        }))
    }

    /// The error in words that name what was presented, what was expected and what to do.
    fn explained(
        &self,
        end_entity: &CertificateDer<'_>,
        name: &ServerName<'_>,
        error: Error,
    ) -> Error {
        use CertificateError as Reason;
        let Error::InvalidCertificate(reason) = error else { return error };
        let is = |text: &str| format!("{reason:?}").contains(text);
        let problem = match &reason {
            Reason::NotValidForName | Reason::NotValidForNameContext { .. } => {
                CertificateProblem::Name
            }
            Reason::UnknownIssuer => CertificateProblem::Issuer,
            Reason::ExpiredContext { time, not_after } => {
                CertificateProblem::Ended { at: rfc3339(*not_after), now: rfc3339(*time) }
            }
            Reason::NotValidYetContext { time, not_before } => {
                CertificateProblem::NotBegun { at: rfc3339(*not_before), now: rfc3339(*time) }
            }
            _ if is("CaUsedAsEndEntity") => CertificateProblem::AuthorityAsServer,
            _ if is("UnsupportedSignature") || is("BadSignature") => CertificateProblem::Signature,
            other => CertificateProblem::Other(format!("is not accepted: {other}")),
        };
        let error = NotAccepted {
            who: self.who,
            name: name.to_str().into_owned(),
            presented: describe(end_entity),
            trusted: self.trusted.clone(),
            problem,
        };
        CertificateError::Other(OtherError(Arc::new(error))).into()
    }
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        if matches!(self.trust, Trust::Anyone) {
            return Ok(ServerCertVerified::assertion());
        }
        let verified = self.webpki().and_then(|webpki| {
            webpki.verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now)
        });
        let verified = match verified {
            Ok(verified) => Ok(verified),
            Err(error) => match self.is_configured_itself(end_entity, server_name, now) {
                Some(result) => result.map(|()| ServerCertVerified::assertion()),
                None => Err(error),
            },
        };
        verified.map_err(|error| self.explained(end_entity, server_name, error))
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Verifier")
    }
}
