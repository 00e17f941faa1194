//! Bytes from servers: an HTTP client for ranges, which believes nothing that it can check.
//!
//! One runtime and two clients for each process, made on first use: one connects to public addresses only, the other
//! to whatever the caller has named. Redirections are followed here and not by the client, so that each is judged.

mod address;
mod answer;
mod blocks;
mod body;
mod date;
mod gate;
mod given;
mod http;
mod judge;
mod request;
mod room;
mod trace;

pub(crate) use address::{Names, check_literal_text};
pub(crate) use answer::{content_range, looks_like_html};
pub use blocks::{Blocks, Ranged};
pub(crate) use body::{Body, Need};
pub use gate::Gate;
pub use given::Headers;
pub use http::{HttpSource, Judge, Settings};
pub(crate) use http::{SLOWEST, pause, read_many, receive, wait};
pub(crate) use room::expect_many;
pub use trace::{Asked, Request, trace, traced};

use std::collections::HashMap;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLockReadGuard};
use std::time::Duration;

use reqwest::{Client, redirect};
use tokio::runtime::{Builder, Runtime};

use crate::error::{Error, Result};
use crate::fork::{self, PerProcess};

/// Connections to a host that are kept for the next request.
const KEPT_OPEN: usize = 256;

const CONNECT: Duration = Duration::from_secs(10);
const KEEP_ALIVE: Duration = Duration::from_secs(60);

/// What a process needs to reach servers.
pub(crate) struct Net {
    runtime: Runtime,
    public: OnceLock<std::result::Result<Client, String>>,
    any: OnceLock<std::result::Result<Client, String>>,
    hosts: Mutex<HashMap<String, Arc<Gate>>>,
}

static NET: PerProcess<OnceLock<std::result::Result<Net, String>>> = PerProcess::new(OnceLock::new);

fn failed(message: &str) -> Error {
    Error::Store { key: String::new(), op: "get", message: message.into(), errno: None }
}

/// This process's means to reach servers.
pub(crate) fn net() -> Result<&'static Net> {
    let made = NET.get().get_or_init(|| {
        let mut builder = Builder::new_multi_thread();
        builder.worker_threads(2).thread_name("omnizarr-net").on_thread_park(room::idle).enable_all();
        let runtime = builder.build().map_err(|error| format!("no threads for the network: {error}"))?;
        room::make_room();
        Ok(Net { runtime, public: OnceLock::new(), any: OnceLock::new(), hosts: Mutex::default() })
    });
    made.as_ref().map_err(|message| failed(message))
}

impl Net {
    pub(crate) fn runtime(&self) -> &Runtime {
        &self.runtime
    }

    /// The client for public addresses, or the one for all.
    pub(crate) fn client(&self, private: bool) -> Result<&Client> {
        let slot = if private { &self.any } else { &self.public };
        slot.get_or_init(|| client(private)).as_ref().map_err(|message| failed(message))
    }

    /// What bounds the requests to a host.
    pub(crate) fn gate(&self, host: &str) -> Arc<Gate> {
        let mut hosts = hold(&self.hosts);
        if let Some(gate) = hosts.get(host) {
            return Arc::clone(gate);
        }
        let gate = Arc::new(Gate::new());
        hosts.insert(host.to_owned(), Arc::clone(&gate));
        gate
    }
}

fn client(private: bool) -> std::result::Result<Client, String> {
    let mut builder = Client::builder()
        .user_agent(concat!("omnizarr/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .connect_timeout(CONNECT)
        .pool_idle_timeout(KEEP_ALIVE)
        .pool_max_idle_per_host(KEPT_OPEN);
    builder = if private {
        builder.dns_resolver(address::Names)
    } else {
        builder.dns_resolver(address::PublicOnly { proxies: address::proxies() })
    };
    builder.build().map_err(|error| format!("no HTTP client: {error}"))
}

/// A lock that is held for a moment, during which no child process is made: it would find it locked for ever.
pub(crate) struct Held<'a, T> {
    value: MutexGuard<'a, T>,
    _fork: RwLockReadGuard<'static, ()>,
}

/// Lock for a moment.
pub(crate) fn hold<T>(mutex: &Mutex<T>) -> Held<'_, T> {
    let fork = fork::guard();
    Held { value: mutex.lock().unwrap_or_else(PoisonError::into_inner), _fork: fork }
}

impl<T> Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Held<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.value
    }
}
