//! Removing folders, and what writers that were killed have left in them.

use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fs, io};

use super::file::FileStore;
#[cfg(unix)]
use super::file::failure;
use super::file_confined::Root;
use super::file_mark::temporary;
#[cfg(unix)]
use super::file_mark::{Left, is_left};
use crate::error::Result;

/// A folder on its way out.
pub(super) enum Leaving {
    /// It has a name that is none of a key, given in one step: its old path and its new one.
    Aside(PathBuf, PathBuf),
    /// It cannot get another name, as in a layer of a container's image that others share.
    InPlace(PathBuf),
}

/// Give a folder a name that is none of a key.
pub(super) fn set_aside(root: &Root, key: &str) -> io::Result<Leaving> {
    let path = root.confined(key)?;
    let kind = path.symlink_metadata()?.file_type();
    if kind.is_symlink() && path.is_dir() {
        // The link goes, not what it leads to.
        return root.unlink(key).and(Err(io::ErrorKind::NotFound.into()));
    }
    if !kind.is_dir() {
        return Err(io::ErrorKind::NotADirectory.into());
    }
    let aside = path.with_file_name(temporary());
    match fs::rename(&path, &aside) {
        Err(error) if error.kind() == io::ErrorKind::CrossesDevices => Ok(Leaving::InPlace(path)),
        done => done.map(|()| Leaving::Aside(path, aside)),
    }
}

/// Give a folder that was set aside its name again; where that fails, it is for the next writer to remove.
pub(super) fn put_back(root: &Root, aside: &Path, path: &Path) {
    if fs::rename(aside, path).is_err() {
        root.keep_mark();
    }
}

/// How often a folder is emptied into which somebody still writes, who has it open.
const MOST_EMPTIED: u32 = 200;

/// Remove a folder that was set aside; what stays of it is for the next writer to remove.
pub(super) fn discard(root: &Root, aside: &Path) -> io::Result<()> {
    let mut tries = 0u32;
    loop {
        match fs::remove_dir_all(aside) {
            Err(error) if error.kind() == io::ErrorKind::DirectoryNotEmpty && tries < MOST_EMPTIED => {
                tries = tries.saturating_add(1);
                std::thread::sleep(Duration::from_micros(50).saturating_mul(tries));
            }
            done => return done.inspect_err(|_| root.keep_mark()),
        }
    }
}

/// Remove a folder that keeps its name, and all below it.
pub(super) fn erase_in_place(root: &Root, folder: &Path) -> io::Result<()> {
    erase_below(root, folder)?;
    fs::remove_dir(folder)
}

/// Remove everything below a folder: names of documents first, for what has none is no node.
pub(super) fn erase_below(root: &Root, folder: &Path) -> io::Result<()> {
    let mut entries = fs::read_dir(folder)?.collect::<io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| {
        let name = entry.file_name().into_encoded_bytes();
        let folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        (folder, !(name.starts_with(b".") || name.ends_with(b".json")), name)
    });
    for entry in entries {
        let path = entry.path();
        let gone = if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let aside = path.with_file_name(temporary());
            match fs::rename(&path, &aside) {
                Err(error) if error.kind() == io::ErrorKind::CrossesDevices => erase_in_place(root, &path),
                done => done.and_then(|()| discard(root, &aside)),
            }
        } else {
            fs::remove_file(&path)
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
    let path = root.confined(key)?;
    let gone = if path.symlink_metadata()?.is_dir() { fs::remove_dir_all(path) } else { root.unlink(key) };
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
        erase_in_place(&root, &root.path("a")).unwrap();
        assert_eq!(store.list_all("")?, (vec!["z".to_owned()], vec![]));
        assert!(!root.path("a").exists());
        store.erase_prefix("")?;
        fs::remove_dir(store.path()).unwrap();
        Ok(())
    }
}
