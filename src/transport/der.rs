//! As much of DER as certificates and keys need to be told about.

pub(super) const INTEGER: u8 = 0x02;
pub(super) const OCTET_STRING: u8 = 0x04;
pub(super) const OBJECT_IDENTIFIER: u8 = 0x06;
pub(super) const SEQUENCE: u8 = 0x30;
pub(super) const SET: u8 = 0x31;

/// The first element: its tag, its content, and what follows it.
pub(super) fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = if first < 0x80 {
        (usize::from(first), rest)
    } else {
        let digits = usize::from(first & 0x7f);
        if !(1..=4).contains(&digits) {
            return None;
        }
        let (length, rest) = rest.split_at_checked(digits)?;
        (length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// The content of the first element, which has to have this tag, and what follows it.
pub(super) fn expect(der: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (found, content, rest) = element(der)?;
    (found == tag).then_some((content, rest))
}

/// The elements up to the first that cannot be read.
pub(super) fn elements(mut der: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        let (tag, content, rest) = element(der)?;
        der = rest;
        Some((tag, content))
    })
}

/// The key within a PKCS#8 structure: version, algorithm, key.
pub(super) fn pkcs8_key(der: &[u8]) -> Option<&[u8]> {
    let (sequence, _) = expect(der, SEQUENCE)?;
    let (_version, rest) = expect(sequence, INTEGER)?;
    let (_algorithm, rest) = expect(rest, SEQUENCE)?;
    Some(expect(rest, OCTET_STRING)?.0)
}
