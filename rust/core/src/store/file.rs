//! The file system store: a key is a path below a directory, and every put is whole or absent.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::file_confined::{Access, Root, identity};
use super::file_lock::{hold, rename_new};
#[cfg(unix)]
use super::file_mark::Marks;
use super::file_mark::temporary;
#[cfg(target_os = "linux")]
use super::file_nameless::put_nameless;
use super::file_sweep::{Leaving, discard, erase_below, erase_in_place, put_back, set_aside};
use super::file_sync::{make_root, sync_gone, sync_name};
use super::{Hold, Listing, Object, Store, Token, check_key, check_prefix, is_debris, place_of};
use crate::buffer::Buffer;
use crate::error::{Error, Result};

/// Files below a directory, which is made by the first put.
pub struct FileStore {
    path: PathBuf,
    durable: bool,
    root: ArcSwapOption<Root>,
}

/// How often folders are made that are gone again when a file is to be put there.
pub(super) const MOST_MADE: u8 = 100;
const LOST: &str = "the store's folder is gone, or one above the key is removed time after time; open the store again";

pub(super) fn failure(key: &str, op: &'static str, error: &io::Error) -> Error {
    if error.kind() == io::ErrorKind::CrossesDevices {
        return Error::Unsafe { key: key.into(), message: "a link leads out of the store".into() };
    }
    Error::Store { key: key.into(), op, message: error.to_string(), errno: error.raw_os_error() }
}

/// Nothing there: no such file, or a file where a directory would have to be, or a directory.
pub(super) fn absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::IsADirectory)
}

impl FileStore {
    /// A store at `path`; with `durable`, a finished put also survives the loss of power.
    pub fn new(path: impl Into<PathBuf>, durable: bool) -> Self {
        Self { path: path.into(), durable, root: ArcSwapOption::empty() }
    }

