//! Files that have no name until they are whole, where the system has such: a writer that is killed leaves nothing.

use std::fs::{self, File};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::io::Errno;

use super::file_confined::Root;
use super::file_folder::Kind;
use super::file_put::{MOST_MADE, make_parents};
use super::file_sync::sync_name;

/// Whether files without a name are of no use in a folder, as it has turned out.
#[derive(Default)]
pub(super) struct Nameless(AtomicBool);

impl Nameless {
    fn is_of_use(&self) -> bool {
        from_linux_6_10() && !self.0.load(Ordering::Relaxed)
    }

    fn give_up(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Whether the system is new enough. Before, few were allowed to name such a file, and some got more rights than `umask`
/// says.
fn from_linux_6_10() -> bool {
    static NEW: OnceLock<bool> = OnceLock::new();
    *NEW.get_or_init(|| {
        let release = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
        let mut numbers = release.split(['.', '-']).map_while(|part| part.parse::<u32>().ok());
        (numbers.next(), numbers.next()) >= (Some(6), Some(10))
    })
}

/// Put a file where there is none; `false` if there is one.
///
/// `None` where another way has to be tried, which may come to an end or say what is wrong. With `durable`, it survives the
/// loss of power.
pub(super) fn put_nameless(
    root: &Root,
    key: &str,
    document: Option<&str>,
    durable: bool,
    write: &mut impl FnMut(&mut File) -> io::Result<()>,
) -> io::Result<Option<bool>> {
    if !root.nameless.is_of_use() {
        return Ok(None);
    }
    let mut made = 0u8;
    let (folder, name, mut file) = loop {
        let opened = root.folder_of(key).and_then(|(folder, name)| Ok((folder.nameless()?, folder, name)));
        match opened {
            Ok((file, folder, name)) => break (folder, name, file),
            // Others may remove a folder as soon as it is made.
            Err(error) if error.kind() == io::ErrorKind::NotFound && made < MOST_MADE => {
                make_parents(root, key, document)?;
                made = made.saturating_add(1);
            }
            Err(error) => {
                let errno = Errno::from_io_error(&error);
                if matches!(errno, Some(Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS)) {
                    root.nameless.give_up();
                }
                return Ok(None);
            }
        }
    };
    write(&mut file)?;
    if durable {
        file.sync_all()?;
    }
    match folder.name(&file, name) {
        Ok(()) if durable => sync_name(root, key, made > 0).map(|()| Some(true)),
        Ok(()) => Ok(Some(true)),
        // A folder is no one else's value: putting a file over it says what is wrong.
        Err(Errno::EXIST) => Ok((folder.target(name) != Some(Kind::Folder)).then_some(false)),
        // Others have removed the folder.
        Err(Errno::NOENT) => Ok(None),
        Err(_) => {
            root.nameless.give_up();
            Ok(None)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use super::super::file_mark::Marks;
    use super::super::{FileStore, Store};
    use super::*;
    use crate::error::Result;

    fn store(name: &str) -> FileStore {
        FileStore::new(std::env::temp_dir().join(format!("omnizarr-nameless-{name}-{}", std::process::id())), false)
    }

    /// Names of attributes of the folder.
    fn marks(store: &FileStore) -> Vec<u8> {
        let mut names = vec![0; 1024];
        let folder = File::open(store.path()).unwrap();
        let size = rustix::fs::flistxattr(&folder, &mut names).unwrap_or_default();
        names.truncate(size);
        names
    }

    #[test]
    fn the_first_wins_with_and_without_a_name() -> Result<()> {
        for durable in [false, true] {
            let store = FileStore::new(store("first").path(), durable);
            store.put("x", &[b""])?;
            let root = store.root()?.unwrap();
            for key in ["c/0/1", "c/0/2"] {
                assert!(store.put_new(key, &[b"one", b"two"])?);
                assert!(!store.put_new(key, &[b"three"])?);
                assert_eq!(fs::read(store.path().join(key)).unwrap(), b"onetwo");
                root.nameless.give_up(); // as on a file system that has no such files
            }
            let modes = ["c/0/1", "c/0/2"].map(|key| fs::metadata(store.path().join(key)).unwrap().mode());
            assert_eq!(modes[0], modes[1]);
            assert!(store.put_new("c", &[b"a folder is there"]).is_err());
            store.erase_prefix("")?;
            fs::remove_dir(store.path()).unwrap();
        }
        Ok(())
    }

    #[test]
    fn several_stores_of_a_folder_have_one_mark() -> Result<()> {
        let (one, two) = (store("mark"), store("mark"));
        one.put("x", &[b""])?;
        let (first, second) = (one.root()?.unwrap(), two.root()?.unwrap());
        let writing = Marks::mark(&first);
        let marked = marks(&one);
        two.put("x", &[b"1"])?;
        drop(Marks::mark(&second));
        assert_eq!(marks(&one), marked);
        drop(writing);
        assert_eq!(marks(&one), b"");
        drop(Marks::enter(&first)); // who makes no file of another name leaves no mark
        one.erase_prefix("")?;
        fs::remove_dir(one.path()).unwrap();
        Ok(())
    }
}
