//! The file system store: a key is a path below a directory, and every put is whole or absent.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arc_swap::ArcSwapOption;

use super::file_confined::{Access, Root, identity};
use super::file_folder::Kind;
use super::file_lock::hold;
#[cfg(unix)]
use super::file_mark::Marks;
use super::file_sweep::{Leaving, discard, erase_below, erase_in_place, put_back, set_aside};
use super::file_sync::sync_gone;
use super::file_token::{is_young, token};
use super::{Hold, Listing, Object, Store, Token, check_key, check_prefix, is_debris, place_of};
use crate::buffer::Buffer;
use crate::error::{Error, Result};

/// Files below a directory, which is made by the first put.
pub struct FileStore {
    pub(super) path: PathBuf,
    pub(super) durable: bool,
    root: ArcSwapOption<Root>,
}

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
        let opened = root.folder(prefix.trim_end_matches('/')).and_then(|folder| Ok((folder.entries()?, folder)));
        let (entries, folder) = match opened {
            Ok(found) => found,
            Err(error) if absent(&error) => return Ok((keys, prefixes, debris)),
            Err(error) => return Err(fail(error)),
        };
        for (name, kind) in entries {
            // A name that is not Unicode cannot be a key.
            let Ok(name) = name.into_string() else { continue };
            if name.contains('\\') {
                continue;
            }
            if is_debris(&name) {
                debris.push(format!("{prefix}{name}"));
                continue;
            }
            match kind {
                Kind::Folder => prefixes.push(format!("{prefix}{name}/")),
                Kind::File => keys.push(format!("{prefix}{name}")),
                // Links to directories are not followed: a loop of links would never end.
                Kind::Link if folder.target(&name) == Some(Kind::File) => keys.push(format!("{prefix}{name}")),
                Kind::Link | Kind::Other => {}
            }
        }
        Ok((keys, prefixes, debris))
    }

    fn gone<'a>(&self, root: &Root, keys: impl Iterator<Item = &'a str>) -> io::Result<()> {
        if self.durable && cfg!(unix) { sync_gone(root, keys) } else { Ok(()) }
    }
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
                    if got >= most {
                        break;
                    }
                    // Less than was asked for need not be all: the system reads 2 GiB at once, some file systems less.
                    if got == room {
                        let size = file.metadata().map_or(0, |m| m.len());
                        room = usize::try_from(size).unwrap_or(usize::MAX).max(got).saturating_add(1).min(most);
                        if !dst.try_set_len(room) {
                            return Err(Error::Memory(format!("{key}: its {size} bytes do not fit into memory")));
                        }
                    }
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
        let token = token(&meta).filter(|token| !is_young(token));
        Ok(Some(Box::new(Opened { file, key: key.into(), size: meta.len(), token })))
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

    fn state(&self, key: &str) -> Result<Option<u64>> {
        Ok(self.token(key)?.map(|token| token.number(is_young(&token))))
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
                Leaving::Aside(folder, name, aside) => {
                    // Were it discarded all the same, a loss of power could bring back a part of it.
                    self.gone(&root, std::iter::once(key)).inspect_err(|_| put_back(&root, &folder, &aside, name))?;
                    discard(&root, &folder, &aside)
                }
                Leaving::InPlace(folder, name) => {
                    erase_in_place(&root, &folder, name)?;
                    self.gone(&root, std::iter::once(key))
                }
            });
            return gone.or_else(fail);
        }
        let below = root.folder("").and_then(|folder| erase_below(&root, &folder));
        below.and_then(|()| self.gone(&root, std::iter::once(""))).or_else(fail)
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
