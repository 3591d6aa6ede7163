//! `NO_PROXY` in the dialect of Go's `httpproxy` package, which kubectl speaks.

use std::net::IpAddr;

pub(super) struct NoProxy {
    rules: Vec<Rule>,
}

enum Rule {
    Everything,
    /// An address and the count of its leading bits that matter.
    Network(IpAddr, u32),
    Address(IpAddr, Option<String>),
    /// A suffix that begins with a dot; whether the name without the dot is meant too.
    Domain {
        suffix: String,
        itself: bool,
        port: Option<String>,
    },
}

impl NoProxy {
    pub(super) fn parse(list: &str) -> Self {
        let entries = list.split(',').map(|entry| entry.trim().to_lowercase());
        Self { rules: entries.filter_map(|entry| Rule::parse(&entry)).collect() }
    }

    /// Whether a connection to this host, an IPv6 address without brackets, is made directly. It
    /// always is on the machine itself.
    pub(super) fn covers(&self, host: &str, port: u16) -> bool {
        let host = host.to_lowercase();
        let address = host.parse::<IpAddr>().ok().map(|address| address.to_canonical());
        host == "localhost"
            || address.is_some_and(|address| address.is_loopback())
            || self.rules.iter().any(|rule| rule.covers(&host, address, &port.to_string()))
    }
}

impl Rule {
    fn parse(entry: &str) -> Option<Self> {
        if entry == "*" {
            return Some(Self::Everything);
        }
        if let Some((address, bits)) = entry.split_once('/')
            && let (Ok(address), Ok(bits)) = (address.parse::<IpAddr>(), bits.parse::<u32>())
        {
            let width = if address.is_ipv4() { 32 } else { 128 };
            return (bits <= width).then_some(Self::Network(address, bits));
        }
        let (host, port) = split_port(entry);
        let port = port.map(str::to_owned);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Some(Self::Address(address.to_canonical(), port));
        }
        let host = host.strip_prefix("*.").map_or(host.to_owned(), |rest| format!(".{rest}"));
        match host.strip_prefix('.') {
            _ if host.is_empty() => None,
            Some(_) => Some(Self::Domain { suffix: host, itself: false, port }),
            None => Some(Self::Domain { suffix: format!(".{host}"), itself: true, port }),
        }
    }

    fn covers(&self, host: &str, address: Option<IpAddr>, port: &str) -> bool {
        let port_fits = |wanted: &Option<String>| wanted.as_ref().is_none_or(|p| p == port);
        match self {
            Self::Everything => true,
            Self::Network(network, bits) => {
                address.is_some_and(|address| is_in(address, *network, *bits))
            }
            Self::Address(wanted, wanted_port) => {
                address == Some(*wanted) && port_fits(wanted_port)
            }
            Self::Domain { suffix, itself, port } => {
                let is_itself = *itself && suffix.strip_prefix('.') == Some(host);
                address.is_none() && (host.ends_with(suffix) || is_itself) && port_fits(port)
            }
        }
    }
}

/// `host:port` and `[address]:port`; a bare IPv6 address has no port.
fn split_port(entry: &str) -> (&str, Option<&str>) {
    if let Some((address, rest)) = entry.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        return (address, rest.strip_prefix(':'));
    }
    match entry.split_once(':') {
        Some((host, port)) if !port.contains(':') => (host, Some(port)),
        _ => (entry, None),
    }
}

fn is_in(address: IpAddr, network: IpAddr, bits: u32) -> bool {
    let same = |a: u128, b: u128, width: u32| {
        let ignored = width - bits;
        a.checked_shr(ignored).unwrap_or(0) == b.checked_shr(ignored).unwrap_or(0)
    };
    match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(n)) => same(a.to_bits().into(), n.to_bits().into(), 32),
        (IpAddr::V6(a), IpAddr::V6(n)) => same(a.to_bits(), n.to_bits(), 128),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_mean_what_they_mean_to_go() {
        let cases = [
            ("", "h", false),
            ("*", "10.1.2.3", true),
            ("example.test", "example.test", true),
            ("example.test", "kube.example.test", true),
            ("example.test", "notexample.test", false),
            (".example.test", "kube.example.test", true),
            (".example.test", "example.test", false),
            ("*.example.test", "kube.example.test", true),
            ("*.example.test", "example.test", false),
            ("ample.test", "kube.example.test", false),
            (" Example.TEST , x", "KUBE.example.test", true),
            ("example.test:443", "example.test", true),
            ("example.test:80", "example.test", false),
            ("10.0.0.0/8", "10.1.2.3", true),
            ("10.0.0.0/8", "11.1.2.3", false),
            ("0.0.0.0/0", "11.1.2.3", true),
            ("10.0.0.0/33", "10.1.2.3", false),
            ("fd00::/8", "fd00::1", true),
            ("fd00::/8", "fe80::1", false),
            ("::/0", "fe80::1", true),
            ("10.0.0.0/8,fd00::/8", "10.1.2.3", true),
            ("10.1.2.3", "10.1.2.3", true),
            ("10.1.2.3:443", "10.1.2.3", true),
            ("10.1.2.3:80", "10.1.2.3", false),
            ("[fd00::1]:443", "fd00::1", true),
            ("fd00::1", "fd00::1", true),
            ("10.", "10.1.2.3", false),
            ("10.1.2.*", "10.1.2.3", false),
            ("10.0.0.0/8", "ten.example.test", false),
            ("10.1.2.3", "ten.example.test", false),
            (":443", "h", false),
            ("", "localhost", true),
            ("", "127.0.0.9", true),
            ("", "::1", true),
        ];
        for (list, host, direct) in cases {
            assert_eq!(NoProxy::parse(list).covers(host, 443), direct, "{list:?} {host:?}");
        }
    }
}
