//! The file in which the next state of an archive grows, beside the archive and under another name.
//!
//! It is locked as long as its writer lives, so that two processes never write one archive, and what a killed writer left
//! behind is taken over by the next.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::entry::{Entry, Place, fault};
use super::record::{LOCAL, descriptor, local_header};
use super::source::{FileSource, Source, broken};
use crate::error::{ArchiveFault, Error, Result};

/// Parts up to this size are written with their header in one call.
const SMALL: u64 = 64 << 10;

/// A new archive that is being written, entry by entry and by several threads.
pub(super) struct Partial {
    pub(super) file: Arc<FileSource>,
    /// Its name; `None` if it never had one, or has been renamed.
    pub(super) path: Option<PathBuf>,
    /// Where the next entry goes.
    end: AtomicU64,
    /// Who made it.
    pub(super) process: u32,
}

static COUNT: AtomicU64 = AtomicU64::new(0);

fn beside(archive: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(archive.file_name().unwrap_or_default());
    name.push(suffix);
    archive.with_file_name(name)
}

#[cfg(unix)]
fn try_lock(file: &File) -> io::Result<bool> {
    match rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(true),
        Err(rustix::io::Errno::WOULDBLOCK) => Ok(false),
        // Some network file systems have no locks; the look at the archive before it is replaced is left.
        Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS | rustix::io::Errno::NOLCK) => Ok(true),
        Err(error) => Err(error.into()),
    }
}

