//! From the URL in a reference to its source, if the guard allows it.

use std::sync::Arc;

use url::Url;

use super::{FileSource, Guard, Open, Reach, Source, Stamp};
use crate::error::{Error, Result};
use crate::net::{Headers, HttpSource, Judge, Settings};

/// From the URL of an object to the object. Whoever asks has asked the [`Guard`] before.
pub trait Connect: Send + Sync {
    /// Open an object that was scanned in a state; `trusted` says whether the caller's own credentials may be used,
    /// and not only what everybody can see.
    fn connect(&self, url: &Url, trusted: bool, stamp: Stamp) -> Result<Arc<dyn Source>>;
}

/// Opens what the guard allows.
pub struct Opener {
    guard: Arc<Guard>,
    connect: Option<Arc<dyn Connect>>,
    headers: Headers,
}

impl Opener {
    /// An opener for one set; without `connect` no objects of object stores can be had. `headers` go to servers that the
    /// caller has named, never to one that only the set does.
    pub fn new(guard: Guard, connect: Option<Arc<dyn Connect>>, headers: Headers) -> Self {
        Self { guard: Arc::new(guard), connect, headers }
    }
}

impl Open for Opener {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>> {
        let stamp = self.guard.stamp(url)?;
        match self.guard.reach(url)? {
            Reach::File(paths) => {
                let path =
                    paths.iter().find(|path| path.exists()).or(paths.first()).map(|path| self.guard.file(url, path));
                let path = path.ok_or_else(|| Error::Invalid("a URL without a path".into()))??;
                Ok(Arc::new(FileSource::open(url, &path, &stamp)?))
            }
            Reach::Web { url, private } if matches!(url.scheme(), "http" | "https") => {
                let guard = Arc::clone(&self.guard);
                let settings = Settings::default();
                Ok(Arc::new(HttpSource::new(url, private, stamp, self.headers.clone(), judging(guard), settings)))
            }
            Reach::Web { url, private } => match &self.connect {
                Some(connect) => connect.connect(&url, private, stamp),
                None => {
                    let message = format!("references of the kind {}: cannot be read here", url.scheme());
                    Err(Error::Store { key: url.to_string(), op: "get", message, errno: None })
                }
            },
        }
    }
}

/// Judges redirections as the guard does.
pub fn judging(guard: Arc<Guard>) -> Judge {
    Arc::new(move |url| match guard.reach_url(url.clone())? {
        Reach::Web { private, .. } => Ok(private),
        Reach::File(_) => Err(Error::Invalid("a redirection to a file".into())),
    })
}
