//! The file store: whole or absent, and never outside its directory.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

use omnizarr_core::buffer::Buffer;
use omnizarr_core::error::Error;
use omnizarr_core::store::{FileStore, MemoryStore, Store};

struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("omnizarr-files-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn get(store: &dyn Store, key: &str) -> Option<Vec<u8>> {
    let mut buffer = Buffer::default();
    store.get(key, &mut buffer, usize::MAX).unwrap().then(|| buffer.as_slice().to_vec())
}

#[test]
fn a_directory_where_a_file_should_be_is_no_missing_value() {
    let folder = Folder::new();
    let store = FileStore::new(&folder.0, false);
    store.put("a/b", &[b"x"]).unwrap();
    assert!(store.get("a", &mut Buffer::default(), 9).unwrap_err().is_folder());
    assert!(store.open("a").err().unwrap().is_folder());
    assert!(store.as_file("a").unwrap_err().is_folder());
    assert_eq!(get(&store, "a/b/c"), None, "a file where a directory would have to be has nothing below it");
}

#[test]
fn both_stores_keep_what_they_are_given() {
    let folder = Folder::new();
    let file = FileStore::new(folder.0.join("made/by/put"), true);
    let memory = MemoryStore::default();
    for store in [&file as &dyn Store, &memory] {
        assert_eq!(get(store, "a/b/c"), None);
        assert_eq!(store.list_prefix("").unwrap(), Vec::<String>::new());
        store.put("a/b/c", &[b"one", b"", b"two"]).unwrap();
        store.put("a/bc", &[b"x"]).unwrap();
        store.put("zarr.json", &[]).unwrap();
        assert_eq!(get(store, "a/b/c").unwrap(), b"onetwo");
        assert_eq!(get(store, "zarr.json").unwrap(), b"");
        assert_eq!(store.size("a/b").unwrap(), None, "a directory is no value");
        assert_eq!(store.list_prefix("").unwrap(), ["a/b/c", "a/bc", "zarr.json"]);
        assert_eq!(store.list_prefix("a/b/").unwrap(), ["a/b/c"]);
        assert_eq!(store.list_dir("a/").unwrap(), (vec!["a/bc".into()], vec!["a/b/".into()]));
        let object = store.open("a/b/c").unwrap().unwrap();
        let mut part = [0; 3];
        object.read_at(2, &mut part).unwrap();
        assert_eq!(&part, b"etw");
        assert!(object.read_at(5, &mut part).is_err());
        let before = store.token("a/b/c").unwrap();
        store.put("a/b/c", &[b"three!"]).unwrap();
        assert_ne!(store.token("a/b/c").unwrap(), before);
        assert!(store.erase("a/b/c").unwrap());
        assert!(!store.erase("a/b/c").unwrap());
        store.erase_prefix("a/").unwrap();
        assert_eq!(store.list_prefix("").unwrap(), ["zarr.json"]);
        store.erase_prefix("").unwrap();
        assert!(store.list_prefix("").unwrap().is_empty());
    }
}

#[test]
fn keys_that_are_none_are_refused() {
    let folder = Folder::new();
    fs::write(folder.0.join("secret"), b"secret").unwrap();
    let store = FileStore::new(folder.0.join("root"), false);
    store.put("x", &[b"1"]).unwrap();
    let mut buffer = Buffer::default();
    for key in ["../secret", "/etc/passwd", "a/../../secret", "", ".", "a//b", "a/", "a\\b", "a\0b", "./x"] {
        assert!(matches!(store.get(key, &mut buffer, 9), Err(Error::Unsafe { .. })), "{key:?}");
        assert!(matches!(store.put(key, &[b"2"]), Err(Error::Unsafe { .. })), "{key:?}");
        assert!(matches!(store.erase(key), Err(Error::Unsafe { .. })), "{key:?}");
    }
    assert_eq!(fs::read(folder.0.join("secret")).unwrap(), b"secret");
}

#[test]
fn links_are_followed_inside_and_never_out() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    fs::create_dir_all(folder.0.join("outside")).unwrap();
    fs::write(folder.0.join("outside/secret"), b"secret").unwrap();
    let store = FileStore::new(&root, false);
    store.put("real/x", &[b"1"]).unwrap();
    symlink("real", root.join("inside")).unwrap();
    symlink("../outside", root.join("out")).unwrap();
    symlink(folder.0.join("outside/secret"), root.join("file")).unwrap();
    assert_eq!(get(&store, "inside/x").unwrap(), b"1");
    let mut buffer = Buffer::default();
    for key in ["out/secret", "file"] {
        assert!(matches!(store.get(key, &mut buffer, 9), Err(Error::Unsafe { .. })), "{key}");
    }
    assert!(matches!(store.put("out/new", &[b"2"]), Err(Error::Unsafe { .. })));
    assert!(matches!(store.put("out/deep/new", &[b"2"]), Err(Error::Unsafe { .. })));
    assert!(store.erase("out/secret").is_err());
    assert!(store.list_prefix("out/").is_err());
    assert_eq!(fs::read_dir(folder.0.join("outside")).unwrap().count(), 1);
    store.put("file", &[b"mine"]).unwrap();
    assert_eq!(get(&store, "file").unwrap(), b"mine");
    assert_eq!(fs::read(folder.0.join("outside/secret")).unwrap(), b"secret");
}

#[test]
fn a_replaced_directory_is_noticed() {
    let folder = Folder::new();
    let root = folder.0.join("root");
    let store = FileStore::new(&root, false);
    store.put("x", &[b"old"]).unwrap();
    fs::rename(&root, folder.0.join("moved")).unwrap();
    FileStore::new(&root, false).put("x", &[b"new"]).unwrap();
    store.begin().unwrap();
    assert_eq!(get(&store, "x").unwrap(), b"new");
}

#[test]
fn a_failed_put_leaves_nothing_behind() {
    let folder = Folder::new();
    let store = FileStore::new(&folder.0, false);
    store.put("a/b", &[b"1"]).unwrap();
    assert!(store.put("a", &[b"2"]).is_err(), "a directory is in the way");
    assert!(store.put("a/b/c", &[b"2"]).is_err(), "a file is in the way");
    assert_eq!(get(&store, "a/b").unwrap(), b"1");
    let names: Vec<_> = fs::read_dir(&folder.0).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

#[test]
fn rests_of_killed_writers_are_no_keys() {
    let folder = Folder::new();
    let store = FileStore::new(&folder.0, false);
    store.put("x", &[b"1"]).unwrap();
    fs::write(folder.0.join(".4d2-0.partial"), b"half").unwrap();
    assert_eq!(store.list_prefix("").unwrap(), ["x"]);
}

#[test]
fn no_more_is_read_than_asked_for() {
    let folder = Folder::new();
    let store = FileStore::new(&folder.0, false);
    store.put("x", &[&vec![7; 1 << 20]]).unwrap();
    let mut buffer = Buffer::default();
    assert!(store.get("x", &mut buffer, 1000).unwrap());
    assert_eq!(buffer.len(), 1001);
    assert!(buffer.capacity() < 10_000);
}
