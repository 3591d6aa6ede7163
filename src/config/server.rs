use std::fmt;

use crate::names::push_percent_encoded;

/// The API server's address: a parsed, cleaned URL.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Server {
    https: bool,
    authority: String,
    prefix: String,
}

impl Server {
    /// kubectl takes a URL without a scheme for `http://`, and then sends no credentials; that is
    /// hardly ever meant, and refused here. Userinfo, query and fragment are dropped, as kubectl
    /// does.
    pub(crate) fn parse(url: &str) -> Option<Self> {
        if url.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return None;
        }
        let (scheme, rest) = url.split_once("://")?;
        let https = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return None,
        };
        let rest = rest.split(['?', '#']).next()?;
        let (authority, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let authority = authority.rsplit('@').next()?;
        if !is_authority(authority) {
            return None;
        }
        let mut segments: Vec<&str> = Vec::new();
        for segment in path.split('/') {
            match segment {
                "" | "." => {}
                ".." => drop(segments.pop()),
                segment => segments.push(segment),
            }
        }
        let mut prefix = String::new();
        for segment in segments {
            prefix.push('/');
            // What is encoded already stays as it is.
            push_percent_encoded(&mut prefix, segment, b"-._~!$&'()*+,;=:@%");
        }
        Some(Self { https, authority: authority.to_owned(), prefix })
    }

    pub(crate) fn is_https(&self) -> bool {
        self.https
    }

    /// A name or an address, without the brackets of IPv6.
    pub(crate) fn host(&self) -> &str {
        match self.authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
            Some((address, _)) => address,
            None => self.authority.split(':').next().unwrap_or_default(),
        }
    }

    pub(crate) fn port(&self) -> u16 {
        let after_host = self.authority.rsplit_once(']').map_or(&*self.authority, |(_, rest)| rest);
        let port = after_host.rsplit_once(':').and_then(|(_, port)| port.parse().ok());
        port.unwrap_or(if self.https { 443 } else { 80 })
    }
}

fn is_authority(authority: &str) -> bool {
    let (host, port) = match authority.strip_prefix('[') {
        Some(rest) => {
            let Some((address, port)) = rest.split_once(']') else { return false };
            if address.parse::<std::net::Ipv6Addr>().is_err() {
                return false;
            }
            ("v6", port)
        }
        None => authority.split_at(authority.find(':').unwrap_or(authority.len())),
    };
    let port_fits = match port.strip_prefix(':') {
        None => port.is_empty(),
        Some(digits) => digits.bytes().all(|b| b.is_ascii_digit()) && digits.parse::<u16>().is_ok(),
    };
    !host.is_empty()
        && host.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
        && port_fits
}

impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.https { "https" } else { "http" };
        write!(f, "{scheme}://{}{}", self.authority, self.prefix)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_cleaned() {
        let cases = [
            ("https://h:6443", "https://h:6443"),
            ("HTTPS://Host", "https://Host"),
            ("https://h/k8s//x/", "https://h/k8s/x"),
            ("https://h/a/../b/./c", "https://h/b/c"),
            ("https://u:p@h:1/x?q=1#f", "https://h:1/x"),
            ("https://h?x=/y", "https://h"),
            ("https://[::1]:6443", "https://[::1]:6443"),
            ("https://[::1]", "https://[::1]"),
            ("http://10.0.0.1:80", "http://10.0.0.1:80"),
            ("https://h/a|b%20c", "https://h/a%7Cb%20c"),
        ];
        for (url, clean) in cases {
            let server = Server::parse(url).unwrap_or_else(|| panic!("{url}"));
            assert_eq!(server.to_string(), clean, "{url}");
        }
    }

    #[test]
    fn host_and_port_are_told_apart() {
        for (url, host, port) in [
            ("https://h", "h", 443),
            ("http://h", "h", 80),
            ("https://h:6443/x", "h", 6443),
            ("https://[fd00::1]:6443", "fd00::1", 6443),
            ("https://[fd00::1]", "fd00::1", 443),
        ] {
            let server = Server::parse(url).unwrap();
            assert_eq!((server.host(), server.port()), (host, port), "{url}");
        }
    }

    #[test]
    fn what_is_no_url_is_refused() {
        for url in [
            "",
            "h",
            "h:6443",
            "ftp://h",
            "https://",
            "https:///x",
            "https://h ",
            " https://h",
            "https://h:x",
            "https://h:99999",
            "https://h:+1",
            "https://[::1",
            "https://[x]:1",
            "https://[::1]x",
            "https://a b",
            "https://h\n",
            "https://u@",
            "//h",
            "https:/h",
        ] {
            assert_eq!(Server::parse(url), None, "{url:?}");
        }
    }
}
