//! Which addresses of the network a set from somewhere else may lead to: public ones.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use object_store::client::{DnsFuture, DnsResolver};
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use url::{Host, Url};

use crate::refs::is_public;

/// A host that has, or may have, an address inside somebody's own network.
#[derive(Debug)]
pub struct Private(pub String);

impl fmt::Display for Private {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} is an address inside a private network", self.0)
    }
}

impl std::error::Error for Private {}

/// Refuse a URL whose host is written as an address that is not public, or is a name for this machine.
pub fn check_literal(url: &Url) -> Result<(), Private> {
    let fine = match url.host() {
        None => true,
        Some(Host::Ipv4(address)) => is_public(IpAddr::V4(address)),
        Some(Host::Ipv6(address)) => is_public(IpAddr::V6(address)),
        Some(Host::Domain(name)) => !is_local_name(name),
    };
    if fine { Ok(()) } else { Err(Private(url.host_str().unwrap_or_default().into())) }
}

/// As [`check_literal`], for a URL as text.
pub fn check_literal_text(text: &str) -> Result<(), Private> {
    match Url::parse(text) {
        Ok(url) => check_literal(&url),
        Err(_) => Err(Private("a place that is no URL".into())),
    }
}

fn is_local_name(name: &str) -> bool {
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    name == "localhost" || name.ends_with(".localhost") || name == "localhost.localdomain"
}

/// Finds the addresses of names; those below `localhost` are of this machine, also where the system does not know it.
#[derive(Debug)]
pub struct Names;

impl Names {
    /// The addresses of a name.
    pub async fn find(host: &str) -> std::io::Result<Vec<IpAddr>> {
        if is_local_name(host) {
            return Ok(vec![IpAddr::from([127, 0, 0, 1]), IpAddr::from([0, 0, 0, 0, 0, 0, 0, 1])]);
        }
        Ok(tokio::net::lookup_host((host, 0)).await?.map(|found| found.ip()).collect())
    }
}

impl Resolve for Names {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        Box::pin(async move {
            let found = Self::find(&host).await?;
            Ok(Box::new(found.into_iter().map(|address| SocketAddr::new(address, 0))) as Addrs)
        })
    }
}

impl DnsResolver for Names {
    fn resolve(&self, host: &str) -> DnsFuture {
        let host = host.to_owned();
        Box::pin(async move { Ok(Self::find(&host).await?) })
    }
}

/// Finds the addresses of names, and refuses names that have one which is not public.
///
/// The check is made on the very addresses that are connected to: a name that has other addresses the next time gains
/// nothing.
pub struct PublicOnly {
    /// Hosts of proxies, which the user's surroundings name.
    pub proxies: Vec<String>,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let host = name.as_str().to_owned();
        let known = self.proxies.contains(&host);
        Box::pin(async move {
            let found: Vec<SocketAddr> = tokio::net::lookup_host((host.as_str(), 0)).await?.collect();
            if !known && let Some(bad) = found.iter().find(|one| !is_public(one.ip())) {
                return Err(
                    Box::new(Private(format!("{host} ({})", bad.ip()))) as Box<dyn std::error::Error + Send + Sync>
                );
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}

/// The hosts of the proxies that the environment names.
pub fn proxies() -> Vec<String> {
    let names = ["http_proxy", "https_proxy", "all_proxy"];
    let both = names.iter().flat_map(|name| [(*name).to_owned(), name.to_ascii_uppercase()]);
    let values = both.filter_map(|name| std::env::var(name).ok());
    let urls = values.map(|value| if value.contains("://") { value } else { format!("http://{value}") });
    urls.filter_map(|url| Url::parse(&url).ok()?.host_str().map(str::to_owned)).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn hosts_written_in_odd_ways_are_known() {
        let odd = [
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f.1/",
            "http://0177.0.0.1/",
            "http://[::1]/",
            "http://LOCALHOST/",
            "http://a.localhost./",
            "http://[::ffff:7f00:1]/",
            "http://169.254.169.254/latest",
        ];
        for text in odd {
            assert!(check_literal(&Url::parse(text).unwrap()).is_err(), "{text}");
        }
        assert!(check_literal(&Url::parse("http://example.org/x").unwrap()).is_ok());
    }
}
