//! How a file gets its value: whole or not at all.

use std::fs::File;
use std::io::{self, Write};

use super::file::{FileStore, absent, failure};
use super::file_confined::Root;
#[cfg(unix)]
use super::file_folder::Folder;
use super::file_lock::rename_new;
#[cfg(unix)]
use super::file_mark::Marks;
use super::file_mark::temporary;
#[cfg(target_os = "linux")]
use super::file_nameless::put_nameless;
#[cfg(unix)]
use super::file_sync::parent;
use super::file_sync::{make_root, sync_name};
use super::file_token::{is_young, token};
use super::{LockedFile, check_key};
use crate::error::{Error, Result};

/// How often folders are made that are gone again when a file is to be put there.
pub(super) const MOST_MADE: u8 = 100;
const LOST: &str = "the store's folder is gone, or one above the key is removed time after time; open the store again";

impl FileStore {
    /// Put a value where there is none, and return the number of its token; `None` if there is one.
    pub fn put_first(&self, key: &str, data: &[u8]) -> Result<Option<u64>> {
        let mut made = None;
        let is_first = self.put_at(key, true, None, |file| {
            file.write_all(data)?;
            made = token(&file.metadata()?);
            Ok(())
        })?;
        Ok(is_first.then(|| made.map_or(0, |token| token.number(is_young(&token)))))
    }

    /// Put a value into a folder that is held open, wherever that is by now; `false` if it is gone.
    #[cfg(unix)]
    pub fn put_in(&self, folder: &LockedFile, key: &str, data: &[u8]) -> Result<bool> {
        check_key(key)?;
        let fail = |error: io::Error| failure(key, "put", &error);
        let (Some(root), Some(folder)) = (self.root()?, folder.folder()) else { return Ok(false) };
        let folder = Folder(folder.try_clone().map_err(fail)?);
        let _writing = Marks::mark(&root);
        let name = key.get(parent(key).len()..).unwrap_or_default().trim_start_matches('/');
        let temporary = temporary();
        let mut file = match folder.create(&temporary) {
            Err(error) if absent(&error) => return Ok(false),
            file => file.map_err(fail)?,
        };
        let written = file.write_all(data).and_then(|()| if self.durable { file.sync_all() } else { Ok(()) });
        let done = written.and_then(|()| folder.rename(&temporary, name));
        if done.is_err() && folder.unlink(&temporary).is_err_and(|error| !absent(&error)) {
            root.keep_mark();
        }
        match done {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(fail(error)),
            Ok(()) if self.durable => folder.0.sync_all().map_err(fail).map(|()| true),
            Ok(()) => Ok(true),
        }
    }

    /// There is no such folder.
    #[cfg(not(unix))]
    pub fn put_in(&self, _folder: &LockedFile, _key: &str, _data: &[u8]) -> Result<bool> {
        Ok(false)
    }

    pub(super) fn put_by(&self, key: &str, write: impl FnMut(&mut File) -> io::Result<()>) -> Result<()> {
        self.put_at(key, false, None, write).map(drop)
    }

    /// Put a file, with `new` only where there is none; `false` if there is. Folders are made if a document is there.
    pub(super) fn put_at(
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
        let mut made = 0u8;
        let (temporary, folder, name, mut file) = loop {
            let temporary = temporary();
            let opened = root.folder_of(key).and_then(|(folder, name)| Ok((folder.create(&temporary)?, folder, name)));
            match opened {
                Ok((file, folder, name)) => break (temporary, folder, name, file),
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
            true => rename_new(&folder, &temporary, name),
            false => folder.rename(&temporary, name).map(|()| true),
        });
        // The folder has gone with all that was in it.
        let done = done.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound if document.is_some() => lost(),
            _ => error,
        });
        if done.is_err() {
            // The write failed already; that its rest cannot be removed either is for the next writer to mend.
            if folder.unlink(&temporary).is_err_and(|error| !absent(&error)) {
                root.keep_mark();
            }
        }
        let done = done?;
        if self.durable && cfg!(unix) {
            sync_name(root, key, made > 0)?;
        }
        Ok(done)
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

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::buffer::Buffer;
    use crate::store::{Lockable, Store};

    fn store(name: &str) -> FileStore {
        FileStore::new(std::env::temp_dir().join(format!("omnizarr-put-{name}-{}", std::process::id())), false)
    }

    /// A document of an array whose group is moved, or erased, goes where the array is.
    #[test]
    fn what_is_put_into_a_folder_follows_it() -> Result<()> {
        let store = store("in");
        store.put("g/a/zarr.json", &[b"old"])?;
        let held = LockedFile::hold(&store.path().join("g/a"), Lockable::Folder, true).unwrap().unwrap();
        std::fs::rename(store.path().join("g"), store.path().join("h")).unwrap();
        assert!(store.put_in(&held, "g/a/zarr.json", b"new")?);
        let mut found = Buffer::default();
        assert!(store.get("h/a/zarr.json", &mut found, 10)?);
        assert_eq!(found.as_slice(), b"new");
        store.erase_prefix("h/")?;
        assert!(!store.put_in(&held, "g/a/zarr.json", b"newer")?);
        assert_eq!(store.list_all("")?, (vec![], vec![]));
        std::fs::remove_dir(store.path()).unwrap();
        Ok(())
    }

    /// The system reads no more than 2 GiB at once.
    #[test]
    fn large_values_are_read_to_their_end() -> Result<()> {
        let store = store("large");
        store.put("x", &[b""])?;
        let size = (2u64 << 30) + 12_345;
        std::fs::File::options().write(true).open(store.path().join("x")).unwrap().set_len(size).unwrap();
        let mut found = Buffer::default();
        assert!(store.get("x", &mut found, usize::MAX)?);
        assert_eq!(found.len() as u64, size);
        // More than memory takes.
        let file = std::fs::File::options().write(true).open(store.path().join("x")).unwrap();
        if file.set_len(12 << 40).is_ok() {
            assert!(matches!(store.get("x", &mut found, usize::MAX), Err(Error::Memory(_))));
        }
        store.erase_prefix("")?;
        std::fs::remove_dir(store.path()).unwrap();
        Ok(())
    }
}
