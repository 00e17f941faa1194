//! Files that have no name until they are whole, where the system has such: a writer that is killed leaves nothing.

use std::fs::{self, File};
use std::io;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{AtFlags, linkat};
use rustix::io::Errno;

use super::file::MOST_MADE;
use super::file_confined::Root;
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
    durable: bool,
    write: &mut impl FnMut(&mut File) -> io::Result<()>,
) -> io::Result<Option<bool>> {
    if !root.nameless.is_of_use() {
        return Ok(None);
    }
    let folder = key.rsplit_once('/').map_or(".", |(parent, _)| parent);
    let mut made = 0u8;
    let mut file = loop {
        match root.file_without_name(folder) {
            Ok(file) => break file,
            // Others may remove a folder as soon as it is made.
            Err(Errno::NOENT) if made < MOST_MADE => {
                root.make_parents(key)?;
                made = made.saturating_add(1);
            }
            Err(error) => {
                if matches!(error, Errno::OPNOTSUPP | Errno::ISDIR | Errno::INVAL | Errno::NOSYS) {
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
    match linkat(&file, "", root.handle(), key, AtFlags::EMPTY_PATH) {
        Ok(()) if durable => sync_name(root, key, made > 0).map(|()| Some(true)),
        Ok(()) => Ok(Some(true)),
        // A folder is no one else's value: putting a file over it says what is wrong.
        Err(Errno::EXIST) => Ok((!root.path(key).is_dir()).then_some(false)),
        Err(_) => {
            root.nameless.give_up();
            Ok(None)
        }
    }
}
