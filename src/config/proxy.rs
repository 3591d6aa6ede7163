use std::fmt;
use std::net::Ipv6Addr;

use super::environment::Environment;
use super::no_proxy::NoProxy;
use super::{Secret, Server};
use crate::error::{ConfigError, ConfigField, ConfigProblem};

/// A proxy, and the setting that names it. Neither `Debug` nor `Display` shows its login.
#[derive(Clone)]
pub(crate) struct Proxy {
    pub(crate) field: ConfigField,
    pub(crate) scheme: ProxyScheme,
    /// An IPv6 address stands in brackets.
    pub(crate) host: String,
    pub(crate) port: Option<u16>,
    pub(crate) user: Option<Secret>,
    pub(crate) password: Option<Secret>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum ProxyScheme {
    Http,
    Https,
    Socks5,
}

impl Proxy {
    /// `http`, `https` or `socks5`, and `socks5h`, which is what `socks5` means to kubectl.
    pub(super) fn parse(url: &str, field: ConfigField) -> Result<Self, ConfigError> {
        let invalid =
            || ConfigError::Invalid { field: field.clone(), problem: ConfigProblem::NotAProxyUrl };
        let (scheme, rest) = url.split_once("://").ok_or_else(invalid)?;
        let scheme = match scheme.to_ascii_lowercase().as_str() {
            "http" => ProxyScheme::Http,
            "https" => ProxyScheme::Https,
            "socks5" | "socks5h" => ProxyScheme::Socks5,
            _ => return Err(invalid()),
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, address) = match authority.rsplit_once('@') {
            Some((login, address)) => (Some(login), address),
            None => (None, authority),
        };
        let (host, port) = split_address(address).ok_or_else(invalid)?;
        let decoded = |text: &str| percent_decoded(text).map(Secret::new).ok_or_else(invalid);
        let (user, password) = match login.map(|login| login.split_once(':').unwrap_or((login, "")))
        {
            None => (None, None),
            Some((user, password)) => (Some(decoded(user)?), Some(decoded(password)?)),
        };
        Ok(Self { field, scheme, host: host.to_owned(), port, user, password })
    }

    /// What the environment says about connections to `server`, read as Go reads it: by the
    /// server's scheme, and never for a loopback address.
    pub(super) fn of_environment(
        environment: &Environment,
        server: &Server,
    ) -> Result<Option<Self>, ConfigError> {
        let variable =
            if server.is_https() { &environment.https_proxy } else { &environment.http_proxy };
        let Some((name, url)) = variable else { return Ok(None) };
        let exempt = NoProxy::parse(environment.no_proxy.as_deref().unwrap_or_default());
        if exempt.covers(server.host(), server.port()) {
            return Ok(None);
        }
        let url = if url.contains("://") { url.clone() } else { format!("http://{url}") };
        Self::parse(&url, ConfigField::setter(name)).map(Some)
    }
}

fn split_address(address: &str) -> Option<(&str, Option<u16>)> {
    let end = match address.strip_prefix('[') {
        Some(rest) => {
            let (ip, _) = rest.split_once(']')?;
            ip.parse::<Ipv6Addr>().ok()?;
            ip.len() + 2
        }
        None => address.find(':').unwrap_or(address.len()),
    };
    let (host, port) = address.split_at_checked(end)?;
    let is_name = |b: u8| b.is_ascii_alphanumeric() || b"-._".contains(&b);
    if host.is_empty() || !(host.starts_with('[') || host.bytes().all(is_name)) {
        return None;
    }
    let port = match port.strip_prefix(':') {
        None if port.is_empty() => None,
        Some("") => None,
        Some(digits) if digits.bytes().all(|b| b.is_ascii_digit()) => Some(digits.parse().ok()?),
        _ => return None,
    };
    Some((host, port))
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        if byte == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            if !digits.iter().all(u8::is_ascii_hexdigit) {
                return None;
            }
            bytes.push(u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?);
            rest = after;
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

impl fmt::Display for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = match self.scheme {
            ProxyScheme::Http => "http",
            ProxyScheme::Https => "https",
            ProxyScheme::Socks5 => "socks5",
        };
        write!(f, "{scheme}://{}", self.host)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self} ({})", self.field)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Option<Proxy> {
        Proxy::parse(url, ConfigField::setter("proxy-url")).ok()
    }

    #[test]
    fn urls_of_proxies() {
        for (url, shown) in [
            ("http://p:1", "http://p:1"),
            ("HTTPS://p", "https://p"),
            ("socks5://127.0.0.1:1080/", "socks5://127.0.0.1:1080"),
            ("socks5h://p:1", "socks5://p:1"),
            ("http://[::1]:1", "http://[::1]:1"),
            ("http://u:p@h:1", "http://h:1"),
        ] {
            let proxy = parse(url).unwrap_or_else(|| panic!("{url}"));
            assert_eq!(proxy.to_string(), shown);
            assert!(!format!("{proxy:?}").contains('@'));
        }
        for url in
            ["p:1", "p", "ftp://p", "http://", "http://p:x", "http://[::1", "http://u:%zz@p", ""]
        {
            assert!(parse(url).is_none(), "{url}");
        }
        let proxy = parse("http://us%40er:p%3Ass%25@h").unwrap();
        assert_eq!(proxy.user.unwrap().expose(), "us@er");
        assert_eq!(proxy.password.unwrap().expose(), "p:ss%");
    }
}
