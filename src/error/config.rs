use std::error::Error;
use std::fmt;
use std::io;
use std::path::PathBuf;

use super::one_line;

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
    /// A kubeconfig is no YAML mapping.
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
    /// This version cannot do it.
    NotSupportedYet,
    /// It is not of the type that the field has.
    NotA(
        /// The type.
        &'static str,
    ),
    /// It is absent or empty, and needed.
    Needed,
    /// Two entries of one list have the name.
    DuplicateName,
    /// It is no absolute URL beginning with `https://` or `http://`.
    NotAUrl,
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
    /// It holds no PEM private key of a supported kind.
    NoPrivateKey,
    /// The private key is encrypted.
    EncryptedKey,
    /// The key does not belong to the certificate.
    KeyMismatch,
    /// It cannot stand in an HTTP header.
    NotAHeaderValue,
    /// It supports neither TLS 1.2 nor TLS 1.3.
    NoTlsVersion,
}

impl fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotSupportedYet => f.write_str("is not supported yet"),
            Self::NotA(kind) => write!(f, "must be a {kind}"),
            Self::Needed => f.write_str("is absent or empty"),
            Self::DuplicateName => f.write_str("occurs twice"),
            Self::NotAUrl => f.write_str("must be an absolute URL, https://host[:port][/path]"),
            Self::Beside { other } => write!(f, "cannot be given together with {other}"),
            Self::NeedsHttps => {
                f.write_str("would be sent without TLS: credentials need an https:// server")
            }
            Self::NotBase64 => f.write_str("is not base64"),
            Self::NoCertificate => f.write_str("holds no PEM certificate that can be read"),
            Self::NoPrivateKey => f.write_str(
                "holds no PEM private key that can be used (RSA of 2048 to 4096 bits, P-256, \
                 P-384 or Ed25519)",
            ),
            Self::EncryptedKey => f.write_str("is encrypted: give the key without a passphrase"),
            Self::KeyMismatch => f.write_str("does not belong to the client certificate"),
            Self::NotAHeaderValue => f.write_str("holds characters that no HTTP header can"),
            Self::NoTlsVersion => f.write_str("supports neither TLS 1.2 nor TLS 1.3"),
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
            Self::Parse { path, line } => {
                write!(f, "{} is no YAML mapping", path.display())?;
                line.map_or(Ok(()), |line| write!(f, " (line {line})"))
            }
            Self::Invalid { field, problem } => write!(f, "{field} {problem}"),
        }
    }
}

impl Error for ConfigError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match self {
            Self::Read { source, .. } => Some(source),
            _ => None,
        }
    }
}
