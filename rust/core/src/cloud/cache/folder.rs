//! The files of the cache: few enough, and those that were used last.
//!
//! Other processes may use the same folder. Files appear by being renamed, and may go at any time. What the folder holds
//! is looked at before the first file is written, and again from time to time, because others write too.

use std::collections::HashMap;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::entry::{Entry, Name, OVERHEAD};

/// Within the folder that the user names, so that nothing else there is ever touched.
const WITHIN: &str = "omnizarr-cache-1";

/// Files take whole blocks of a disk.
const BLOCK: u64 = 4096;

/// When a file was used is noted in it this seldom.
const SELDOM: Duration = Duration::from_secs(600);

/// What was being written for this long is not being written any more.
const ABANDONED: Duration = Duration::from_secs(3600);

/// A folder of entries.
pub struct Folder {
    path: PathBuf,
    limit: u64,
    state: Mutex<State>,
    /// Whether nothing can be written any more.
    full: AtomicBool,
    written: AtomicU64,
}

#[derive(Default)]
struct State {
    /// Files by name, once the folder was looked at.
    known: Option<HashMap<Name, Known>>,
    total: u64,
    /// Bytes written since the folder was looked at.
    since: u64,
}

#[derive(Clone, Copy)]
struct Known {
    bytes: u64,
    used: SystemTime,
}

fn blocks(bytes: u64) -> u64 {
    bytes.div_ceil(BLOCK).saturating_mul(BLOCK)
}

/// A part of the limit, in sixteenths.
fn sixteenths(limit: u64, n: u64) -> u64 {
    limit.checked_div(16).unwrap_or(0).saturating_mul(n)
}

