//! What an X.509 certificate says about itself: all that webpki keeps to itself of what is needed
//! here. Nothing is decided by this but how long a certificate is valid that is trusted as it is.

use std::net::IpAddr;
use std::time::Duration;

use jiff::SignedDuration;
use jiff::civil::DateTime;
use rustls::pki_types::UnixTime;

use super::der::{OBJECT_IDENTIFIER, OCTET_STRING, SEQUENCE, SET, element, elements, expect};
use crate::error::Presented;

/// The tag of the version, which a certificate of the first version lacks.
const EXPLICIT_VERSION: u8 = 0xa0;
/// The tag of the extensions.
const EXPLICIT_EXTENSIONS: u8 = 0xa3;

/// The fields from the issuer on, unread.
struct Fields<'a> {
    issuer: &'a [u8],
    validity: &'a [u8],
    subject: &'a [u8],
    /// The public key and all that follows it.
    rest: &'a [u8],
}

impl<'a> Fields<'a> {
    fn of(certificate: &'a [u8]) -> Option<Self> {
        let (certificate, _) = expect(certificate, SEQUENCE)?;
        let (mut fields, _) = expect(certificate, SEQUENCE)?;
        if fields.first() == Some(&EXPLICIT_VERSION) {
            fields = element(fields)?.2;
        }
        for _serial_algorithm in 0..2 {
            fields = element(fields)?.2;
        }
        let (issuer, rest) = expect(fields, SEQUENCE)?;
        let (validity, rest) = expect(rest, SEQUENCE)?;
        let (subject, rest) = expect(rest, SEQUENCE)?;
        Some(Self { issuer, validity, subject, rest })
    }
}

/// When a certificate begins and ends to be valid. `None` for what is no certificate.
pub(super) fn validity(certificate: &[u8]) -> Option<(UnixTime, UnixTime)> {
    let (tag, not_before, rest) = element(Fields::of(certificate)?.validity)?;
    let not_before = time(tag, not_before)?;
    let (tag, not_after, _) = element(rest)?;
    Some((not_before, time(tag, not_after)?))
}

/// Whose it is, who issued it, and for which names, for error messages.
pub(super) fn describe(certificate: &[u8]) -> Option<Presented> {
    let fields = Fields::of(certificate)?;
    Some(Presented {
        subject: name(fields.subject),
        issuer: name(fields.issuer),
        names: alternative_names(fields.rest),
    })
}

/// A distinguished name's common name, else its organization.
fn name(der: &[u8]) -> String {
    const COMMON_NAME: &[u8] = &[0x55, 0x04, 0x03];
    const ORGANIZATION: &[u8] = &[0x55, 0x04, 0x0a];
    let attribute = |wanted: &[u8]| {
        elements(der).filter(|(tag, _)| *tag == SET).find_map(|(_, set)| {
            let (attribute, _) = expect(set, SEQUENCE)?;
            let (identifier, value) = expect(attribute, OBJECT_IDENTIFIER)?;
            let (_, text, _) = element(value)?;
            (identifier == wanted).then(|| String::from_utf8_lossy(text).into_owned())
        })
    };
    let common_name = attribute(COMMON_NAME).map(|name| format!("CN={name}"));
    let organization = || attribute(ORGANIZATION).map(|name| format!("O={name}"));
    common_name.or_else(organization).unwrap_or_else(|| "no name".to_owned())
}

/// The DNS names and IP addresses of the extension subjectAltName.
fn alternative_names(fields: &[u8]) -> Vec<String> {
    const SUBJECT_ALT_NAME: &[u8] = &[0x55, 0x1d, 0x11];
    const DNS_NAME: u8 = 0x82;
    const IP_ADDRESS: u8 = 0x87;
    let extension = elements(fields)
        .filter(|(tag, _)| *tag == EXPLICIT_EXTENSIONS)
        .flat_map(|(_, explicit)| elements(explicit))
        .flat_map(|(_, extensions)| elements(extensions))
        .find_map(|(_, extension)| {
            let (identifier, rest) = expect(extension, OBJECT_IDENTIFIER)?;
            let (_, value) = elements(rest).find(|(tag, _)| *tag == OCTET_STRING)?;
            (identifier == SUBJECT_ALT_NAME).then_some(value)
        });
    let names = extension.and_then(|names| expect(names, SEQUENCE)).map_or(&[][..], |n| n.0);
    elements(names)
        .filter_map(|(tag, name)| match tag {
            DNS_NAME => Some(String::from_utf8_lossy(name).into_owned()),
            IP_ADDRESS => address(name).map(|address| address.to_string()),
            _ => None,
        })
        .collect()
}

