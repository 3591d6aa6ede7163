use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::{ExecError, one_line};

/// The cluster's address or the credentials cannot be used. Nothing was sent.
#[derive(Debug)]
#[non_exhaustive]
pub enum ConfigError {
    /// No kubeconfig names a context to use, and no context was asked for.
    NotConfigured {
        /// The files that were looked for, whether they exist or not.
        files: Vec<PathBuf>,
    },
    /// This process does not run in a pod, or its service account is not mounted.
    NotInCluster {
        /// What is missing: an environment variable or a file.
        missing: String,
    },
    /// A context, or the cluster that a context names, is in none of the files.
    Missing {
        /// `context` or `cluster`.
        kind: &'static str,
        /// The name that was looked for.
        name: String,
        /// The files that were read.
        files: Vec<PathBuf>,
    },
    /// A file cannot be read.
    Read {
        /// The file.
        path: PathBuf,
        /// What names the file, when it is not the kubeconfig itself.
        field: Option<ConfigField>,
        /// Why.
        source: io::Error,
    },
    /// A file is larger than anything that belongs there.
    TooLarge {
        /// The file.
        path: PathBuf,
        /// The bound, in bytes.
        limit: u64,
    },
    /// A kubeconfig is no YAML mapping, or its aliases make it many times as large as it is.
    Parse {
        /// The file.
        path: PathBuf,
        /// The line, counted from one, when the parser knows it.
        line: Option<usize>,
    },
    /// A field cannot be used.
    Invalid {
        /// Which one, and where it stands.
        field: ConfigField,
        /// What is wrong with it.
        problem: ConfigProblem,
    },
    /// A credential plugin did not give a credential.
    Exec(Box<ExecError>),
    /// The function given to [`bearer_token_with`](crate::Config::bearer_token_with) failed.
    TokenCallback {
        /// What it returned.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Where a setting comes from: a field of a kubeconfig, or a setter of [`Config`](crate::Config).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigField {
    name: String,
    entry: Option<String>,
    file: Option<PathBuf>,
}

impl ConfigField {
    /// A setting that the program made.
    pub(crate) fn setter(name: &str) -> Self {
        Self { name: name.to_owned(), entry: None, file: None }
    }

    pub(crate) fn in_file(file: PathBuf, entry: String, name: &str) -> Self {
        Self { name: name.to_owned(), entry: Some(entry), file: Some(file) }
    }

    /// A field of what this one leads to.
    pub(crate) fn within(&self, name: &str) -> Self {
        Self { name: name.to_owned(), ..self.clone() }
    }

    /// The field's name, as the kubeconfig or the setter spells it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The file, when it comes from one.
    #[must_use]
    pub fn file(&self) -> Option<&std::path::Path> {
        self.file.as_deref()
    }
}

impl fmt::Display for ConfigField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(entry) = &self.entry {
            write!(f, " of {}", one_line(entry))?;
        }
        if let Some(file) = &self.file {
            write!(f, " in {}", file.display())?;
        }
        Ok(())
    }
}

