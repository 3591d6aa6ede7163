//! What stands behind an error of ureq, in words that name the setting to look at.

use std::error::Error;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError, InvalidMessage};
use ureq::Timeout;

use crate::Timeouts;
use crate::config::Config;
use crate::error::{CertificateError as NotAccepted, ConfigField, Phase};

type Cause = Box<dyn Error + Send + Sync>;

/// Whether the connection ended under the request, which happens to those that were idle.
pub(super) fn died(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else { return false };
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionAborted
            | io::ErrorKind::BrokenPipe
    ) && error.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>())
}

pub(super) fn is_timeout(error: &ureq::Error) -> bool {
    match error {
        ureq::Error::Timeout(_) => true,
        ureq::Error::Io(error) => error.kind() == io::ErrorKind::TimedOut,
        _ => false,
    }
}

/// Whether something came that is no answer of HTTP/1.1 as it should be.
pub(super) fn is_no_answer(error: &ureq::Error) -> bool {
    matches!(error, ureq::Error::Protocol(_) | ureq::Error::LargeResponseHeader(..))
}

/// ureq's errors wrap what happened and do not tell through `source`.
pub(super) fn cause(
    error: ureq::Error,
    phase: Phase,
    timeouts: Timeouts,
    config: &Config,
) -> Cause {
    let cause = match error {
        ureq::Error::Io(error) if died_at_end(&error) => CLOSED.into(),
        ureq::Error::Io(error) if error.get_ref().is_some() => match error.into_inner() {
            Some(inner) => match inner.downcast::<rustls::Error>() {
                Ok(error) => tls_cause(*error, config),
                Err(inner) => inner,
            },
            None => "the connection failed".into(),
        },
        ureq::Error::Io(error) => error.into(),
        ureq::Error::Decompress(_, error) => match error.kind() {
            io::ErrorKind::UnexpectedEof => "its gzip ends too early, or is none".into(),
            _ => "its gzip is damaged".into(),
        },
        ureq::Error::Timeout(reason) => timed_out(reason, timeouts).into(),
        ureq::Error::Rustls(error) => tls_cause(error, config),
        ureq::Error::Protocol(error) if phase == Phase::Answer => {
            format!("it is no sound HTTP/1.1: is this the right port? ({error})").into()
        }
        ureq::Error::Other(error) => error,
        error => error.into(),
    };
    match &config.proxy {
        Some(proxy) if phase == Phase::Connect => {
            Box::new(ThroughProxy { proxy: format!("{proxy:?}"), cause })
        }
        _ => cause,
    }
}

const CLOSED: &str = "the other side closed the connection";

fn died_at_end(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::UnexpectedEof
        && error.get_ref().is_none_or(|inner| !inner.is::<rustls::Error>())
}

fn timed_out(reason: Timeout, timeouts: Timeouts) -> String {
    let (what, bound, setting) = match reason {
        Timeout::Connect => ("no connection", timeouts.connect(), "connect"),
        Timeout::PerRead => ("nothing came", timeouts.read(), "read"),
        Timeout::PerWrite => ("nothing could be sent", timeouts.read(), "read"),
        // The operation's own deadline.
        _ => return "time ran out".to_owned(),
    };
    format!("{what} within {bound:?} (Timeouts::{setting})")
}

fn tls_cause(error: rustls::Error, config: &Config) -> Cause {
    match &error {
        rustls::Error::InvalidCertificate(CertificateError::Other(other)) => {
            match other.0.downcast_ref::<NotAccepted>() {
                Some(not_accepted) => Box::new(not_accepted.clone()),
                None => error.into(),
            }
        }
        rustls::Error::InvalidMessage(InvalidMessage::InvalidContentType) => {
            "the other side does not speak TLS: is this a port for http://?".into()
        }
        rustls::Error::AlertReceived(alert) if is_about_a_client_certificate(*alert) => {
            let pair = config.client_cert.as_ref().map(|pair| pair.cert.field.clone());
            let plugin = || config.credential.as_ref().map(|credential| credential.field().clone());
            Box::new(Refused { alert: *alert, field: pair.or_else(plugin) })
        }
        _ => error.into(),
    }
}

fn is_about_a_client_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::CertificateRequired
    )
}

/// What happened while connecting by way of a proxy.
#[derive(Debug)]
struct ThroughProxy {
    proxy: String,
    cause: Cause,
}

impl fmt::Display for ThroughProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "through the proxy {}", self.proxy)
    }
}

impl Error for ThroughProxy {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        Some(&*self.cause)
    }
}

/// The server ended the handshake over the certificate that this side presented, or did not.
#[derive(Debug)]
struct Refused {
    alert: AlertDescription,
    field: Option<ConfigField>,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the server refused the client's certificate ({:?}): ", self.alert)?;
        match &self.field {
            Some(field) => write!(f, "look at {field}"),
            None => f.write_str("none is configured (client-certificate, client-key)"),
        }
    }
}

impl Error for Refused {}
