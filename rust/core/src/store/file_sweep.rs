//! Removing folders, and what writers that were killed have left in them.

use std::ffi::OsStr;
use std::io;
use std::time::Duration;

use super::file::FileStore;
#[cfg(unix)]
use super::file::failure;
use super::file_confined::Root;
use super::file_folder::{Folder, Kind};
use super::file_mark::temporary;
#[cfg(unix)]
use super::file_mark::{Left, is_left};
use crate::error::Result;

/// A folder on its way out, in the one that holds it.
pub(super) enum Leaving<'a> {
    /// It has a name that is none of a key, given in one step: its old name and its new one.
    Aside(Folder, &'a str, String),
    /// It cannot get another name, as in a layer of a container's image that others share.
    InPlace(Folder, &'a str),
}

/// Give a folder a name that is none of a key.
pub(super) fn set_aside<'a>(root: &Root, key: &'a str) -> io::Result<Leaving<'a>> {
    let (folder, name) = root.folder_of(key)?;
    match folder.kind(name)? {
        Kind::Folder => {}
        // The link goes, not what it leads to.
        Kind::Link if folder.target(name) == Some(Kind::Folder) => {
            return folder.unlink(name).and(Err(io::ErrorKind::NotFound.into()));
        }
        _ => return Err(io::ErrorKind::NotADirectory.into()),
    }
    let aside = temporary();
    match folder.rename(name, &aside) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Ok(Leaving::InPlace(folder, name)),
        done => done.map(|()| Leaving::Aside(folder, name, aside)),
    }
}

/// Give a folder that was set aside its name again; where that fails, it is for the next writer to remove.
pub(super) fn put_back(root: &Root, folder: &Folder, aside: &str, name: &str) {
    if folder.rename(aside, name).is_err() {
        root.keep_mark();
    }
}

/// How often a folder is emptied into which somebody still writes, who has it open.
const MOST_EMPTIED: u32 = 200;

/// Remove a folder that was set aside; what stays of it is for the next writer to remove.
pub(super) fn discard(root: &Root, folder: &Folder, aside: &str) -> io::Result<()> {
    let mut tries = 0u32;
    loop {
        match folder.erase(aside) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries < MOST_EMPTIED => {
                tries = tries.saturating_add(1);
                std::thread::sleep(Duration::from_micros(50).saturating_mul(tries));
            }
            done => return done.inspect_err(|_| root.keep_mark()),
        }
    }
}

/// Remove a folder that keeps its name, and all below it.
pub(super) fn erase_in_place(root: &Root, folder: &Folder, name: impl AsRef<OsStr>) -> io::Result<()> {
    erase_below(root, &folder.within(&name)?)?;
    folder.remove(name)
}

/// Remove everything below a folder: names of documents first, for what has none is no node.
pub(super) fn erase_below(root: &Root, folder: &Folder) -> io::Result<()> {
    let mut entries = folder.entries()?;
    entries.sort_by_cached_key(|(name, kind)| {
        let bytes = name.as_encoded_bytes();
        (*kind == Kind::Folder, !(bytes.starts_with(b".") || bytes.ends_with(b".json")), name.clone())
    });
    for (name, kind) in entries {
        let gone = if kind == Kind::Folder {
            let aside = temporary();
            match folder.rename(&name, &aside) {
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => erase_in_place(root, folder, &name),
                done => done.and_then(|()| discard(root, folder, &aside)),
            }
        } else {
            folder.unlink(&name)
        };
        match gone {
            Err(error) if !super::file::absent(&error) => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Remove a file, or a folder with all below it.
#[cfg(unix)]
fn remove(root: &Root, key: &str) -> io::Result<()> {
    let (folder, name) = root.folder_of(key)?;
    let gone = if folder.kind(name)? == Kind::Folder { folder.erase(name) } else { folder.unlink(name) };
    gone.or_else(|error| if super::file::absent(&error) { Ok(()) } else { Err(error) })
}

impl FileStore {
    /// Remove what writers that were killed have left, if the folder says that there are any; returns how much that was.
    #[cfg(unix)]
    pub fn sweep(&self) -> Result<u64> {
        let Some(root) = self.root()? else { return Ok(0) };
        let Some(left) = Left::of(&root, "") else { return Ok(0) };
        let mut gone = left.processes.clone();
        let (mut count, mut marked, mut todo) = (0u64, vec![left], vec![String::new()]);
        while let Some(prefix) = todo.pop() {
            // Some wrote below this folder by a store of its own.
            if let Some(left) = Left::of(&root, &prefix).filter(|_| !prefix.is_empty()) {
                gone.extend(&left.processes);
                marked.push(left);
            }
            let (_, prefixes, debris) = self.names(&prefix)?;
            todo.extend(prefixes);
            for key in debris.iter().filter(|key| is_left(key.get(prefix.len()..).unwrap_or_default(), &gone)) {
                remove(&root, key).map_err(|error| failure(key, "erase", &error))?;
                count = count.saturating_add(1);
            }
        }
        marked.into_iter().for_each(Left::finish);
        Ok(count)
    }

    /// Nothing marks a folder where files have no locks.
    #[cfg(not(unix))]
    pub fn sweep(&self) -> Result<u64> {
        Ok(0)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::store::Store;

    /// As in a layer of a container's image, whose folders cannot be renamed.
    #[test]
    fn a_folder_that_keeps_its_name_is_erased_with_all_below_it() -> Result<()> {
        let store =
            FileStore::new(std::env::temp_dir().join(format!("omnizarr-in-place-{}", std::process::id())), false);
        for key in ["a/zarr.json", "a/c/0/1", "a/b/zarr.json", "a/b/c/0", "z"] {
            store.put(key, &[b"1"])?;
        }
        let root = store.root()?.unwrap();
        std::os::unix::fs::symlink(root.path("z"), root.path("a/link")).unwrap();
        erase_in_place(&root, &root.folder("").unwrap(), "a").unwrap();
        assert_eq!(store.list_all("")?, (vec!["z".to_owned()], vec![]));
        assert!(!root.path("a").exists());
        store.erase_prefix("")?;
        std::fs::remove_dir(store.path()).unwrap();
        Ok(())
    }
}
