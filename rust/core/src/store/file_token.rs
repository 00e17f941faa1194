//! What tells one state of a file from another.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use super::Token;

#[cfg(unix)]
pub(crate) fn token(meta: &Metadata) -> Option<Token> {
    use std::os::unix::fs::MetadataExt;
    let time = (meta.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec() as u64);
    Some(Token([meta.dev(), meta.ino(), meta.size(), time]))
}

#[cfg(not(unix))]
pub(crate) fn token(meta: &Metadata) -> Option<Token> {
    let time = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Token([meta.len(), time.as_secs(), u64::from(time.subsec_nanos()), 0]))
}

/// How old a file must be before its token is known to be of no other state of it, in nanoseconds. Times of files go by
/// ticks of the system, up to ten milliseconds, or by those of the file system, up to two seconds; and numbers of files
/// that are gone are given to new ones. The clock behind the ticks of a busy machine may be late.
const TICK: u64 = 100_000_000;
const COARSE_TICK: u64 = 3_000_000_000;

/// Whether another state of the same file may get the same token.
pub(crate) fn is_young(token: &Token) -> bool {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let (seconds, nanos) = time_of(token);
    let then = Duration::new(seconds, nanos);
    now.saturating_sub(then) < Duration::from_nanos(if nanos == 0 { COARSE_TICK } else { TICK })
}

#[cfg(unix)]
fn time_of(token: &Token) -> (u64, u32) {
    let Token([_, _, _, time]) = token;
    (time / 1_000_000_000, (time % 1_000_000_000) as u32)
}

#[cfg(not(unix))]
fn time_of(token: &Token) -> (u64, u32) {
    let Token([_, seconds, nanos, _]) = token;
    (*seconds, u32::try_from(*nanos).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Result;
    use crate::store::{FileStore, Store};

    /// A file that was just made may be replaced by another of the same number, size and time.
    #[test]
    fn young_files_cannot_be_told_from_their_successors() -> Result<()> {
        let folder = std::env::temp_dir().join(format!("omnizarr-young-{}", std::process::id()));
        let store = FileStore::new(&folder, false);
        store.put("x", &[b"1"])?;
        let now = SystemTime::now();
        let at = |before: Duration| {
            let file = std::fs::File::options().write(true).open(folder.join("x")).unwrap();
            file.set_modified(now.checked_sub(before).unwrap()).unwrap();
            let trusted = store.open("x").unwrap().is_some_and(|object| object.token().is_some());
            let state = store.state("x").unwrap().unwrap_or(0);
            assert_eq!(trusted, state.is_multiple_of(2));
            trusted
        };
        assert!(!at(Duration::ZERO));
        assert!(at(Duration::from_millis(1500) + Duration::from_nanos(1)));
        // Where the file system knows whole seconds.
        let whole = now.duration_since(SystemTime::UNIX_EPOCH).unwrap().subsec_nanos();
        assert!(!at(Duration::new(1, whole)));
        assert!(at(Duration::new(9, whole)));
        store.erase_prefix("")?;
        std::fs::remove_dir(folder).unwrap();
        Ok(())
    }
}
