//! Headers that the caller gives, and the servers that they are for.

use std::sync::Arc;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use url::{Origin, Url};

use crate::error::{Error, Result};

/// Headers for the requests to servers that the caller has named; no other server sees them, whoever leads there.
///
/// They may hold secrets: neither they nor errors about them show a value.
#[derive(Clone, Default)]
pub struct Headers(Option<Arc<Given>>);

struct Given {
    headers: HeaderMap,
    servers: Vec<Origin>,
}

impl Headers {
    /// Headers by name, and URLs of the servers that they are for: scheme, host and port count, paths do not.
    pub fn new<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>, servers: &[String]) -> Result<Self> {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            let name = name.parse::<HeaderName>().map_err(|_| Error::Invalid("this is no name of a header".into()))?;
            let bytes = value.chars().map(|one| u8::try_from(u32::from(one)).ok()).collect::<Option<Vec<u8>>>();
            let value = bytes.and_then(|bytes| HeaderValue::from_bytes(&bytes).ok());
            let mut value = value.ok_or_else(|| Error::Invalid(format!("this is no value of the header {name}")))?;
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if headers.is_empty() {
            return Ok(Self::default());
        }
        let origins = servers.iter().filter_map(|url| Url::parse(url).ok()).map(|url| url.origin());
        // Origins of other kinds of URL equal no other.
        let servers = origins.filter(Origin::is_tuple).collect();
        Ok(Self(Some(Arc::new(Given { headers, servers }))))
    }

    /// Those that go with a request to a URL.
    pub fn of(&self, url: &Url) -> Option<&HeaderMap> {
        let given = self.0.as_ref()?;
        given.servers.contains(&url.origin()).then_some(&given.headers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sent(headers: &Headers, url: &str) -> bool {
        headers.of(&Url::parse(url).unwrap()).is_some()
    }

    #[test]
    fn only_the_same_scheme_host_and_port_count() {
        let servers = ["https://Example.org/data/set.json".to_owned(), "no URL".into(), "file:///data".into()];
        let made = Headers::new([("Authorization", "Bearer hush")], &servers).unwrap();
        assert!(sent(&made, "https://example.org/") && sent(&made, "https://EXAMPLE.org:443/other?x"));
        for other in
            ["http://example.org/", "https://example.org:444/", "https://a.example.org/", "https://example.org./"]
        {
            assert!(!sent(&made, other), "{other}");
        }
        assert!(!sent(&made, "https://example.org@evil.example/") && !sent(&made, "file:///data"));
        assert!(!sent(&Headers::new([], &servers).unwrap(), "https://example.org/"));
    }

    #[test]
    fn nothing_shows_in_errors_or_in_the_map() {
        for (name, value) in
            [("a b", "hush"), ("", "hush"), ("a", "hush\r\nb: c"), ("a", "hush\u{2026}"), ("a", "\0hush")]
        {
            let error = Headers::new([(name, value)], &[]).err().unwrap().to_string();
            assert!(!error.contains("hush"), "{error}");
        }
        let made = Headers::new([("a", "h\u{fc}sh")], &["http://h/".into()]).unwrap();
        let shown = format!("{:?}", made.of(&Url::parse("http://h/x").unwrap()).unwrap());
        assert!(shown.contains("Sensitive"), "{shown}");
    }
}