fn address(bytes: &[u8]) -> Option<IpAddr> {
    if let Ok(v4) = <[u8; 4]>::try_from(bytes) {
        return Some(v4.into());
    }
    Some(<[u8; 16]>::try_from(bytes).ok()?.into())
}

/// In UTC. jiff's `Timestamp` ends a day before the year 9999 does, and that year's last second is
/// how a certificate says that it has no end.
const EPOCH: DateTime = DateTime::constant(1970, 1, 1, 0, 0, 0, 0);

/// A point of time as RFC 3339 writes it.
pub(super) fn rfc3339(time: UnixTime) -> String {
    let seconds = SignedDuration::try_from(Duration::from_secs(time.as_secs())).ok();
    seconds
        .and_then(|seconds| EPOCH.checked_add(seconds).ok())
        .map_or_else(|| format!("second {}", time.as_secs()), |time| format!("{time}Z"))
}

/// A `UTCTime` or `GeneralizedTime` in the one form that RFC 5280 allows: whole seconds, UTC.
fn time(tag: u8, text: &[u8]) -> Option<UnixTime> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        0x17 => {
            let year: i16 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        0x18 => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    if rest.len() != 10 {
        return None;
    }
    let number = |at: usize| rest.get(at..at + 2)?.parse::<i8>().ok();
    let time =
        DateTime::new(year, number(0)?, number(2)?, number(4)?, number(6)?, number(8)?, 0).ok()?;
    let seconds = time.duration_since(EPOCH).as_secs();
    // What ended before the epoch has ended, and that is all there is to know of it.
    Some(UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn both_forms_of_time_are_read() {
        let cases: [(u8, &str, Option<u64>); 9] = [
            (0x17, "700101000000Z", Some(0)),
            (0x17, "491231235959Z", Some(2_524_607_999)),
            (0x18, "20000229120000Z", Some(951_825_600)),
            (0x18, "20500101000000Z", Some(2_524_608_000)),
            (0x18, "99991231235959Z", Some(253_402_300_799)),
            (0x17, "500101000000Z", Some(0)),
            (0x18, "20001301000000Z", None),
            (0x18, "2000010100000Z", None),
            (0x19, "20000101000000Z", None),
        ];
        for (tag, text, expected) in cases {
            let read = time(tag, text.as_bytes()).map(|time| time.as_secs());
            assert_eq!(read, expected, "{text}");
        }
    }

    #[test]
    fn what_is_cut_off_is_no_certificate() {
        let whole: &[u8] = &[0x30, 0x82, 0x01, 0x00, 0x30];
        for end in 0..=whole.len() {
            assert!(validity(&whole[..end]).is_none());
        }
        assert!(validity(&[0x30, 0x84, 0xff, 0xff, 0xff, 0xff]).is_none());
    }

    fn certificate() -> Vec<u8> {
        let names = ["kube.example.test", "10.1.2.3", "fd00::1"].map(str::to_owned);
        let mut params = rcgen::CertificateParams::new(names).unwrap();
        params.distinguished_name.push(rcgen::DnType::CommonName, "server");
        params.not_after = rcgen::date_time_ymd(9999, 12, 31);
        params.self_signed(&rcgen::KeyPair::generate().unwrap()).unwrap().der().to_vec()
    }

    #[test]
    fn a_certificate_says_whose_it_is_and_how_long() {
        let certificate = certificate();
        let described = describe(&certificate).unwrap();
        assert_eq!((&*described.subject, &*described.issuer), ("CN=server", "CN=server"));
        assert_eq!(described.names, ["kube.example.test", "10.1.2.3", "fd00::1"]);
        assert_eq!(rfc3339(validity(&certificate).unwrap().1), "9999-12-31T00:00:00Z");
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes: Vec<u8>) {
            let _ = (validity(&bytes), describe(&bytes));
        }

        #[test]
        fn a_damaged_certificate_does_not_panic(at: prop::sample::Index, byte: u8, cut: prop::sample::Index) {
            let mut bytes = certificate();
            let at = at.index(bytes.len());
            bytes[at] = byte;
            let _ = (validity(&bytes), describe(&bytes));
            bytes.truncate(cut.index(bytes.len()));
            let _ = (validity(&bytes), describe(&bytes));
        }
    }
}
