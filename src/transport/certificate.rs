//! The validity of an X.509 certificate: all that webpki keeps to itself of what is needed here.

use std::time::Duration;

use rustls::pki_types::UnixTime;

/// The tag of the version, which a certificate of the first version lacks.
const EXPLICIT_VERSION: u8 = 0xa0;

/// When a certificate begins and ends to be valid. `None` for what is no certificate.
pub(super) fn validity(certificate: &[u8]) -> Option<(UnixTime, UnixTime)> {
    let (_, certificate, _) = element(certificate)?;
    let (_, mut fields, _) = element(certificate)?;
    if fields.first() == Some(&EXPLICIT_VERSION) {
        fields = element(fields)?.2;
    }
    for _serial_algorithm_issuer in 0..3 {
        fields = element(fields)?.2;
    }
    let (_, validity, _) = element(fields)?;
    let (tag, not_before, rest) = element(validity)?;
    let not_before = time(tag, not_before)?;
    let (tag, not_after, _) = element(rest)?;
    Some((not_before, time(tag, not_after)?))
}

/// The first DER element: its tag, its content, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
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

/// A `UTCTime` or `GeneralizedTime` in the one form that RFC 5280 allows: whole seconds, UTC.
fn time(tag: u8, text: &[u8]) -> Option<UnixTime> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match tag {
        0x17 => {
            let year: i64 = text.get(..2)?.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, text.get(2..)?)
        }
        0x18 => (text.get(..4)?.parse().ok()?, text.get(4..)?),
        _ => return None,
    };
    let number = |at: usize| rest.get(at..at + 2)?.parse::<i64>().ok();
    let (month, day) = (number(0)?, number(2)?);
    if !(1..=12).contains(&month) || rest.len() != 10 {
        return None;
    }
    let seconds = days_since_epoch(year, month, day) * 86_400
        + number(4)? * 3600
        + number(6)? * 60
        + number(8)?;
    // What ended before the epoch has ended, and that is all there is to know of it.
    Some(UnixTime::since_unix_epoch(Duration::from_secs(u64::try_from(seconds).unwrap_or(0))))
}

/// Days of the Gregorian calendar, counted in years that begin in March, so that the leap day is
/// the last.
fn days_since_epoch(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let months_since_march = (month + 9) % 12;
    let day_of_year = (153 * months_since_march + 2) / 5 + day - 1;
    year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400) + day_of_year
        - 719_468
}

#[cfg(test)]
mod tests {
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
}
