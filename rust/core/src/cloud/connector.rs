//! The way of every request of `object_store`: in turn, again where that helps, and counted.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpResponse, HttpService, ReqwestConnector,
};
use reqwest::header::{CONTENT_LENGTH, CONTENT_RANGE, HeaderMap, IF_MATCH, IF_NONE_MATCH, RANGE, RETRY_AFTER};
use reqwest::{Method, StatusCode};

use super::Settings;
use super::pages::without_odd_names;
use crate::fork::PerProcess;
use crate::net::{self, Asked, content_range, pause};

/// Bytes a second that a body on its way out is granted.
const SLOWEST: u64 = 4 << 10;

/// Clients by what they were made for: their connections, and the system's certificates, are for all stores of a process.
static CLIENTS: PerProcess<Mutex<HashMap<String, HttpClient>>> = PerProcess::new(Mutex::default);

/// Makes the services that requests go through.
#[derive(Debug, Clone)]
pub struct Connector {
    /// All that decides what the client is like.
    client: String,
    settings: Settings,
    /// The name of the gate that hears of complaints.
    gate: String,
    /// Whether the caller has named the place.
    trusted: bool,
}

impl Connector {
    /// As these settings say, with the same client for the same name. Where the caller has not named the place himself,
    /// only public addresses are reached, and no redirection is followed.
    pub fn new(client: String, settings: Settings, gate: String, trusted: bool) -> Self {
        Self { client, settings, gate, trusted }
    }

    fn shared(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        if let Some(client) = net::hold(CLIENTS.get()).get(&self.client) {
            return Ok(client.clone());
        }
        let client = ReqwestConnector::default().connect(options)?;
        Ok(net::hold(CLIENTS.get()).entry(self.client.clone()).or_insert(client).clone())
    }
}

impl HttpConnector for Connector {
    fn connect(&self, options: &ClientOptions) -> object_store::Result<HttpClient> {
        let inner = if self.trusted {
            self.shared(options)?
        } else {
            let client = net::net().and_then(|net| net.client(false).cloned());
            let failed = |error: crate::error::Error| object_store::Error::Generic {
                store: "network",
                source: error.to_string().into(),
            };
            HttpClient::new(client.map_err(failed)?)
        };
        let (settings, gate, trusted) = (self.settings, self.gate.clone(), self.trusted);
        Ok(HttpClient::new(Service { inner, settings, gate, trusted }))
    }
}

#[derive(Debug)]
struct Service {
    inner: HttpClient,
    settings: Settings,
    gate: String,
    trusted: bool,
}

/// How an attempt ended that another may follow.
enum Ended {
    Answer(HttpResponse),
    Broken(HttpError),
}

/// An answer that is none to what was asked.
#[derive(Debug)]
struct Odd(&'static str);

impl std::fmt::Display for Odd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "the service sent {}", self.0)
    }
}

impl std::error::Error for Odd {}

#[derive(Debug)]
struct Silent(Duration);

impl std::fmt::Display for Silent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "no answer within {:?}", self.0)
    }
}

impl std::error::Error for Silent {}

impl Service {
    /// How long the headers of an answer may take: a body on its way out takes its time.
    fn patience(&self, request: &HttpRequest) -> Duration {
        let bytes = u64::try_from(request.body().content_length()).unwrap_or(u64::MAX);
        self.settings.net.stall.saturating_add(Duration::from_secs(bytes.checked_div(SLOWEST).unwrap_or(0)))
    }

    async fn attempt(&self, request: HttpRequest, attempt: u32) -> Ended {
        if !self.trusted
            && let Err(private) = net::check_literal_text(&request.uri().to_string())
        {
            return Ended::Broken(HttpError::new(HttpErrorKind::Decode, private));
        }
        let patience = self.patience(&request);
        let whole = request.method() == Method::GET && !request.headers().contains_key(RANGE);
        let range = request.headers().get(RANGE).and_then(|value| value.to_str().ok());
        let asked = Asked::new(request.method().as_str(), request.uri(), range, attempt);
        let sent = request.body().content_length() as u64;
        match tokio::time::timeout(patience, self.inner.execute(request)).await {
            Ok(Ok(mut response)) => {
                if !whole && response.status() == StatusCode::OK && says_part(response.headers()) {
                    // Some servers send a part, say which, and call it all.
                    *response.status_mut() = StatusCode::PARTIAL_CONTENT;
                }
                asked.answered(response.status().as_u16(), sent, length(response.headers()));
                if whole && (response.status() == StatusCode::PARTIAL_CONTENT || says_part(response.headers())) {
                    return Ended::Broken(HttpError::new(HttpErrorKind::Request, Odd("a part in place of all")));
                }
                if let (true, Ok(net)) = (is_throttling(response.status()), net::net()) {
                    net.gate(&self.gate).complained();
                }
                Ended::Answer(response)
            }
            Ok(Err(error)) => {
                asked.broken(sent);
                Ended::Broken(error)
            }
            Err(_) => {
                asked.broken(sent);
                if let (true, Ok(net)) = (sent > 0, net::net()) {
                    // A line that is too narrow for so many at once.
                    net.gate(&self.gate).complained();
                }
                Ended::Broken(HttpError::new(HttpErrorKind::Timeout, Silent(patience)))
            }
        }
    }
}