    /// The directory.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn root(&self) -> Result<Option<Arc<Root>>> {
        if let Some(root) = self.root.load_full() {
            return Ok(Some(root));
        }
        match Root::open(&self.path) {
            Ok(root) => {
                let root = Arc::new(root);
                self.root.store(Some(Arc::clone(&root)));
                Ok(Some(root))
            }
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(failure("", "open", &error)),
        }
    }

    fn file(&self, key: &str) -> Result<Option<File>> {
        check_key(key)?;
        let Some(root) = self.root()? else { return Ok(None) };
        match root.file(key, Access::Read) {
            Ok(file) => Ok(Some(file)),
            Err(error) if error.kind() == io::ErrorKind::IsADirectory => Err(Error::folder(key)),
            Err(error) if absent(&error) => Ok(None),
            Err(error) => Err(failure(key, "get", &error)),
        }
    }

    /// The keys and prefixes right below a prefix, and what unfinished writes have left there, in no order.
    pub(super) fn names(&self, prefix: &str) -> Result<(Vec<String>, Vec<String>, Vec<String>)> {
        check_prefix(prefix)?;
        let (mut keys, mut prefixes, mut debris) = (Vec::new(), Vec::new(), Vec::new());
        let Some(root) = self.root()? else { return Ok((keys, prefixes, debris)) };
        let fail = |error: io::Error| failure(prefix, "list", &error);
        let entries = match root.resolved(prefix).and_then(fs::read_dir) {
            Ok(entries) => entries,
            Err(error) if absent(&error) => return Ok((keys, prefixes, debris)),
            Err(error) => return Err(fail(error)),
        };
        for entry in entries {
            let entry = entry.map_err(fail)?;
            // A name that is not Unicode cannot be a key.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if name.contains('\\') {
                continue;
            }
            if is_debris(&name) {
                debris.push(format!("{prefix}{name}"));
                continue;
            }
            // Links to directories are not followed: a loop of links would never end.
            let kind = entry.file_type().map_err(fail)?;
            if kind.is_dir() {
                prefixes.push(format!("{prefix}{name}/"));
            } else if kind.is_file() || kind.is_symlink() && entry.path().is_file() {
                keys.push(format!("{prefix}{name}"));
            }
        }
        Ok((keys, prefixes, debris))
    }

    /// Put a value where there is none, and return the number of its token; `None` if there is one.
    pub fn put_first(&self, key: &str, data: &[u8]) -> Result<Option<u64>> {
        let mut made = None;
        let is_first = self.put_at(key, true, None, |file| {
            file.write_all(data)?;
            made = token(&file.metadata()?);
            Ok(())
        })?;
        Ok(is_first.then(|| made.map_or(0, |token| token.number())))
    }

    fn put_by(&self, key: &str, write: impl FnMut(&mut File) -> io::Result<()>) -> Result<()> {
        self.put_at(key, false, None, write).map(drop)
    }

    /// Put a file, with `new` only where there is none; `false` if there is. Folders are made if a document is there.
    fn put_at(
        &self,
        key: &str,
        new: bool,
        document: Option<&str>,
        mut write: impl FnMut(&mut File) -> io::Result<()>,
    ) -> Result<bool> {
        check_key(key)?;
        let fail = |error: io::Error| match document {
            Some(key) if is_lost(&error) => Error::Gone { key: key.into() },
            _ => failure(key, "put", &error),
        };
        let root = match self.root()? {
            Some(root) => root,
            None => {
                if document.is_some() {
                    return Err(fail(lost()));
                }
                make_root(&self.path, self.durable).map_err(fail)?;
                self.root()?.ok_or_else(|| fail(io::ErrorKind::NotFound.into()))?
            }
        };
        #[cfg(target_os = "linux")]
        if new && let Some(done) = put_nameless(&root, key, document, self.durable, &mut write).map_err(fail)? {
            return Ok(done);
        }
        #[cfg(unix)]
        let _writing = Marks::mark(&root);
        self.replace(&root, key, new, document, &mut write).map_err(fail)
    }

    /// Write to a file of another name beside the key, then rename.
    fn replace(
        &self,
        root: &Root,
        key: &str,
        new: bool,
        document: Option<&str>,
        write: &mut impl FnMut(&mut File) -> io::Result<()>,
    ) -> io::Result<bool> {
        let start = key.rsplit_once('/').map_or(0, |(parent, _)| parent.len().saturating_add(1));
        let mut made = 0u8;
        let (temporary, mut file) = loop {
            let name = format!("{}{}", key.get(..start).unwrap_or_default(), temporary());
            match root.file(&name, Access::Create) {
                Ok(file) => break (name, file),
                // Left by a process of the same number that was killed.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                // Others may remove a folder as soon as it is made, and one without a name can hold none.
                Err(error) if error.kind() == io::ErrorKind::NotFound && made < MOST_MADE => {
                    make_parents(root, key, document)?;
                    made = made.saturating_add(1);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(lost()),
                Err(error) => return Err(error),
            }
        };
        let mut written = write(&mut file);
        if self.durable {
            written = written.and_then(|()| file.sync_all());
        }
        drop(file);
        let done = written.and_then(|()| match new {
            true => rename_new(root, &temporary, key),
            false => root.rename(&temporary, key).map(|()| true),
        });
        // The folder has gone with all that was in it.
        let done = done.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if document.is_some() => lost(),
            _ => error,
        });
        if done.is_err() {
            // The write failed already; that its rest cannot be removed either is for the next writer to mend.
            if root.unlink(&temporary).is_err_and(|error| !absent(&error)) {
                root.keep_mark();
            }
        }
        let done = done?;
        if self.durable && cfg!(unix) {
            sync_name(root, key, made > 0)?;
        }
        Ok(done)
    }

    fn gone<'a>(&self, root: &Root, keys: impl Iterator<Item = &'a str>) -> io::Result<()> {
        if self.durable && cfg!(unix) { sync_gone(root, keys) } else { Ok(()) }
    }
}

/// Make the folders that lead to a key, unless a document should be there and is not.
pub(super) fn make_parents(root: &Root, key: &str, document: Option<&str>) -> io::Result<()> {
    match document {
        Some(document) if !root.has(document)? => Err(lost()),
        _ => root.make_parents(key),
    }
}

/// Something that was there when this began is gone.
#[derive(Debug)]
struct Lost;

impl std::fmt::Display for Lost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(LOST)
    }
}

impl std::error::Error for Lost {}

fn lost() -> io::Error {
    io::Error::other(Lost)
}

fn is_lost(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Lost>())
}

/// Refuse folders, pipes and devices: they are not bytes under a key.
fn regular(meta: &fs::Metadata, key: &str) -> Result<()> {
    if meta.is_file() {
        return Ok(());
    }
    if meta.is_dir() {
        return Err(Error::folder(key));
    }
    let message = "it is neither a file nor a directory".into();
    Err(Error::Store { key: key.into(), op: "get", message, errno: None })
}

