//! Which URLs a set may reach.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use url::Url;

use super::Stamp;
use crate::error::{Error, Result};

/// Which URLs a set may reach, and where relative ones start.
#[derive(Debug, Clone, Default)]
pub struct Guard {
    /// Where the set itself is, up to and with the last `/`: what relative URLs are relative to.
    pub base: String,
    /// What URLs may lead to: folders, files, or URLs whose path is a folder; all below them is allowed too. A URL without
    /// a host, as `https://`, allows what is public of that kind. `*` allows everything.
    pub allow: Vec<String>,
    /// The states in which the sources were scanned, by URL as the set spells it.
    pub stamps: HashMap<String, Stamp>,
    /// Where more of them are, to be looked up when a source is opened.
    pub later: Option<Arc<dyn Stamps>>,
}

/// States in which sources were scanned, found by URL.
pub trait Stamps: std::fmt::Debug + Send + Sync {
    /// What is known of a source, by its URL as the set spells it.
    fn stamp(&self, url: &str) -> Result<Option<Stamp>>;
}

/// Where a URL leads that may be followed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reach {
    /// To one of these files of this machine, the first that is there; links may still lead elsewhere, see [`Guard::file`].
    File(Vec<PathBuf>),
    /// To a server or a bucket.
    Web {
        /// The whole URL.
        url: Url,
        /// Whether the host's address may be one that is not public. Redirections are asked about anew.
        private: bool,
    },
}

impl Guard {
    /// The state in which a source was scanned, as far as it is known.
    pub fn stamp(&self, url: &str) -> Result<Stamp> {
        if let Some(stamp) = self.stamps.get(url) {
            return Ok(stamp.clone());
        }
        let later = self.later.as_ref().map(|later| later.stamp(url)).transpose()?;
        Ok(later.flatten().unwrap_or_default())
    }

    /// Where a URL of the set leads.
    pub fn reach(&self, text: &str) -> Result<Reach> {
        match self.place(text)? {
            Place::Files(paths) => {
                if let Some(path) = paths.iter().find(|path| !self.allows_file(path)) {
                    return Err(refused_file(text, path));
                }
                Ok(Reach::File(paths))
            }
            Place::Web(url) => self.reach_url(url),
        }
    }

    /// Whether a server may be asked, of the set itself or as the target of a redirection.
    pub fn reach_url(&self, url: Url) -> Result<Reach> {
        let named = self.allow.iter().any(|entry| entry == "*" || below(entry, &url));
        if named {
            return Ok(Reach::Web { url, private: true });
        }
        let kind = format!("{}://", url.scheme());
        if self.allow.iter().any(|entry| entry.eq_ignore_ascii_case(&kind)) {
            return Ok(Reach::Web { url, private: false });
        }
        let mut folder = url.clone();
        folder.set_query(None);
        folder.set_fragment(None);
        let (path, _) = url.path().rsplit_once('/').unwrap_or_default();
        folder.set_path(&format!("{path}/"));
        Err(refused(url.as_str(), "the set may not reach this place", folder.as_str()))
    }

    /// Check once more where a path leads, links and all, and return that.
    pub fn file(&self, text: &str, path: &Path) -> Result<PathBuf> {
        let real = path.canonicalize().map_err(|error| super::file::failed(text, &error))?;
        if self.allows_file(path) && self.real_roots(&real) { Ok(real) } else { Err(refused_file(text, &real)) }
    }

    fn allows_file(&self, path: &Path) -> bool {
        self.roots().any(|root| root.is_none_or(|root| path.starts_with(&root)))
    }

    fn real_roots(&self, real: &Path) -> bool {
        self.roots().any(|root| {
            root.is_none_or(|root| {
                root.canonicalize().is_ok_and(|root| real.starts_with(root)) || real.starts_with(&root)
            })
        })
    }

    /// The folders and files that are allowed; `None` stands for all.
    fn roots(&self) -> impl Iterator<Item = Option<PathBuf>> {
        let entries = self.allow.iter().filter(|entry| !entry.is_empty());
        entries.filter_map(|entry| match entry.as_str() {
            "*" => Some(None),
            entry if is_url(entry) && !is_file_url(entry) => None,
            entry => file_paths(entry).ok()?.into_iter().next().filter(|path| path.is_absolute()).map(Some),
        })
    }

