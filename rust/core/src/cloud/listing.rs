//! What is in a bucket.

use std::collections::HashMap;

use futures_util::StreamExt;
use object_store::ObjectStore;
use object_store::path::Path;

use super::failure::{Meaning, failed, forbidden, meaning};
use crate::error::{Error, Result};
use crate::store::Listing;

/// How often a listing is begun anew.
const ATTEMPTS: u32 = 3;

/// All keys below a prefix, in order.
pub async fn below(store: &dyn ObjectStore, root: &Path, prefix: &str) -> Result<Listing> {
    let mut keys: Vec<String> = sizes(store, root, prefix).await?.into_keys().collect();
    keys.sort_unstable();
    Ok((keys, Vec::new()))
}

/// All keys below a prefix, and how large the values are.
pub async fn sizes(store: &dyn ObjectStore, root: &Path, prefix: &str) -> Result<HashMap<String, u64>> {
    let path = child(root, prefix.trim_end_matches('/'))?;
    let mut attempt = 1u32;
    loop {
        match all(store, &path, root).await {
            Ok(found) => return Ok(found),
            Err(said) if is_nothing(&said) => return Ok(HashMap::new()),
            Err(said) => again(prefix, said, &mut attempt)?,
        }
    }
}

/// What is right below a prefix.
pub async fn right_below(store: &dyn ObjectStore, root: &Path, prefix: &str) -> Result<Listing> {
    let path = child(root, prefix.trim_end_matches('/'))?;
    let mut attempt = 1u32;
    loop {
        match level(store, &path, root).await {
            Ok(found) => return Ok(found),
            Err(said) if is_nothing(&said) => return Ok((Vec::new(), Vec::new())),
            Err(said) => again(prefix, said, &mut attempt)?,
        }
    }
}

/// A bucket without such keys is empty there, whatever the service calls that.
fn is_nothing(failed: &Failed) -> bool {
    matches!(failed, Failed::Theirs(said) if matches!(meaning(said), Meaning::Missing))
}

/// Whether to list once more.
fn again(prefix: &str, said: Failed, attempt: &mut u32) -> Result<()> {
    let said = match said {
        Failed::Ours(error) => return Err(error),
        Failed::Theirs(said) => said,
    };
    match meaning(&said) {
        Meaning::Forbidden(message) => Err(forbidden(prefix, "list", &message)),
        Meaning::Again(_) if *attempt < ATTEMPTS => {
            *attempt = attempt.saturating_add(1);
            Ok(())
        }
        Meaning::Again(message) | Meaning::Final(message) | Meaning::Spent(message) => {
            Err(failed(prefix, "list", message))
        }
        Meaning::Condition | Meaning::Missing => Err(failed(prefix, "list", said.to_string())),
    }
}

/// The path of a key in the bucket.
pub fn child(root: &Path, key: &str) -> Result<Path> {
    let text = match (root.as_ref(), key) {
        (root, "") => root.to_owned(),
        ("", key) => key.to_owned(),
        (root, key) => format!("{root}/{key}"),
    };
    Path::parse(&text).map_err(|error| Error::Unsafe { key: key.into(), message: error.to_string() })
}

enum Failed {
    Ours(Error),
    Theirs(object_store::Error),
}

impl From<object_store::Error> for Failed {
    fn from(said: object_store::Error) -> Self {
        Self::Theirs(said)
    }
}

/// A path as a key of the store.
fn key(path: &Path, root: &Path) -> Option<String> {
    match (path.as_ref(), root.as_ref()) {
        (path, "") => Some(path.to_owned()),
        (path, root) => path.strip_prefix(root)?.strip_prefix('/').map(str::to_owned),
    }
}

async fn all(store: &dyn ObjectStore, path: &Path, root: &Path) -> std::result::Result<HashMap<String, u64>, Failed> {
    let mut keys = HashMap::new();
    let mut found = store.list((!path.as_ref().is_empty()).then_some(path));
    // A service that leads back to a page it has sent would do so for ever: a key that comes again gives it away.
    let (mut mark, mut next, mut count) = (String::new(), 1usize, 0usize);
    while let Some(one) = found.next().await {
        let one = one?;
        let Some(key) = key(&one.location, root) else { continue };
        if count > 0 && key == mark {
            let message = format!("the service lists {key:?} again and again");
            return Err(Failed::Ours(failed(path.as_ref(), "list", message)));
        }
        count = count.saturating_add(1);
        if count == next {
            mark.clone_from(&key);
            next = next.saturating_mul(2);
        }
        keys.insert(key, one.size);
    }
    Ok(keys)
}

async fn level(store: &dyn ObjectStore, path: &Path, root: &Path) -> std::result::Result<Listing, Failed> {
    let found = store.list_with_delimiter((!path.as_ref().is_empty()).then_some(path)).await?;
    let mut keys: Vec<String> = found.objects.iter().filter_map(|one| key(&one.location, root)).collect();
    let mut prefixes: Vec<String> =
        found.common_prefixes.iter().filter_map(|one| Some(format!("{}/", key(one, root)?))).collect();
    keys.sort_unstable();
    prefixes.sort_unstable();
    keys.dedup();
    prefixes.dedup();
    Ok((keys, prefixes))
}
