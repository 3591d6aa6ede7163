//! Certificates made at run time, of the kinds that kubeconfigs in the field hold.

use rcgen::{BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyPair, SigningKey as _};
use rustls::pki_types::CertificateDer;

/// An authority, or an intermediate one.
pub(super) struct Authority {
    pub(super) pem: String,
    issuer: Issuer<'static, KeyPair>,
}

pub(super) struct Leaf {
    pub(super) pem: String,
    pub(super) der: CertificateDer<'static>,
    pub(super) key_pem: String,
    pub(super) key_der: Vec<u8>,
}

fn params(name: &str, names: &[&str]) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.distinguished_name.push(DnType::CommonName, name);
    params
}

fn leaf(certificate: &rcgen::Certificate, key: &KeyPair) -> Leaf {
    Leaf {
        pem: certificate.pem(),
        der: certificate.der().clone(),
        key_pem: key.serialize_pem(),
        key_der: key.serialize_der(),
    }
}

impl Authority {
    pub(super) fn new(name: &str) -> Self {
        let (params, key) = (Self::params(name), KeyPair::generate().unwrap());
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    pub(super) fn intermediate(&self, name: &str) -> Self {
        let (params, key) = (Self::params(name), KeyPair::generate().unwrap());
        let pem = params.signed_by(&key, &self.issuer).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = params(name, &[]);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params
    }

    pub(super) fn issue(&self, name: &str, names: &[&str]) -> Leaf {
        self.issue_with(name, names, |_| {}, &KeyPair::generate().unwrap())
    }

    pub(super) fn issue_with(
        &self,
        name: &str,
        names: &[&str],
        change: impl FnOnce(&mut CertificateParams),
        key: &KeyPair,
    ) -> Leaf {
        let mut params = params(name, names);
        change(&mut params);
        leaf(&params.signed_by(key, &self.issuer).unwrap(), key)
    }

    /// A certificate of the first version, which has neither a version nor extensions.
    pub(super) fn issue_v1(&self, name: &str) -> Leaf {
        let key = KeyPair::generate().unwrap();
        let issued = self.issue_with(name, &[], |_| {}, &key);
        let (certificate, _) = content(&issued.der);
        let (fields, after_fields) = content(certificate);
        let mut kept = Vec::new();
        let mut rest = fields;
        while !rest.is_empty() {
            let (_, after) = content(rest);
            let whole = &rest[..rest.len() - after.len()];
            if !matches!(whole[0], 0xa0 | 0xa3) {
                kept.extend_from_slice(whole);
            }
            rest = after;
        }
        let to_sign = wrapped(0x30, &kept);
        let (_, after_algorithm) = content(after_fields);
        let algorithm = &after_fields[..after_fields.len() - after_algorithm.len()];
        let signature = self.issuer.key().sign(&to_sign).unwrap();
        let signature = wrapped(0x03, &[&[0], &signature[..]].concat());
        let der = wrapped(0x30, &[&to_sign, algorithm, &signature].concat());
        Leaf { pem: pem("CERTIFICATE", &der), der: der.into(), ..issued }
    }
}

/// A certificate that signs itself, and is an authority or not.
pub(super) fn self_signed(names: &[&str], is_ca: IsCa) -> Leaf {
    let (mut params, key) = (params("self", names), KeyPair::generate().unwrap());
    params.is_ca = is_ca;
    leaf(&params.self_signed(&key).unwrap(), &key)
}

/// The content of the first element, and what follows it.
fn content(der: &[u8]) -> (&[u8], &[u8]) {
    let (length, head) = match der[1] {
        0x81 => (usize::from(der[2]), 3),
        0x82 => (usize::from(der[2]) << 8 | usize::from(der[3]), 4),
        short => (usize::from(short), 2),
    };
    der[head..].split_at(length)
}

fn wrapped(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap().to_be_bytes();
    [&[tag, 0x82, length[0], length[1]], content].concat()
}

pub(super) fn pem(label: &str, der: &[u8]) -> String {
    use base64::Engine as _;
    let text = base64::engine::general_purpose::STANDARD.encode(der);
    let lines: Vec<&str> =
        text.as_bytes().chunks(64).map(|line| std::str::from_utf8(line).unwrap()).collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n"))
}
