use std::error::Error;
use std::fmt::{self, Write};

use super::one_line;

/// The certificate that the other side presented is not accepted: what it is, what was expected,
/// and which setting would mend it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CertificateError {
    /// Who presented it: `the server` or `the proxy`.
    pub(crate) who: &'static str,
    /// The name that was asked for.
    pub(crate) name: String,
    /// What was presented; `None` when it could not be read.
    pub(crate) presented: Option<Presented>,
    /// What it was measured by, with the setting where that comes from.
    pub(crate) trusted: String,
    pub(crate) problem: CertificateProblem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Presented {
    pub(crate) subject: String,
    pub(crate) issuer: String,
    pub(crate) names: Vec<String>,
}

/// Points of time are written as RFC 3339 writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CertificateProblem {
    Name,
    Issuer,
    Ended { at: String, now: String },
    NotBegun { at: String, now: String },
    AuthorityAsServer,
    Signature,
    Other(String),
}

impl fmt::Display for CertificateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { who, name, presented, trusted, problem } = self;
        let name = one_line(name);
        match presented {
            None => write!(f, "{who}'s certificate cannot be read, and ")?,
            Some(Presented { subject, issuer, names }) => {
                let names = if names.is_empty() { "no name".to_owned() } else { listed(names) };
                let (subject, issuer) = (one_line(subject), one_line(issuer));
                write!(f, "{who}'s certificate ({subject}, issued by {issuer}, for {names}) ")?;
            }
        }
        match problem {
            CertificateProblem::Name if *who == "the server" => write!(
                f,
                "is not for {name}: set tls-server-name to one of its names, or correct server"
            ),
            CertificateProblem::Name => write!(f, "is not for {name}: correct the proxy's URL"),
            CertificateProblem::Issuer => write!(
                f,
                "is not signed by {trusted}: certificate-authority or certificate-authority-data \
                 has to hold the CA that issued it, or the certificate itself"
            ),
            CertificateProblem::Ended { at, now } => {
                write!(f, "ended at {at} (it is {now} here): it has to be renewed")
            }
            CertificateProblem::NotBegun { at, now } => {
                write!(f, "begins at {at} (it is {now} here): compare the clocks")
            }
            CertificateProblem::AuthorityAsServer => f.write_str(
                "is a CA's, which only serves when that certificate itself is in \
                 certificate-authority-data",
            ),
            CertificateProblem::Signature => f.write_str(
                "is signed in a way that is not accepted: an RSA key below 2048 bits, SHA-1, or \
                 P-521, for which the program has to install another rustls CryptoProvider",
            ),
            CertificateProblem::Other(text) => f.write_str(&one_line(text)),
        }
    }
}

/// The first few of what can be many.
pub(crate) fn listed(names: &[String]) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (i, name) in names.iter().take(SHOWN).enumerate() {
        text.push_str(if i == 0 { "" } else { ", " });
        text.push_str(&one_line(name));
    }
    if let Some(more) = names.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        // Writing to a `String` does not fail.
        let _ = write!(text, " and {more} more");
    }
    text
}

impl Error for CertificateError {}
