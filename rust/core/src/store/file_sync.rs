//! What makes a finished put survive a loss of power: the file is written to the disk before it gets its name, then the
//! folder that holds the name, then every folder above it that may be new.

use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::{Mutex, TryLockError};

use super::file_confined::{Access, Root};

/// Folders, by their keys, whose own names are on the disk.
#[derive(Default)]
pub struct Settled(Mutex<HashSet<String>>);

/// More folders than this are not remembered; they are written again.
const MOST: usize = 100_000;

impl Settled {
    /// Whether a folder is known; not where another thread looks right now, or did when this process was forked.
    fn holds(&self, folder: &str) -> bool {
        match self.0.try_lock() {
            Ok(known) => known.contains(folder),
            Err(TryLockError::Poisoned(known)) => known.into_inner().contains(folder),
            Err(TryLockError::WouldBlock) => false,
        }
    }

    fn add(&self, folder: &str) {
        if let Ok(mut known) = self.0.try_lock()
            && known.len() < MOST
        {
            known.insert(folder.into());
        }
    }

    /// Folders have been removed, and may be made anew.
    pub(super) fn forget(&self) {
        if let Ok(mut known) = self.0.try_lock() {
            known.clear();
        }
    }
}

pub(super) fn parent(key: &str) -> &str {
    key.rsplit_once('/').map_or("", |(parent, _)| parent)
}

fn sync_folder(root: &Root, folder: &str) -> io::Result<()> {
    let folder = if folder.is_empty() { "." } else { folder };
    root.file(folder, Access::Directory)?.sync_all()
}

/// Write the names of all folders above a folder to the disk, from the top down, the root's own included.
fn settle(root: &Root, folder: &str, new: bool) -> io::Result<()> {
    if !new && root.settled.holds(folder) {
        return Ok(());
    }
    if folder.is_empty() {
        // Where the folder above may not even be read, this process cannot have made the root in it.
        match root.real()?.parent().map(File::open) {
            Some(Ok(above)) => above.sync_all()?,
            Some(Err(error)) if error.kind() != io::ErrorKind::PermissionDenied => return Err(error),
            _ => {}
        }
    } else {
        settle(root, parent(folder), new)?;
        sync_folder(root, parent(folder))?;
    }
    root.settled.add(folder);
    Ok(())
}

/// Write the name of a key's file to the disk, with those of all folders above it; `new`: some have just been made.
pub(super) fn sync_name(root: &Root, key: &str, new: bool) -> io::Result<()> {
    settle(root, parent(key), new)?;
    sync_folder(root, parent(key))
}

/// Make a folder with all above it, each of which survives a loss of power.
pub(super) fn make_root(path: &Path, durable: bool) -> io::Result<()> {
    if !durable || !cfg!(unix) {
        return std::fs::create_dir_all(path);
    }
    if path.is_dir() {
        return Ok(());
    }
    let above = path.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
    make_root(above, durable)?;
    match std::fs::create_dir(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    File::open(above)?.sync_all()
}

/// Write the folders in which names have gone to the disk.
pub(super) fn sync_gone<'a>(root: &Root, keys: impl Iterator<Item = &'a str>) -> io::Result<()> {
    let folders: HashSet<&str> = keys.map(parent).collect();
    for folder in folders {
        match sync_folder(root, folder) {
            // It has gone, too: what is above it tells.
            Err(error) if super::file::absent(&error) => {}
            done => done?,
        }
    }
    Ok(())
}
