//! What an answer's headers say besides its body.

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use ureq::http::{HeaderMap, HeaderName, HeaderValue, header};

/// The three forms of a date that RFC 9110 (section 5.6.7) has recipients accept.
const DATES: [&str; 3] = ["%a, %d %b %Y %T GMT", "%A, %d-%b-%y %T GMT", "%a %b %e %T %Y"];

/// `Retry-After`, in seconds or as a date. A date counts from the answer's own `Date` if there is
/// one, so that the two clocks need not agree, and is no delay once it has passed.
pub(super) fn retry_after(headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let value = text(headers, &header::RETRY_AFTER)?;
    if let Ok(seconds) = value.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = date(value)?;
    let from = text(headers, &header::DATE).and_then(self::date).unwrap_or(now);
    Some(Duration::try_from(date.duration_since(from)).unwrap_or_default())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name)?.to_str().ok().map(str::trim)
}

fn date(text: &str) -> Option<Timestamp> {
    let date = DATES.iter().find_map(|format| DateTime::strptime(format, text).ok())?;
    Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
}

/// The texts of `Warning: 299 - "text"` headers, of which there can be several. RFC 9111 has
/// obsoleted the header for caches; the Kubernetes API keeps it.
pub(super) fn warnings(headers: &HeaderMap) -> Vec<String> {
    let text = |value: &HeaderValue| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let quoted = value.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
        quoted.map_or(value.clone(), |(text, _)| text.replace("\\\"", "\"").replace("\\\\", "\\"))
    };
    headers.get_all(header::WARNING).iter().map(text).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn delay(retry_after: &'static str, date: Option<&'static str>) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(header::RETRY_AFTER, HeaderValue::from_static(retry_after));
        headers.extend(date.map(|date| (header::DATE, HeaderValue::from_static(date))));
        super::retry_after(&headers, "1994-11-06T08:49:30Z".parse().ok()?)
    }

    #[test]
    fn a_delay_comes_in_seconds_or_as_a_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(delay("120", None), seconds(120));
        assert_eq!(delay(" 0 ", None), seconds(0));
        for date in [
            "Sun, 06 Nov 1994 08:49:37 GMT",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
        ] {
            assert_eq!(delay(date, None), seconds(7), "{date}");
        }
        let date = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(delay(date, Some("Sun, 06 Nov 1994 08:49:07 GMT")), seconds(30));
        assert_eq!(delay(date, Some("yesterday")), seconds(7));
    }

    #[test]
    fn a_date_that_has_passed_is_no_delay() {
        assert_eq!(delay("Sun, 06 Nov 1994 08:49:29 GMT", None), Some(Duration::ZERO));
    }

    #[test]
    fn what_is_neither_says_nothing() {
        let long = "99999999999999999999999999";
        for text in ["", "soon", "-1", "1.5", long, "Sun, 31 Feb 1994 08:49:37 GMT", "Mon"] {
            assert_eq!(delay(text, None), None, "{text:?}");
        }
    }
}
