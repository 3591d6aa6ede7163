//! Files that a configuration names: read with a bound, and read again where they are rotated.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// No kubeconfig, token or bundle of certificates comes near; a device or an endless pipe would go
/// beyond.
const LIMIT: u64 = 4 * 1024 * 1024;

/// Reads a file that a setting names.
pub(super) fn read(path: &Path, field: Option<&ConfigField>) -> Result<Vec<u8>, ConfigError> {
    let mut bytes = Vec::new();
    let read = std::fs::File::open(path)
        .and_then(|file| file.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(|source| ConfigError::Read {
            path: path.to_owned(),
            field: field.cloned(),
            source,
        })?;
    if u64::try_from(read).is_ok_and(|read| read > LIMIT) {
        return Err(ConfigError::TooLarge { path: path.to_owned(), limit: LIMIT });
    }
    Ok(bytes)
}

/// A file that something outside this process rotates. Its last good content is kept.
pub(crate) struct RotatedFile {
    path: PathBuf,
    read_again_after: Duration,
    is_good: fn(&[u8]) -> bool,
    last: Mutex<(Arc<[u8]>, Instant)>,
}

impl RotatedFile {
    /// It has to be there, and good, now.
    pub(super) fn open(
        path: PathBuf,
        field: &ConfigField,
        read_again_after: Duration,
        is_good: fn(&[u8]) -> bool,
    ) -> Result<Self, ConfigError> {
        let bytes = read(&path, Some(field))?;
        if !is_good(&bytes) {
            return Err(ConfigError::Invalid {
                field: field.clone(),
                problem: ConfigProblem::Needed,
            });
        }
        let last = Mutex::new((bytes.into(), Instant::now()));
        Ok(Self { path, read_again_after, is_good, last })
    }

    /// The content, read again when the last reading is too old.
    pub(super) fn content(&self, now: Instant) -> Arc<[u8]> {
        self.content_not_before(now.checked_sub(self.read_again_after), now)
    }

    /// The content as it is now.
    pub(super) fn content_now(&self, now: Instant) -> Arc<[u8]> {
        self.content_not_before(Some(now), now)
    }

    fn content_not_before(&self, oldest: Option<Instant>, now: Instant) -> Arc<[u8]> {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if oldest.is_some_and(|oldest| last.1 <= oldest)
            && let Ok(bytes) = read(&self.path, None)
            && (self.is_good)(&bytes)
        {
            if *bytes != *last.0 {
                last.0 = bytes.into();
            }
            last.1 = now;
        }
        last.0.clone()
    }
}
