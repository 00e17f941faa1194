//! One request, through redirections, to the headers of an answer.

use std::error::Error as StdError;
use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, IF_MATCH, LOCATION, RANGE, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use url::Url;

use super::address::{Private, check_literal};
use super::answer::length_of;
use super::given::Headers;
use super::http::Judge;
use super::net;
use super::trace::Asked;
use crate::error::Error;

const MOST_REDIRECTIONS: usize = 5;

/// Why a request did not succeed.
pub enum Trouble {
    /// Asking again will not help.
    Final(Error),
    /// Asking again may help, after a while that the server may have named.
    Again {
        /// What happened.
        message: String,
        /// The server's word on when to come back.
        after: Option<Duration>,
    },
}

/// What an attempt at a request gives.
pub type Attempt<T> = Result<T, Trouble>;

impl From<Error> for Trouble {
    fn from(error: Error) -> Self {
        Self::Final(error)
    }
}

impl Trouble {
    /// Something that may go better the next time.
    pub fn again(message: impl Into<String>) -> Self {
        Self::Again { message: message.into(), after: None }
    }
}

/// A URL, and whether its host may have an address that is not public.
#[derive(Clone)]
pub struct Target {
    /// Where to ask.
    pub url: Url,
    /// Whether the caller has named the host.
    pub private: bool,
}

/// A URL for messages: without a password, and without what signs it.
pub fn shown(url: &Url) -> String {
    let mut url = url.clone();
    url.set_fragment(None);
    let _ = url.set_password(None);
    let _ = url.set_username("");
    let secret = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["signature", "token", "secret", "credential", "password", "sig", "key"].iter().any(|word| name.contains(word))
    };
    if url.query_pairs().any(|(name, _)| secret(&name)) {
        url.set_query(Some("…"));
    }
    url.to_string()
}

/// The headers that ask for a part, and only of that state of the source that is known.
pub fn headers(range: Option<(u64, u64)>, etag: Option<&str>) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    if let Some((offset, length)) = range {
        let last = offset.saturating_add(length).saturating_sub(1);
        if let Ok(value) = HeaderValue::from_str(&format!("bytes={offset}-{last}")) {
            headers.insert(RANGE, value);
        }
    }
    if let Some(value) = etag.and_then(|tag| HeaderValue::from_str(tag).ok()) {
        headers.insert(IF_MATCH, value);
    }
    headers
}

/// Ask, follow redirections, and return the answer and where it came from.
///
/// What the caller has given goes with each request of the way whose server it is for.
pub async fn send(
    mut target: Target,
    headers: &HeaderMap,
    given: &Headers,
    reach: &Judge,
    stall: Duration,
) -> Result<(Response, Target), Trouble> {
    for _ in 0..=MOST_REDIRECTIONS {
        if !target.private {
            check_literal(&target.url).map_err(|private| refused(&target.url, &private))?;
        }
        let client = net()?.client(target.private)?;
        let range = headers.get(RANGE).and_then(|value| value.to_str().ok());
        let asked = Asked::new("GET", target.url.as_str(), range, 1);
        let mut all = given.of(&target.url).cloned().unwrap_or_default();
        all.extend(headers.clone());
        let request = client.get(target.url.clone()).headers(all).send();
        let response = match tokio::time::timeout(stall, request).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                asked.broken(0);
                return Err(unsent(&target.url, &error));
            }
            Err(_) => {
                asked.broken(0);
                return Err(Trouble::again(format!("no answer within {stall:?}")));
            }
        };
        asked.answered(response.status().as_u16(), 0, length_of(response.headers()));
        if !is_redirection(response.status()) {
            return Ok((response, target));
        }
        target = redirected(&target.url, &response, reach)?;
    }
    Err(fault(&target.url, format!("more than {MOST_REDIRECTIONS} redirections"), None).into())
}

fn is_redirection(status: StatusCode) -> bool {
    matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308)
}

fn redirected(from: &Url, response: &Response, reach: &Judge) -> Result<Target, Error> {
    let said = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
    let said = said.ok_or_else(|| fault(from, format!("{} without a place to go on to", response.status()), None))?;
    let to = from.join(said).map_err(|error| fault(from, format!("redirected to {said:?}: {error}"), None))?;
    if !matches!(to.scheme(), "http" | "https") || (from.scheme() == "https" && to.scheme() == "http") {
        let message = format!("redirected from {}: to {}:, which is not followed", from.scheme(), to.scheme());
        return Err(Error::Refused { url: shown(from), message, hint: String::new() });
    }
    let private = reach(&to)?;
    Ok(Target { url: to, private })
}

/// An answer that is an error, whatever was asked for.
pub fn check_status(url: &Url, response: &Response) -> Result<(), Trouble> {
    let status = response.status();
    match status.as_u16() {
        200..=299 | 412 | 416 => Ok(()),
        404 | 410 => Err(fault(url, format!("there is nothing at this address ({status})"), Some(libc::ENOENT)).into()),
        401 | 403 => Err(fault(url, format!("the server refuses access ({status})"), Some(libc::EACCES)).into()),
        408 | 425 | 429 | 500 | 502 | 503 | 504 => {
            let after = response.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok()?.trim().parse().ok());
            Err(Trouble::Again {
                message: format!("the server answered {status}"),
                after: after.map(Duration::from_secs),
            })
        }
        _ => Err(fault(url, format!("the server answered {status}"), None).into()),
    }
}

/// The error of something that a server did.
pub fn fault(url: &Url, message: impl Into<String>, errno: Option<i32>) -> Error {
    Error::Store { key: shown(url), op: "get", message: message.into(), errno }
}

fn refused(url: &Url, private: &Private) -> Error {
    let folder = url.join(".").map_or_else(|_| shown(url), |folder| shown(&folder));
    let hint = format!(
        "If the set is to be trusted, allow the place: allow=[{folder:?}] in Python, --allow {folder} on the command line."
    );
    Error::Refused { url: shown(url), message: private.to_string(), hint }
}

fn unsent(url: &Url, error: &reqwest::Error) -> Trouble {
    let mut cause: &dyn StdError = error;
    loop {
        if let Some(private) = cause.downcast_ref::<Private>() {
            return refused(url, private).into();
        }
        match cause.source() {
            Some(next) => cause = next,
            None => break,
        }
    }
    let doing = if error.is_connect() { "cannot connect" } else { "the connection broke" };
    Trouble::again(format!("{doing}: {cause}"))
}

/// What broke while a body was read.
pub fn broken(error: &reqwest::Error) -> Trouble {
    let mut cause: &dyn StdError = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    Trouble::again(format!("the answer broke off: {cause}"))
}
