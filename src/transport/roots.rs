use std::path::PathBuf;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

use super::certificate::validity;

/// Where Go looks for a bundle on Linux and the BSDs.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The system's root certificates: `SSL_CERT_FILE` and `SSL_CERT_DIR` when they are set, else the
/// first bundle that is there.
pub(super) fn system_roots() -> Vec<CertificateDer<'static>> {
    let variable = |name| std::env::var_os(name).filter(|value| !value.is_empty());
    let mut files: Vec<PathBuf> = Vec::new();
    files.extend(variable("SSL_CERT_FILE").map(PathBuf::from));
    if let Some(directories) = variable("SSL_CERT_DIR") {
        for directory in std::env::split_paths(&directories) {
            let entries = std::fs::read_dir(directory).into_iter().flatten();
            files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
        }
    }
    if files.is_empty() {
        files.extend(BUNDLES.iter().map(PathBuf::from).find(|path| path.exists()));
    }
    // A pipe among them would be read for ever.
    files
        .iter()
        .filter(|path| path.is_file())
        .filter_map(|path| std::fs::read(path).ok())
        .flat_map(|text| certificates(&text))
        .collect()
}

/// Every certificate that can be read, whatever else stands between them.
pub(super) fn certificates(pem: &[u8]) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem)
        .filter_map(Result::ok)
        .filter(|certificate| validity(certificate).is_some())
        .collect()
}