    fn place(&self, text: &str) -> Result<Place> {
        if text.is_empty() || text.contains('\0') {
            return Err(refused(text, "this is no URL", ""));
        }
        if is_file_url(text) {
            return file_paths(text).map(Place::Files);
        }
        if is_url(text) {
            let url = Url::parse(text).map_err(|error| refused(text, &format!("this is no URL: {error}"), ""))?;
            return match url.scheme() {
                "http" | "https" | "s3" | "gs" | "gcs" | "az" | "abfs" | "abfss" => Ok(Place::Web(url)),
                other => Err(refused(text, &format!("references of the kind {other}: are not followed"), "")),
            };
        }
        if is_url(&self.base) && !is_file_url(&self.base) && !Path::new(text).has_root() {
            let base =
                Url::parse(&self.base).map_err(|error| refused(&self.base, &format!("this is no URL: {error}"), ""))?;
            // Written as a path: what would be special in a URL is part of a name here.
            let escaped = text.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
            let url = base.join(&format!("./{escaped}"));
            return url.map(Place::Web).map_err(|error| refused(text, &format!("this is no URL: {error}"), ""));
        }
        let path = if Path::new(text).is_absolute() {
            PathBuf::from(text)
        } else if self.base.is_empty() {
            return Err(refused(text, "it is relative, and nobody knows to what", ""));
        } else {
            let base = file_paths(&self.base)?.into_iter().next().unwrap_or_default();
            base.join(text)
        };
        Ok(Place::Files(vec![plain(&path)]))
    }
}

enum Place {
    Files(Vec<PathBuf>),
    Web(Url),
}

/// Whether a text has a scheme. A single letter is a drive; names of files may have colons, so two slashes must follow.
fn is_url(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once("://") else { return is_file_url(text) };
    let first = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic());
    first && scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+.-".contains(&byte))
}

fn is_file_url(text: &str) -> bool {
    let starts = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    starts("file:") || starts("local://")
}

/// The paths that a path or a `file:` URL may mean: as the standard has it, and as those write it who escape nothing.
fn file_paths(text: &str) -> Result<Vec<PathBuf>> {
    if !is_file_url(text) {
        return Ok(vec![plain(Path::new(text))]);
    }
    let rest = text.split_once(':').map_or("", |(_, rest)| rest);
    let path = match rest.strip_prefix("//") {
        None => rest,
        Some(rest) => {
            let (host, _) = rest.split_once('/').unwrap_or((rest, ""));
            if !(host.is_empty() || host.eq_ignore_ascii_case("localhost")) {
                return Err(refused(text, &format!("it is a file of another machine, {host}"), ""));
            }
            rest.get(host.len()..).unwrap_or_default()
        }
    };
    // On Windows `/C:/x` is `C:/x`.
    let path = if cfg!(windows) && path.get(2..3) == Some(":") { path.get(1..).unwrap_or_default() } else { path };
    let literal = plain(Path::new(path));
    let decoded = plain(Path::new(&unescaped(path)));
    if !literal.is_absolute() {
        return Err(refused(text, "a file: URL needs a whole path", ""));
    }
    Ok(if decoded == literal { vec![literal] } else { vec![decoded, literal] })
}

fn unescaped(text: &str) -> String {
    let digit = |byte: Option<&u8>| byte.and_then(|&byte| char::from(byte).to_digit(16));
    let (bytes, mut made) = (text.as_bytes(), Vec::with_capacity(text.len()));
    let mut i = 0usize;
    while let Some(&byte) = bytes.get(i) {
        let pair = (digit(bytes.get(i.saturating_add(1))), digit(bytes.get(i.saturating_add(2))));
        if let (b'%', (Some(high), Some(low))) = (byte, pair) {
            made.push(u8::try_from(high.saturating_mul(16).saturating_add(low)).unwrap_or(byte));
            i = i.saturating_add(3);
        } else {
            made.push(byte);
            i = i.saturating_add(1);
        }
    }
    String::from_utf8(made).unwrap_or_else(|_| text.to_owned())
}

/// The path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut made = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(made.pop()),
            other => made.push(other),
        }
    }
    made
}

/// Whether a URL is what an entry names, or lies below it.
fn below(entry: &str, url: &Url) -> bool {
    if !is_url(entry) || is_file_url(entry) {
        return false;
    }
    let Ok(allowed) = Url::parse(entry) else { return false };
    let same = allowed.scheme() == url.scheme()
        && allowed.host_str().is_some_and(|host| !host.is_empty())
        && allowed.host_str() == url.host_str()
        && allowed.port_or_known_default() == url.port_or_known_default();
    let (folder, path) = (allowed.path(), url.path());
    let rest = path.strip_prefix(folder);
    same && rest
        .is_some_and(|rest| rest.is_empty() || folder.is_empty() || folder.ends_with('/') || rest.starts_with('/'))
}

fn refused(url: &str, message: &str, allow: &str) -> Error {
    let hint = if allow.is_empty() {
        String::new()
    } else {
        format!(
            "If the set is to be trusted, allow the place: allow=[{allow:?}] in Python, --allow {allow} on the command \
             line, or OMNIZARR_ALLOW in the environment."
        )
    };
    Error::Refused { url: url.into(), message: message.into(), hint }
}

fn refused_file(url: &str, path: &Path) -> Error {
    let folder = path.parent().map(|parent| parent.join("").display().to_string()).unwrap_or_default();
    refused(url, "the set may not reach files of this folder", &folder)
}
