//! A folder that is held open while names in it change: a link that somebody puts in its place meanwhile leads nowhere.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;

use super::file_confined::{Access, Root};
use super::file_sync::parent;

/// What a name stands for; of a link, not what it leads to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Folder,
    Link,
    Other,
}

impl Root {
    /// The folder of a key's file, and the file's name there.
    pub(super) fn folder_of<'a>(&self, key: &'a str) -> io::Result<(Folder, &'a str)> {
        let folder = parent(key);
        let name = key.get(folder.len()..).unwrap_or_default();
        Ok((self.folder(folder)?, name.strip_prefix('/').unwrap_or(name)))
    }
}

#[cfg(unix)]
mod held {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};

    use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat};
    use rustix::io::Errno;

    use super::{Access, File, Kind, OsStr, OsString, Root, io};

    /// Folders are removed with what is below them up to here: each takes an open file.
    const DEEPEST: u16 = 500;

    /// A folder of a store that is open, so that names can be resolved in it.
    pub(in super::super) struct Folder(pub(in super::super) File);

    impl Root {
        /// A folder below the root; the root itself if the key is empty.
        pub(in super::super) fn folder(&self, key: &str) -> io::Result<Folder> {
            self.file(if key.is_empty() { "." } else { key }, Access::Passage).map(Folder)
        }
    }

    fn kind_of(kind: FileType) -> Kind {
        match kind {
            FileType::RegularFile => Kind::File,
            FileType::Directory => Kind::Folder,
            FileType::Symlink => Kind::Link,
            _ => Kind::Other,
        }
    }

    impl Folder {
        /// Make a file that must not exist yet, for writing.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
            Ok(File::from(openat(&self.0, name, flags, Mode::from_raw_mode(0o666))?))
        }

        /// Make a folder.
        pub(in super::super) fn make(&self, name: &str) -> io::Result<()> {
            Ok(mkdirat(&self.0, name, Mode::from_raw_mode(0o777))?)
        }

        /// Open a folder in it that is no link.
        pub(in super::super) fn within(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            Ok(Self(File::from(openat(&self.0, name.as_ref(), flags, Mode::empty())?)))
        }

        /// Give what has a name another one; what had that is replaced.
        pub(in super::super) fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
            Ok(renameat(&self.0, from.as_ref(), &self.0, to.as_ref())?)
        }

        /// Give a file a name that nothing has yet.
        #[cfg(target_os = "linux")]
        pub(in super::super) fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
            match rustix::fs::renameat_with(&self.0, from, &self.0, to, rustix::fs::RenameFlags::NOREPLACE) {
                // Not every file system knows this; a second name, and the first removed, is the same in two steps.
                Err(Errno::INVAL | Errno::NOSYS) => self.link_new(from, to),
                done => Ok(done?),
            }
        }

        /// Give a file a name that nothing has yet.
        #[cfg(not(target_os = "linux"))]
        pub(in super::super) fn rename_new(&self, from: &str, to: &str) -> io::Result<()> {
            self.link_new(from, to)
        }

        fn link_new(&self, from: &str, to: &str) -> io::Result<()> {
            rustix::fs::linkat(&self.0, from, &self.0, to, AtFlags::empty())?;
            self.unlink(from)
        }

        /// Remove a file or a link.
        pub(in super::super) fn unlink(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            Ok(unlinkat(&self.0, name.as_ref(), AtFlags::empty())?)
        }

        /// Remove an empty folder.
        pub(in super::super) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            Ok(unlinkat(&self.0, name.as_ref(), AtFlags::REMOVEDIR)?)
        }

        /// What a name stands for.
        pub(in super::super) fn kind(&self, name: impl AsRef<OsStr>) -> io::Result<Kind> {
            let meta = statat(&self.0, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW)?;
            Ok(kind_of(FileType::from_raw_mode(meta.st_mode)))
        }

        /// What a name, or the link that has it, leads to; nothing where that cannot be told.
        pub(in super::super) fn target(&self, name: impl AsRef<OsStr>) -> Option<Kind> {
            let meta = statat(&self.0, name.as_ref(), AtFlags::empty()).ok()?;
            Some(kind_of(FileType::from_raw_mode(meta.st_mode)))
        }

        /// All names, in no order.
        pub(in super::super) fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
            let mut found = Vec::new();
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            for entry in Dir::new(openat(&self.0, ".", flags, Mode::empty())?)? {
                let entry = entry?;
                let name = entry.file_name().to_bytes();
                if name == b"." || name == b".." {
                    continue;
                }
                let kind = match entry.file_type() {
                    FileType::Unknown => match self.kind(OsStr::from_bytes(name)) {
                        Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                        kind => kind?,
                    },
                    known => kind_of(known),
                };
                found.push((OsString::from_vec(name.to_vec()), kind));
            }
            Ok(found)
        }

        /// Remove a folder with all below it; links go, not what they lead to.
        pub(in super::super) fn erase(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            self.erase_to(name.as_ref(), DEEPEST)
        }

        fn erase_to(&self, name: &OsStr, depth: u16) -> io::Result<()> {
            let Some(depth) = depth.checked_sub(1) else {
                return Err(io::Error::other(format!("more than {DEEPEST} folders in each other")));
            };
            let folder = self.within(name)?;
            for (name, kind) in folder.entries()? {
                let gone = match kind {
                    Kind::Folder => folder.erase_to(&name, depth),
                    _ => folder.unlink(&name),
                };
                match gone {
                    // Somebody else was faster.
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                    gone => gone?,
                }
            }
            self.remove(name)
        }
    }

    /// A file's name is given by its folder; only there, and in a folder that is open, links lead nowhere else.
    #[cfg(target_os = "linux")]
    impl Folder {
        /// Make a file without a name.
        pub(in super::super) fn nameless(&self) -> rustix::io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
            openat(&self.0, ".", flags, Mode::from_raw_mode(0o666)).map(File::from)
        }

        /// Give a file without a name one that nothing has yet.
        pub(in super::super) fn name(&self, file: &File, name: &str) -> rustix::io::Result<()> {
            rustix::fs::linkat(file, "", &self.0, name, AtFlags::EMPTY_PATH)
        }
    }
}

