//! What this process takes of the machine, as Linux tells it.

use std::fs;

use crate::Result;

#[derive(Clone, Copy)]
pub(crate) struct Footprint {
    /// Resident memory, in KiB.
    pub(crate) memory: u64,
    pub(crate) threads: u64,
    /// Open files, sockets among them.
    pub(crate) files: u64,
}

impl Footprint {
    pub(crate) fn now() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let number = |field: &str| -> Result<u64> {
            let line = status.lines().find_map(|line| line.strip_prefix(field));
            let value = line.and_then(|line| line.split_whitespace().next());
            Ok(value.ok_or_else(|| format!("/proc/self/status has no {field}"))?.parse()?)
        };
        let files = fs::read_dir("/proc/self/fd")?.count().try_into()?;
        Ok(Self { memory: number("VmRSS:")?, threads: number("Threads:")?, files })
    }
}