fn make(path: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Whoever can write into the folder decides what is read: nobody else may.
#[cfg(unix)]
fn is_ours(folder: &Path, mine: &File) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let found = fs::symlink_metadata(folder)?;
    if !found.is_dir() || found.uid() != mine.metadata()?.uid() {
        return Err(io::Error::new(ErrorKind::PermissionDenied, "it is somebody else's"));
    }
    if found.mode() & 0o077 != 0 {
        fs::set_permissions(folder, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn is_ours(_: &Path, _: &File) -> io::Result<()> {
    Ok(())
}

impl Folder {
    /// The cache in a folder, which is made if it is not there.
    pub fn open(within: &Path, limit: u64) -> io::Result<Self> {
        let path = within.join(WITHIN);
        let (state, full, written) = (Mutex::default(), AtomicBool::new(false), AtomicU64::new(0));
        let made = Self { path, limit, state, full, written };
        make(&made.path)?;
        let trial = made.unnamed();
        let file = create(&trial)?;
        let ours = is_ours(&made.path, &file);
        fs::remove_file(&trial)?;
        ours.map(|()| made)
    }

    /// A name for a file that is being written.
    fn unnamed(&self) -> PathBuf {
        let count = self.written.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().subsec_nanos();
        self.path.join(format!(".{}-{now}-{count}", std::process::id()))
    }

    fn place(&self, name: &Name) -> PathBuf {
        let hex = name.hex();
        self.path.join(hex.get(..2).unwrap_or_default()).join(hex)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The entry of a name, if it has no more than `most` bytes. What is damaged is thrown away.
    pub fn get(&self, name: &Name, most: u64) -> Option<Entry> {
        let place = self.place(name);
        let file = File::open(&place).ok()?;
        let found = file.metadata().ok()?;
        // No file that was written here is larger.
        let largest = sixteenths(self.limit, 4);
        if found.len() > most.saturating_add(OVERHEAD).min(largest) {
            if found.len() > largest {
                self.lose(name, &place);
            }
            return None;
        }
        let mut bytes = Vec::new();
        let read = (&file).take(largest).read_to_end(&mut bytes);
        let Some(entry) = read.ok().and_then(|_| Entry::decode(name, bytes)) else {
            self.lose(name, &place);
            return None;
        };
        let now = SystemTime::now();
        if found.modified().is_ok_and(|then| now.duration_since(then).is_ok_and(|past| past > SELDOM)) {
            // Who may not note it, does not.
            let _ = file.set_modified(now);
        }
        // While someone looks through the folder, it is not worth waiting.
        if let Ok(mut state) = self.state.try_lock()
            && let Some(known) = state.known.as_mut().and_then(|known| known.get_mut(name))
        {
            known.used = now;
        }
        Some(entry)
    }

    fn lose(&self, name: &Name, place: &Path) {
        let _ = fs::remove_file(place);
        self.lock().forget(name);
    }

    /// Keep an entry, if it is not too large and the disk lets us.
    pub fn put(&self, name: &Name, entry: &Entry) {
        let Some(header) = entry.header(name) else { return };
        let bytes = blocks((header.len() as u64).saturating_add(entry.data.len() as u64));
        if self.full.load(Ordering::Relaxed) || bytes > sixteenths(self.limit, 4) {
            return;
        }
        self.make_room(bytes);
        let done = self.write(name, &header, &entry.data);
        let mut state = self.lock();
        if done.is_ok() {
            state.forget(name);
            if let Some(known) = state.known.as_mut() {
                known.insert(*name, Known { bytes, used: SystemTime::now() });
            }
        } else {
            state.total = state.total.saturating_sub(bytes);
            self.full.store(true, Ordering::Relaxed);
        }
    }

    fn write(&self, name: &Name, header: &[u8], data: &[u8]) -> io::Result<()> {
        let (fresh, place) = (self.unnamed(), self.place(name));
        let mut file = match create(&fresh) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                // Someone has cleaned up.
                make(&self.path)?;
                create(&fresh)?
            }
            made => made?,
        };
        let written = file.write_all(header).and_then(|()| file.write_all(data));
        drop(file);
        let moved = written.and_then(|()| match fs::rename(&fresh, &place) {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make(place.parent().unwrap_or(&self.path))?;
                fs::rename(&fresh, &place)
            }
            done => done,
        });
        if moved.is_err() {
            let _ = fs::remove_file(&fresh);
        }
        moved
    }

    /// See to it that so many bytes more are not too many, and count them.
    fn make_room(&self, bytes: u64) {
        let mut state = self.lock();
        if state.known.is_none() || state.since.saturating_add(bytes) > sixteenths(self.limit, 1) {
            self.look(&mut state);
        }
        if state.total.saturating_add(bytes) > sixteenths(self.limit, 14) {
            let keep = sixteenths(self.limit, 12).saturating_sub(bytes);
            let mut all: Vec<(SystemTime, Name)> =
                state.known.iter().flatten().map(|(name, known)| (known.used, *name)).collect();
            all.sort_unstable_by_key(|(used, _)| *used);
            for (_, name) in all {
                if state.total <= keep {
                    break;
                }
                let _ = fs::remove_file(self.place(&name));
                state.forget(&name);
            }
        }
        state.total = state.total.saturating_add(bytes);
        state.since = state.since.saturating_add(bytes);
    }

    /// See what the folder holds.
    fn look(&self, state: &mut State) {
        let before = state.known.take().unwrap_or_default();
        let (mut known, mut total, now) = (HashMap::new(), 0u64, SystemTime::now());
        for folder in fs::read_dir(&self.path).into_iter().flatten().flatten() {
            if folder.file_type().is_ok_and(|kind| kind.is_file()) {
                let Ok(found) = folder.metadata() else { continue };
                let age = found.modified().ok().and_then(|then| now.duration_since(then).ok());
                if age.is_some_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(folder.path());
                } else {
                    total = total.saturating_add(blocks(found.len()));
                }
                continue;
            }
            for file in fs::read_dir(folder.path()).into_iter().flatten().flatten() {
                let Some(name) = file.file_name().to_str().and_then(Name::from_hex) else { continue };
                let Ok(found) = file.metadata() else { continue };
                let noted = found.modified().unwrap_or(UNIX_EPOCH).min(now);
                let used = before.get(&name).map_or(noted, |known| known.used.max(noted));
                let bytes = blocks(found.len());
                known.insert(name, Known { bytes, used });
                total = total.saturating_add(bytes);
            }
        }
        *state = State { known: Some(known), total, since: 0 };
    }
}

impl State {
    fn forget(&mut self, name: &Name) {
        let lost = self.known.as_mut().and_then(|known| known.remove(name));
        self.total = self.total.saturating_sub(lost.map_or(0, |known| known.bytes));
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