#[cfg(not(unix))]
mod held {
    use std::fs::{self, OpenOptions};
    use std::path::PathBuf;

    use super::{File, Kind, OsStr, OsString, Root, io};

    /// The path of a folder of a store, after a look at where it really is.
    pub(in super::super) struct Folder(PathBuf);

    impl Root {
        /// A folder below the root; the root itself if the key is empty.
        pub(in super::super) fn folder(&self, key: &str) -> io::Result<Folder> {
            let path = if key.is_empty() { self.path("") } else { self.resolved(key)? };
            if !fs::metadata(&path)?.is_dir() {
                return Err(io::ErrorKind::NotADirectory.into());
            }
            Ok(Folder(path))
        }
    }

    fn kind_of(kind: fs::FileType) -> Kind {
        if kind.is_symlink() {
            Kind::Link
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_file() {
            Kind::File
        } else {
            Kind::Other
        }
    }

    impl Folder {
        fn path(&self, name: impl AsRef<OsStr>) -> PathBuf {
            self.0.join(name.as_ref())
        }

        /// Make a file that must not exist yet, for writing.
        pub(in super::super) fn create(&self, name: &str) -> io::Result<File> {
            OpenOptions::new().write(true).create_new(true).open(self.path(name))
        }

        /// Make a folder.
        pub(in super::super) fn make(&self, name: &str) -> io::Result<()> {
            fs::create_dir(self.path(name))
        }

        /// Open a folder in it.
        pub(in super::super) fn within(&self, name: impl AsRef<OsStr>) -> io::Result<Self> {
            Ok(Self(self.path(name)))
        }

        /// Give what has a name another one; what had that is replaced.
        pub(in super::super) fn rename(&self, from: impl AsRef<OsStr>, to: impl AsRef<OsStr>) -> io::Result<()> {
            fs::rename(self.path(from), self.path(to))
        }

        /// Remove a file or a link.
        pub(in super::super) fn unlink(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            fs::remove_file(self.path(name))
        }

        /// Remove an empty folder.
        pub(in super::super) fn remove(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            fs::remove_dir(self.path(name))
        }

        /// What a name stands for.
        pub(in super::super) fn kind(&self, name: impl AsRef<OsStr>) -> io::Result<Kind> {
            Ok(kind_of(fs::symlink_metadata(self.path(name))?.file_type()))
        }

        /// What a name, or the link that has it, leads to; nothing where that cannot be told.
        pub(in super::super) fn target(&self, name: impl AsRef<OsStr>) -> Option<Kind> {
            Some(kind_of(fs::metadata(self.path(name)).ok()?.file_type()))
        }

        /// All names, in no order.
        pub(in super::super) fn entries(&self) -> io::Result<Vec<(OsString, Kind)>> {
            fs::read_dir(&self.0)?
                .map(|entry| entry.and_then(|entry| Ok((entry.file_name(), kind_of(entry.file_type()?)))))
                .collect()
        }

        /// Remove a folder with all below it; links go, not what they lead to.
        pub(in super::super) fn erase(&self, name: impl AsRef<OsStr>) -> io::Result<()> {
            fs::remove_dir_all(self.path(name))
        }
    }
}

pub(super) use held::Folder;

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::time::{Duration, Instant};

    use rustix::fs::{CWD, RenameFlags, renameat_with};

    use crate::error::Result;
    use crate::store::{FileStore, Store};

    /// Somebody who may write in the store exchanges a folder and a link that leads out, again and again.
    #[test]
    fn links_that_are_put_in_meanwhile_lead_nowhere() -> Result<()> {
        let base = std::env::temp_dir().join(format!("omnizarr-exchange-{}", std::process::id()));
        let (root, outside) = (base.join("store"), base.join("outside"));
        for folder in [root.join("a"), outside.join("b/precious")] {
            fs::create_dir_all(folder).unwrap();
        }
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let store = FileStore::new(&root, false);
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Ordering::Relaxed) {
                    let _ = renameat_with(CWD, root.join("a"), CWD, root.join("link"), RenameFlags::EXCHANGE);
                }
            });
            let until = Instant::now().checked_add(Duration::from_millis(400)).unwrap();
            let mut put = 0u64;
            while Instant::now() < until {
                put += 1;
                // Where there is no folder at that moment these fail.
                let _ = store.put_new(&format!("a/new{put}"), &[b"1"]);
                let _ = store.put(&format!("a/old{put}"), &[b"1"]);
                let _ = store.put("a/b/c", &[b"1"]);
                let _ = store.erase_prefix("a/b/");
            }
            done.store(true, Ordering::Relaxed);
        });
        let found: Vec<_> = fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(found, ["b"]);
        let found: Vec<_> = fs::read_dir(outside.join("b")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(found, ["precious"]);
        fs::remove_dir_all(base).unwrap();
        Ok(())
    }
}