fn says_part(headers: &HeaderMap) -> bool {
    let said = headers.get(CONTENT_RANGE).and_then(|value| content_range(value.to_str().ok()?)?.part);
    said.is_some_and(|(_, bytes)| length(headers) == Some(bytes))
}

fn length(headers: &HeaderMap) -> Option<u64> {
    headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse().ok()
}

fn is_throttling(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 503)
}

fn is_passing(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 425 | 429 | 500 | 502 | 503 | 504)
}

/// Whether to do it twice is not what doing it once is: a condition that held may not hold after what it was for.
fn is_delicate(request: &HttpRequest) -> bool {
    let conditions = [IF_MATCH.as_str(), IF_NONE_MATCH.as_str(), "x-goog-if-generation-match"];
    let conditional = conditions.iter().any(|name| request.headers().contains_key(*name));
    request.method() == Method::POST || (request.method() == Method::PUT && conditional)
}

/// What tells that a request lists keys.
const LISTS: [&str; 2] = ["list-type=", "comp=list"];

/// An answer that lists keys, all of it, without those that are none of ours.
async fn plain_page(ended: Ended, stall: Duration) -> Ended {
    let response = match ended {
        Ended::Answer(response) if response.status() == StatusCode::OK => response,
        ended => return ended,
    };
    let (parts, body) = response.into_parts();
    match tokio::time::timeout(stall, body.bytes()).await {
        Ok(Ok(page)) => {
            let page = without_odd_names(&page).map_or(page, Into::into);
            Ended::Answer(HttpResponse::from_parts(parts, page.into()))
        }
        Ok(Err(error)) => Ended::Broken(HttpError::new(HttpErrorKind::Interrupted, error)),
        Err(_) => Ended::Broken(HttpError::new(HttpErrorKind::Timeout, Silent(stall))),
    }
}

#[async_trait::async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let (started, delicate) = (Instant::now(), is_delicate(&request));
        let query = request.uri().query().unwrap_or_default();
        let lists = request.method() == Method::GET && LISTS.iter().any(|sign| query.contains(sign));
        let mut attempt = 1u32;
        loop {
            let mut ended = self.attempt(request.clone(), attempt).await;
            if lists {
                ended = plain_page(ended, self.settings.net.stall).await;
            }
            let after = match &ended {
                Ended::Answer(response) if is_passing(response.status()) => {
                    // Whoever is turned away has not been served, so that it is safe to come again.
                    if delicate && !is_throttling(response.status()) {
                        None
                    } else {
                        let said = response.headers().get(RETRY_AFTER);
                        let said = said.and_then(|value| value.to_str().ok()?.trim().parse().ok());
                        Some(said.map_or_else(|| pause(self.settings.net.pause, attempt), Duration::from_secs))
                    }
                }
                Ended::Answer(_) => None,
                Ended::Broken(error) => {
                    let safe = error.kind() == HttpErrorKind::Connect || !delicate;
                    let passing = !matches!(error.kind(), HttpErrorKind::Decode);
                    (safe && passing).then(|| pause(self.settings.net.pause, attempt))
                }
            };
            let left = self.settings.budget.saturating_sub(started.elapsed());
            match (after, ended) {
                (Some(after), _) if attempt < self.settings.net.attempts && after < left => {
                    tokio::time::sleep(after).await;
                    attempt = attempt.saturating_add(1);
                }
                (_, Ended::Answer(response)) => return Ok(response),
                (_, Ended::Broken(error)) => return Err(error),
            }
        }
    }
}