/// Whether nobody else holds the lock, for sure: not where there are no locks.
#[cfg(unix)]
fn is_alone(file: &File) -> bool {
    rustix::fs::flock(file, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_ok()
}

#[cfg(not(unix))]
fn is_alone(_: &File) -> bool {
    false
}

#[cfg(unix)]
fn unlock(file: &File) {
    // A child process may share the lock, so closing the file would not be enough; where there is none, all is well.
    let _ = rustix::fs::flock(file, rustix::fs::FlockOperation::Unlock);
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let (here, there) = (file.metadata()?, fs::symlink_metadata(path));
    Ok(there.is_ok_and(|there| (there.dev(), there.ino()) == (here.dev(), here.ino())))
}

#[cfg(not(unix))]
fn try_lock(_: &File) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
fn unlock(_: &File) {}

#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

/// For a file of ours that is no link: one that somebody has put there would lead to another file.
fn unlinked() -> OpenOptions {
    let mut open = OpenOptions::new();
    open.read(true).write(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut open, rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
    open
}

fn no_link(path: &Path, error: io::Error) -> Error {
    if path.is_symlink() {
        let message = format!("{} is a link, in the place of what is being written", path.display());
        return fault("", ArchiveFault::Conflict, message, "Remove the link, or write to an archive elsewhere.");
    }
    broken("put", &error)
}

impl Partial {
    fn new(file: File, path: Option<PathBuf>) -> Self {
        let file = Arc::new(FileSource(file));
        Self { file, path, end: AtomicU64::new(0), process: std::process::id() }
    }

    /// Begin to write the archive at a path, unless another process does.
    pub(super) fn begin(archive: &Path) -> Result<Self> {
        let path = beside(archive, ".partial");
        let fail = |error: io::Error| broken("put", &error);
        if let Some(folder) = archive.parent() {
            fs::create_dir_all(folder).map_err(fail)?;
        }
        loop {
            // Not truncated yet: it may be another's.
            let file = unlinked().create(true).truncate(false).open(&path).map_err(|error| no_link(&path, error))?;
            if !try_lock(&file).map_err(fail)? {
                let message = format!("another process is writing {}", archive.display());
                let hint = "Wait until it has closed the archive, or write to a folder, which takes several writers.";
                return Err(fault("", ArchiveFault::Conflict, message, hint));
            }
            // The other may have renamed it before this process got the lock.
            if is_at(&file, &path).map_err(fail)? {
                if let Err(error) = file.set_len(0) {
                    let _ = fs::remove_file(&path);
                    return Err(fail(error));
                }
                // What a writer that was killed has left of its second file.
                let _ = fs::remove_file(beside(archive, ".compact.partial"));
                return Ok(Self::new(file, Some(path)));
            }
        }
    }

    /// Remove what a writer of the archive at a path has left, if it was killed.
    pub(super) fn sweep(archive: &Path) -> Result<u64> {
        let path = beside(archive, ".partial");
        let Ok(file) = unlinked().open(&path) else { return Ok(0) };
        let fail = |error: io::Error| broken("erase", &error);
        if !is_alone(&file) || !is_at(&file, &path).map_err(fail)? {
            return Ok(0);
        }
        let _ = fs::remove_file(beside(archive, ".compact.partial"));
        fs::remove_file(&path).map_err(fail).map(|()| 1)
    }

    /// Another file beside the archive, for who holds the lock.
    pub(super) fn second(archive: &Path) -> Result<Self> {
        let path = beside(archive, ".compact.partial");
        let open = unlinked().create(true).truncate(true).open(&path);
        Ok(Self::new(open.map_err(|error| no_link(&path, error))?, Some(path)))
    }

    /// A file without a name, in the system's folder for temporary files.
    pub(super) fn nameless() -> Result<Self> {
        loop {
            let name = format!(".{:x}-{:x}.zip.partial", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
            let path = std::env::temp_dir().join(name);
            let mut open = OpenOptions::new();
            open.read(true).write(true).create_new(true);
            #[cfg(windows)]
            std::os::windows::fs::OpenOptionsExt::custom_flags(&mut open, 0x0400_0000);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut open, 0o600);
            match open.open(&path) {
                Ok(file) => {
                    #[cfg(unix)]
                    fs::remove_file(&path).map_err(|error| broken("put", &error))?;
                    return Ok(Self::new(file, None));
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(broken("put", &error)),
            }
        }
    }

    /// How long it is.
    pub(super) fn len(&self) -> u64 {
        self.end.load(Ordering::Relaxed)
    }

    /// Whether an entry lies in this file; where, and how much of it it takes.
    pub(super) fn holds(&self, name: &[u8], entry: &Entry) -> Option<(u64, u64)> {
        let Place::File { source, header, .. } = &entry.place else { return None };
        let same = Arc::as_ptr(source).addr() == Arc::as_ptr(&self.file).addr();
        let header_size = LOCAL.saturating_add(name.len() as u64).saturating_add(20);
        same.then(|| (*header, header_size.saturating_add(entry.packed)))
    }

    /// Write bytes behind everything else; returns where.
    pub(super) fn append(&self, parts: &[&[u8]]) -> io::Result<u64> {
        let size = parts.iter().fold(0u64, |sum, part| sum.saturating_add(part.len() as u64));
        let at = self.end.fetch_add(size, Ordering::Relaxed);
        if size <= SMALL {
            self.file.write_at(at, &[&parts.concat()])?;
        } else {
            self.file.write_at(at, parts)?;
        }
        Ok(at)
    }

    /// Write an entry and its data; returns the entry with its place.
    pub(super) fn add(&self, name: &[u8], entry: Entry, parts: &[&[u8]]) -> io::Result<Entry> {
        let header = local_header(name, &entry);
        let at = self.append(&[&[header.as_slice()], parts].concat())?;
        Ok(self.placed(entry, at, header.len() as u64))
    }

    /// Copy an entry's data as they are from where they lie.
    pub(super) fn copy(&self, key: &str, name: &[u8], old: &Entry, flags: u16, buffer: &mut [u8]) -> Result<Entry> {
        let fail = |error: io::Error| broken("put", &error);
        let (source, mut from) = old.locate(key)?;
        let entry = Entry { flags, ..Entry::like(old) };
        let header = local_header(name, &entry);
        let tail = descriptor(&entry);
        let size = (header.len() as u64).saturating_add(entry.packed).saturating_add(tail.len() as u64);
        let at = self.end.fetch_add(size, Ordering::Relaxed);
        self.file.write_at(at, &[&header]).map_err(fail)?;
        let mut to = at.saturating_add(header.len() as u64);
        let mut left = entry.packed;
        while left > 0 {
            let n = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
            let part = buffer.get_mut(..n).unwrap_or_default();
            source.read_at(from, part)?;
            self.file.write_at(to, &[part]).map_err(fail)?;
            let n = n as u64;
            (from, to, left) = (from.saturating_add(n), to.saturating_add(n), left.saturating_sub(n));
        }
        self.file.write_at(to, &[&tail]).map_err(fail)?;
        Ok(self.placed(entry, at, header.len() as u64))
    }

    fn placed(&self, entry: Entry, header: u64, header_size: u64) -> Entry {
        let data = header.saturating_add(header_size);
        let source: Arc<dyn Source> = Arc::clone(&self.file) as Arc<dyn Source>;
        let end = data.saturating_add(entry.packed);
        Entry { place: Place::File { source, header, end, data: AtomicU64::new(data), name: (0, 0) }, ..entry }
    }

    /// Give it the name of the archive, whose permissions it takes over.
    pub(super) fn publish(&self, archive: &Path, durable: bool) -> io::Result<()> {
        if let Ok(old) = fs::metadata(archive) {
            // Where the system does not let us, the new archive has the permissions of any new file.
            let _ = self.file.0.set_permissions(old.permissions());
        }
        if durable {
            self.file.0.sync_all()?;
        }
        fs::rename(self.path.as_deref().ok_or(io::ErrorKind::NotFound)?, archive)?;
        unlock(&self.file.0);
        if durable && cfg!(unix) {
            let folder = archive.parent().filter(|folder| !folder.as_os_str().is_empty());
            File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        }
        Ok(())
    }

    /// Remove it, for nobody wants it any more; not where it is another process's.
    pub(super) fn discard(&self) {
        if self.process != std::process::id() {
            return;
        }
        if let Some(path) = &self.path
            && is_at(&self.file.0, path).unwrap_or(false)
        {
            // What is left is taken over by the next writer.
            let _ = fs::remove_file(path);
        }
        unlock(&self.file.0);
    }

    /// Refuse to go on where a parent process began.
    pub(super) fn check_process(&self) -> Result<()> {
        if self.process == std::process::id() {
            return Ok(());
        }
        let message = "the archive has changes that the parent of this process has not written yet";
        let hint = "Close the archive before the process is forked, and open it again in the child.";
        Err(Error::Archive { key: String::new(), fault: ArchiveFault::Conflict, message: message.into(), hint })
    }
}