struct Opened {
    file: File,
    key: String,
    size: u64,
    token: Option<Token>,
}

#[cfg(unix)]
pub(crate) fn read_exact_at(file: &File, dst: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, dst, offset)
}

#[cfg(windows)]
pub(crate) fn read_exact_at(file: &File, mut dst: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !dst.is_empty() {
        match std::os::windows::fs::FileExt::seek_read(file, dst, offset)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            n => {
                dst = dst.get_mut(n..).unwrap_or_default();
                offset = offset.saturating_add(n as u64);
            }
        }
    }
    Ok(())
}

#[cfg(unix)]
pub(crate) fn token(meta: &fs::Metadata) -> Option<Token> {
    use std::os::unix::fs::MetadataExt;
    let time = (meta.mtime() as u64).wrapping_mul(1_000_000_000).wrapping_add(meta.mtime_nsec() as u64);
    Some(Token([meta.dev(), meta.ino(), meta.size(), time]))
}

#[cfg(not(unix))]
pub(crate) fn token(meta: &fs::Metadata) -> Option<Token> {
    let time = meta.modified().ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(Token([meta.len(), time.as_secs(), u64::from(time.subsec_nanos()), 0]))
}

impl Object for Opened {
    fn size(&self) -> u64 {
        self.size
    }

    fn token(&self) -> Option<Token> {
        self.token
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, dst, offset).map_err(|error| failure(&self.key, "get", &error))
    }
}

impl Store for FileStore {
    /// Notice that the directory was replaced by another of the same name.
    fn begin(&self) -> Result<()> {
        if let Some(root) = self.root.load_full()
            && identity(&self.path).ok() != Some(root.identity())
        {
            self.root.store(None);
        }
        Ok(())
    }

    fn writing(&self) -> Result<Option<Box<dyn Send>>> {
        #[cfg(unix)]
        if let Some(root) = self.root()? {
            return Ok(Some(Box::new(Marks::enter(&root))));
        }
        Ok(None)
    }

    /// The file's path without links: an array may be reached by its own store and by that of a group above it.
    fn place(&self, key: &str) -> u64 {
        let root = self.root.load();
        let root = root.as_ref().and_then(|root| root.real().ok()).unwrap_or(&self.path);
        place_of(&[root.as_os_str().as_encoded_bytes(), b"/", key.as_bytes()])
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        let Some(mut file) = self.file(key)? else { return Ok(false) };
        // The last chunk's size is the best guess of this one's: most reads then take one call and no stat.
        let most = most.saturating_add(1);
        let mut room = dst.capacity().max(4096).min(most);
        let mut got = 0usize;
        dst.space(room);
        loop {
            let rest = dst.as_mut_slice().get_mut(got..).unwrap_or_default();
            match file.read(rest) {
                Ok(0) => break,
                Ok(n) => {
                    got = got.saturating_add(n);
                    // A short read of a regular file is its end.
                    if got < room || got >= most {
                        break;
                    }
                    let size = file.metadata().map_or(0, |m| m.len());
                    room = usize::try_from(size).unwrap_or(usize::MAX).max(got).saturating_add(1).min(most);
                    dst.set_len(room);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(Error::folder(key)),
                Err(error) => return Err(failure(key, "get", &error)),
            }
        }
        dst.set_len(got);
        if got == 0 {
            regular(&file.metadata().map_err(|error| failure(key, "get", &error))?, key)?;
        }
        Ok(true)
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let Some(file) = self.file(key)? else { return Ok(None) };
        let meta = file.metadata().map_err(|error| failure(key, "get", &error))?;
        regular(&meta, key)?;
        Ok(Some(Box::new(Opened { file, key: key.into(), size: meta.len(), token: token(&meta) })))
    }

    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.put_by(key, |file| parts.iter().try_for_each(|part| file.write_all(part)))
    }

    fn put_new(&self, key: &str, parts: &[&[u8]]) -> Result<bool> {
        self.put_part(key, parts, true, None)
    }

    fn put_part(&self, key: &str, parts: &[&[u8]], new: bool, document: Option<&str>) -> Result<bool> {
        self.put_at(key, new, document, |file| parts.iter().try_for_each(|part| file.write_all(part)))
    }

