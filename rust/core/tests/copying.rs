//! Values from one store to another.
#![allow(clippy::unwrap_used, clippy::panic, clippy::arithmetic_side_effects, missing_docs)]

use std::fs;
use std::path::PathBuf;

use omnizarr_core::copying::{Outcome, Side, Task, copy_keys};
use omnizarr_core::error::{Error, Result};
use omnizarr_core::store::{FileStore, MemoryStore, Store, ZipStore};

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("omnizarr-copying-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn names(n: usize) -> Vec<String> {
    (0..n).map(|i| format!("c/{i}/x")).collect()
}

fn fill(store: &dyn Store, prefix: &str, n: usize) {
    for (i, name) in names(n).iter().enumerate() {
        store.put(&format!("{prefix}{name}"), &[vec![i as u8; i * 999].as_slice()]).unwrap();
    }
}

fn work(from: &dyn Store, to: &dyn Store, names: &[String], task: Task) -> Result<Outcome> {
    let sides = (Side { store: from, prefix: "a/" }, Side { store: to, prefix: "deep/b/" });
    copy_keys(sides.0, sides.1, names, &[], task, &|| false)
}

#[test]
fn every_pair_of_stores_copies_and_compares() {
    let folder = Folder::new("pairs");
    for from in 0..3 {
        for to in 0..3 {
            let make = |side: &str, kind: usize| -> Box<dyn Store> {
                let place = folder.0.join(format!("{side}-{from}-{to}"));
                match kind {
                    0 => Box::new(FileStore::new(place, false)),
                    1 => Box::new(MemoryStore::default()),
                    _ => Box::new(ZipStore::at(place.with_extension("zip"), false, 1 << 30)),
                }
            };
            let (source, target) = (make("from", from), make("to", to));
            fill(&*source, "a/", 20);
            let bytes = (0..20).map(|i| i * 999).sum::<u64>();
            let all = names(20);
            let fresh = Outcome { done: 20, bytes, ..Outcome::default() };
            assert_eq!(work(&*source, &*target, &all, Task::Measure).unwrap(), fresh, "{from} {to}");
            assert_eq!(target.list_prefix("").unwrap(), Vec::<String>::new());
            assert_eq!(work(&*source, &*target, &all, Task::Copy).unwrap(), fresh, "{from} {to}");
            assert_eq!(work(&*source, &*target, &all, Task::Compare).unwrap(), fresh, "{from} {to}");
            target.put("deep/b/c/3/x", &[b"short"]).unwrap();
            target.put("deep/b/c/4/x", &[vec![0; 4 * 999].as_slice()]).unwrap();
            target.erase("deep/b/c/5/x").unwrap();
            let found = work(&*source, &*target, &all, Task::Compare).unwrap();
            assert_eq!((found.done, found.different), (17, vec![3, 4, 5]));
            let found = work(&*source, &*target, &all, Task::Resume).unwrap();
            assert_eq!((found.done, found.kept, found.bytes), (2, 18, (3 + 5) * 999));
            let found = work(&*source, &*target, &all, Task::Compare).unwrap();
            assert_eq!(found.different, [4], "of the same size and so taken as it was");
        }
    }
}

#[test]
fn long_values_are_compared_to_their_end() {
    let folder = Folder::new("long");
    let (source, target) = (FileStore::new(folder.0.join("a"), false), FileStore::new(folder.0.join("b"), false));
    let mut value = vec![7; 3_000_000];
    source.put("a/c/0/x", &[&value]).unwrap();
    *value.last_mut().unwrap() = 8;
    target.put("deep/b/c/0/x", &[&value]).unwrap();
    assert_eq!(work(&source, &target, &names(1), Task::Compare).unwrap().different, [0]);
}

#[test]
fn a_source_that_is_newer_is_copied_again() {
    let folder = Folder::new("newer");
    let (source, target) = (FileStore::new(folder.0.join("a"), false), FileStore::new(folder.0.join("b"), false));
    fill(&source, "a/", 3);
    work(&source, &target, &names(3), Task::Copy).unwrap();
    let changed = fs::File::options().write(true).open(folder.0.join("a/a/c/1/x")).unwrap();
    changed.set_modified(std::time::SystemTime::now() + std::time::Duration::from_secs(9)).unwrap();
    let found = work(&source, &target, &names(3), Task::Resume).unwrap();
    assert_eq!((found.done, found.kept), (1, 2));
}

#[test]
fn what_the_source_does_not_have_is_said() {
    let (source, target) = (MemoryStore::default(), MemoryStore::default());
    fill(&source, "a/", 3);
    for task in [Task::Copy, Task::Resume, Task::Compare, Task::Measure] {
        assert_eq!(work(&source, &target, &names(5), task).unwrap().missing, [3, 4]);
    }
    let folder = Folder::new("missing");
    let files = FileStore::new(folder.0.join("a"), false);
    fill(&files, "a/", 3);
    let with_folder = ["c/1".to_owned(), "c/7/x".to_owned()];
    assert!(work(&files, &target, &with_folder, Task::Copy).unwrap_err().is_folder(), "no missing value");
    assert_eq!(work(&files, &target, &with_folder[1..], Task::Copy).unwrap().missing, [0]);
}

#[cfg(unix)]
#[test]
fn a_link_does_not_lead_out_of_either_store() {
    let folder = Folder::new("links");
    let (source, target) = (FileStore::new(folder.0.join("a"), false), FileStore::new(folder.0.join("b"), false));
    fill(&source, "a/", 2);
    fs::create_dir_all(folder.0.join("b/deep/b/c")).unwrap();
    std::os::unix::fs::symlink(&folder.0, folder.0.join("b/deep/b/c/1")).unwrap();
    let failed = work(&source, &target, &names(2), Task::Copy).unwrap_err();
    assert!(matches!(failed, Error::Unsafe { .. }), "{failed}");
    assert!(!folder.0.join("x").exists());
    std::os::unix::fs::symlink("/etc/hostname", folder.0.join("a/a/out")).unwrap();
    let failed = work(&source, &target, &["out".into()], Task::Copy).unwrap_err();
    assert!(matches!(failed, Error::Unsafe { .. }), "{failed}");
}