/// What is wrong with a setting.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// It is not of the type that the field has.
    NotA {
        /// That type.
        expected: &'static str,
        /// The type that it is of.
        found: &'static str,
    },
    /// It is absent or empty, and needed.
    Needed,
    /// It is set, and of no use without another field.
    Without {
        /// That field.
        other: &'static str,
    },
    /// It is not the only value, or none of the values, that there is.
    NotOneOf {
        /// Those values.
        supported: &'static str,
    },
    /// Two entries of one list have the name.
    DuplicateName,
    /// It is no absolute URL beginning with `https://` or `http://`.
    NotAUrl,
    /// It is no URL of an HTTP, HTTPS or SOCKS5 proxy.
    NotAProxyUrl,
    /// An `http://` server would have to be reached through an HTTP proxy, to which this library
    /// speaks `CONNECT` alone.
    HttpProxyWithoutTls,
    /// It is neither a DNS name nor an IP address.
    NotAServerName,
    /// The same thing is given a second time, in another field.
    Beside {
        /// That field.
        other: &'static str,
    },
    /// A credential would go to a server without TLS.
    NeedsHttps,
    /// It is not base64.
    NotBase64,
    /// It holds no PEM certificate that can be read.
    NoCertificate,
    /// It holds no PEM private key.
    NoPrivateKey,
    /// It holds a private key of a kind that the TLS provider cannot use.
    UnsupportedKey {
        /// The kind, when it is known: `P-521`, `RSA of 1024 bits`.
        kind: Option<String>,
    },
    /// The private key is encrypted.
    EncryptedKey,
    /// The key does not belong to the certificate, which has to be the first of its file.
    KeyMismatch,
    /// It cannot stand in an HTTP header.
    NotAHeaderValue,
    /// It supports neither TLS 1.2 nor TLS 1.3.
    NoTlsVersion,
    /// The auth provider was replaced by a credential plugin.
    ReplacedProvider {
        /// That plugin.
        plugin: &'static str,
    },
    /// There is no auth provider of this name.
    UnknownProvider,
    /// It is no JSON web token that says when it ends.
    NotAnIdToken,
    /// The id token has ended. It is not refreshed here, for that would mean writing to the
    /// kubeconfig.
    IdTokenEnded {
        /// When, as RFC 3339 writes it.
        at: String,
    },
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotA { expected, found } => write!(f, "must be a {expected}, and is a {found}"),
            Self::Needed => f.write_str("is absent or empty"),
            Self::Without { other } => write!(f, "is of no use without {other}"),
            Self::NotOneOf { supported } => write!(f, "must be {supported}"),
            Self::DuplicateName => f.write_str("occurs twice"),
            Self::NotAUrl => f.write_str("must be an absolute URL, https://host[:port][/path]"),
            Self::NotAProxyUrl => f.write_str(
                "must be a URL, http://, https:// or socks5://[user:password@]host[:port]",
            ),
            Self::HttpProxyWithoutTls => f.write_str(
                "is an HTTP proxy for an http:// server, which is not supported: use a socks5:// \
                 proxy, an https:// server, or exempt the server with NO_PROXY",
            ),
            Self::NotAServerName => f.write_str("must be a DNS name or an IP address"),
            Self::Beside { other } => write!(f, "cannot be given together with {other}"),
            Self::NeedsHttps => {
                f.write_str("would be sent without TLS: credentials need an https:// server")
            }
            Self::NotBase64 => f.write_str("is not base64"),
            Self::NoCertificate => f.write_str("holds no PEM certificate that can be read"),
            Self::NoPrivateKey => f.write_str("holds no PEM private key"),
            Self::UnsupportedKey { kind } => {
                write!(f, "holds a private key of an unsupported kind")?;
                if let Some(kind) = kind {
                    write!(f, " ({kind})")?;
                }
                f.write_str(
                    ": P-256, P-384, Ed25519 and RSA of 2048 to 4096 bits work; for others the \
                     program has to install another rustls CryptoProvider (aws-lc-rs knows P-521)",
                )
            }
            Self::EncryptedKey => f.write_str("is encrypted: give the key without a passphrase"),
            Self::KeyMismatch => {
                f.write_str("does not belong to the client certificate, the first of its file")
            }
            Self::NotAHeaderValue => f.write_str("holds characters that no HTTP header can"),
            Self::NoTlsVersion => f.write_str("supports neither TLS 1.2 nor TLS 1.3"),
            Self::ReplacedProvider { plugin } => {
                write!(f, "is gone from Kubernetes: use {plugin} as an exec plugin")
            }
            Self::UnknownProvider => {
                f.write_str("is no auth provider that there is: use an exec plugin")
            }
            Self::NotAnIdToken => {
                f.write_str("is no JSON web token with an end: log in again, or use an exec plugin")
            }
            Self::IdTokenEnded { at } => write!(
                f,
                "ended at {at} and is not refreshed: log in again, or use an exec plugin such as \
                 kubelogin"
            ),
        }
    }
}

fn list(f: &mut fmt::Formatter<'_>, files: &[PathBuf]) -> fmt::Result {
    if files.is_empty() {
        return f.write_str("no file");
    }
    for (i, file) in files.iter().enumerate() {
        write!(f, "{}{}", if i == 0 { "" } else { ", " }, file.display())?;
    }
    Ok(())
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotConfigured { files } => {
                f.write_str("no context to use: set current-context, or KUBECONFIG; looked at ")?;
                list(f, files)
            }
            Self::NotInCluster { missing } => {
                write!(f, "not in a pod with a service account: {missing} is missing")
            }
            Self::Missing { kind, name, files } => {
                write!(f, "no {kind} \"{}\" in ", one_line(name))?;
                list(f, files)
            }
            Self::Read { path, field: None, .. } => write!(f, "cannot read {}", path.display()),
            Self::Read { path, field: Some(field), .. } => {
                write!(f, "cannot read {}, the {field}", path.display())
            }
            Self::TooLarge { path, limit } => {
                write!(f, "{} is larger than {limit} bytes", path.display())
            }
            Self::Parse { path, line } => {
                write!(f, "{} is no YAML mapping", path.display())?;
                line.map_or(Ok(()), |line| write!(f, " (line {line})"))
            }
            Self::Invalid { field, problem } => write!(f, "{field} {problem}"),
            Self::Exec(error) => error.fmt(f),
            Self::TokenCallback { .. } => f.write_str("the function that gives tokens failed"),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            Self::Exec(error) => error.source(),
            Self::TokenCallback { source } => Some(&**source),
            _ => None,
        }
    }
}