    fn token(&self, key: &str) -> Result<Option<Token>> {
        check_key(key)?;
        let Some(root) = self.root()? else { return Ok(None) };
        root.token(key).map_err(|error| failure(key, "get", &error))
    }

    fn has(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        let Some(root) = self.root()? else { return Ok(false) };
        root.has(key).map_err(|error| failure(key, "get", &error))
    }

    fn hold(&self, key: &str) -> Result<Hold> {
        check_key(key)?;
        let Some(root) = self.root()? else { return Ok(Hold::Absent) };
        hold(&root, key).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => Error::Interrupted,
            _ => failure(key, "put", &error),
        })
    }

    fn as_file(&self, key: &str) -> Result<Option<File>> {
        let Some(file) = self.file(key)? else { return Ok(None) };
        let meta = file.metadata().map_err(|error| failure(key, "get", &error))?;
        regular(&meta, key).map(|()| Some(file))
    }

    /// The system copies, which need not take the bytes through this process, or at all.
    fn put_file(&self, key: &str, source: &mut File) -> Result<Option<u64>> {
        let mut size = 0;
        self.put_by(key, |file| io::copy(source, file).map(|copied| size = copied))?;
        Ok(Some(size))
    }

    fn erase(&self, key: &str) -> Result<bool> {
        check_key(key)?;
        let Some(root) = self.root()? else { return Ok(false) };
        match root.unlink(key) {
            Ok(()) => {
                self.gone(&root, std::iter::once(key)).map_err(|error| failure(key, "erase", &error)).map(|()| true)
            }
            Err(error) if error.kind() == io::ErrorKind::IsADirectory || root.path(key).is_dir() => {
                self.erase_prefix(&format!("{key}/")).map(|()| true)
            }
            Err(error) if absent(&error) => Ok(false),
            Err(error) => Err(failure(key, "erase", &error)),
        }
    }

    /// The folders are written to the disk once in the end.
    fn clear_many(&self, keys: &[String]) -> Result<()> {
        let Some(root) = self.root()? else { return Ok(()) };
        let quick = Self { path: self.path.clone(), durable: false, root: ArcSwapOption::new(Some(Arc::clone(&root))) };
        keys.iter().try_for_each(|key| quick.clear(key))?;
        self.gone(&root, keys.iter().map(String::as_str)).map_err(|error| failure("", "erase", &error))
    }

    /// A folder is given a name that is none of a key, and then removed: nobody ever sees a part of it.
    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        check_prefix(prefix)?;
        let Some(root) = self.root()? else { return Ok(()) };
        let fail = |error: io::Error| if absent(&error) { Ok(()) } else { Err(failure(prefix, "erase", &error)) };
        #[cfg(unix)]
        let _writing = Marks::mark(&root);
        root.settled.forget();
        if let Some(key) = prefix.strip_suffix('/') {
            let gone = set_aside(&root, key).and_then(|leaving| match leaving {
                Leaving::Aside(path, aside) => {
                    // Were it discarded all the same, a loss of power could bring back a part of it.
                    self.gone(&root, std::iter::once(key)).inspect_err(|_| put_back(&root, &aside, &path))?;
                    discard(&root, &aside)
                }
                Leaving::InPlace(path) => {
                    erase_in_place(&root, &path)?;
                    self.gone(&root, std::iter::once(key))
                }
            });
            return gone.or_else(fail);
        }
        erase_below(&root, &root.path("")).and_then(|()| self.gone(&root, std::iter::once(""))).or_else(fail)
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        Ok(self.list_all(prefix)?.0)
    }

    fn list_all(&self, prefix: &str) -> Result<Listing> {
        let (mut keys, mut debris) = (Vec::new(), Vec::new());
        let mut todo = vec![prefix.to_owned()];
        while let Some(prefix) = todo.pop() {
            let (found, prefixes, left) = self.names(&prefix)?;
            keys.extend(found);
            todo.extend(prefixes);
            debris.extend(left);
        }
        keys.sort_unstable();
        debris.sort_unstable();
        Ok((keys, debris))
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        let (mut keys, mut prefixes, _) = self.names(prefix)?;
        keys.sort_unstable();
        prefixes.sort_unstable();
        Ok((keys, prefixes))
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        match self.open(key) {
            Err(error) if error.is_folder() => Ok(None),
            found => Ok(found?.map(|object| object.size())),
        }
    }
}
