use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::file::RotatedFile;
use crate::error::{ConfigError, ConfigField};

/// PEM text, and the setting to name when it turns out to be of no use.
#[derive(Clone)]
pub(crate) struct Pem {
    pub(crate) field: ConfigField,
    text: Text,
}

#[derive(Clone)]
enum Text {
    Given(Arc<[u8]>),
    File(Arc<RotatedFile>),
}

/// A client certificate, with its chain, and its private key.
#[derive(Clone)]
pub(crate) struct ClientCert {
    pub(crate) cert: Pem,
    pub(crate) key: Pem,
}

impl Pem {
    pub(super) fn given(text: impl Into<Vec<u8>>, field: ConfigField) -> Self {
        Self { field, text: Text::Given(text.into().into()) }
    }

    /// A file that is looked at again, no oftener than `read_again_after`, while the client lives.
    pub(super) fn file(
        path: PathBuf,
        field: ConfigField,
        read_again_after: Duration,
    ) -> Result<Self, ConfigError> {
        let is_good = |bytes: &[u8]| !bytes.trim_ascii().is_empty();
        let file = RotatedFile::open(path, &field, read_again_after, is_good)?;
        Ok(Self { field, text: Text::File(Arc::new(file)) })
    }

    pub(crate) fn text(&self, now: Instant) -> Arc<[u8]> {
        match &self.text {
            Text::Given(text) => text.clone(),
            Text::File(file) => file.content(now),
        }
    }

    /// Whether there is anything that means to be a certificate.
    pub(super) fn holds_a_certificate(&self) -> bool {
        let text = self.text(Instant::now());
        String::from_utf8_lossy(&text).contains("-----BEGIN CERTIFICATE-----")
    }
}
