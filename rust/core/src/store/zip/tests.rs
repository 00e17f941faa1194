use std::path::PathBuf;
use std::sync::Arc;

use super::super::{MemoryStore, Store};
use super::entry::{Entry, Place};
use super::record::{central_header, end, local_header};
use super::{FileObject, Source, ZipStore};
use crate::buffer::Buffer;
use crate::error::{ArchiveFault, Error, Result};

const LIMIT: u64 = 1 << 20;

/// A folder of the test's own, gone when the test is done.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("omnizarr-zip-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(std::fs::canonicalize(path).unwrap())
    }

    fn archive(&self) -> PathBuf {
        self.0.join("a.zip")
    }

    fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn get(store: &dyn Store, key: &str) -> Result<Option<Vec<u8>>> {
    store.begin()?;
    let mut value = Buffer::default();
    Ok(store.get(key, &mut value, usize::MAX)?.then(|| value.as_slice().to_vec()))
}

fn fault_of<T>(result: Result<T>) -> ArchiveFault {
    match result {
        Err(Error::Archive { fault, .. }) => fault,
        Err(other) => panic!("{other}"),
        Ok(_) => panic!("no error"),
    }
}

#[test]
fn what_was_written_is_there_before_and_after_closing() {
    let folder = Folder::new("written");
    let store = ZipStore::at(folder.archive(), true, LIMIT);
    assert_eq!(get(&store, "a/0").unwrap(), None);
    let document = vec![b'x'; 5000];
    store.put("zarr.json", &[&document]).unwrap();
    store.put("a/0", &[b"12", b"", b"345"]).unwrap();
    store.put("é", &[b""]).unwrap();
    store.put("gone", &[b"1"]).unwrap();
    assert!(store.erase("gone").unwrap());
    assert!(!store.erase("gone").unwrap());
    for _ in 0..2 {
        assert_eq!(get(&store, "zarr.json").unwrap().unwrap(), document);
        assert_eq!(get(&store, "a/0").unwrap().unwrap(), b"12345");
        assert_eq!(get(&store, "é").unwrap().unwrap(), b"");
        assert_eq!(store.list_prefix("").unwrap(), ["a/0", "zarr.json", "é"]);
        assert_eq!(store.list_dir("").unwrap(), (vec!["zarr.json".into(), "é".into()], vec!["a/".into()]));
        store.commit().unwrap();
    }
    store.close().unwrap();
    assert!(get(&store, "a/0").is_err());
    assert!(store.put("a/0", &[b"1"]).is_err());
    assert_eq!(folder.names(), ["a.zip"]);
    let again = ZipStore::at(folder.archive(), false, LIMIT);
    again.begin().unwrap();
    assert_eq!(again.list_prefix("").unwrap(), ["a/0", "zarr.json", "é"]);
    let object = again.open("a/0").unwrap().unwrap();
    let mut part = [0; 2];
    object.read_at(3, &mut part).unwrap();
    assert_eq!(&part, b"45");
    assert!(object.read_at(4, &mut part).is_err());
    // The document is compressed.
    assert!(std::fs::metadata(folder.archive()).unwrap().len() < 1000);
    let object = again.open("zarr.json").unwrap().unwrap();
    object.read_at(4998, &mut part).unwrap();
    assert_eq!(&part, b"xx");
}

#[test]
fn only_one_process_writes_and_none_is_overwritten() {
    let folder = Folder::new("writers");
    let (one, two) = (ZipStore::at(folder.archive(), false, LIMIT), ZipStore::at(folder.archive(), false, LIMIT));
    one.put("a", &[b"1"]).unwrap();
    // Locks are between open files, so a second store stands for a second process.
    #[cfg(unix)]
    assert_eq!(fault_of(two.put("b", &[b"2"])), ArchiveFault::Conflict);
    one.close().unwrap();
    two.put("b", &[b"2"]).unwrap();
    assert_eq!(get(&two, "a").unwrap().unwrap(), b"1");
    std::fs::write(folder.archive(), b"PK\x05\x06 someone else's").unwrap();
    assert_eq!(fault_of(two.commit()), ArchiveFault::Conflict);
    drop(two);
    assert_eq!(folder.names(), ["a.zip"]);
}

#[test]
fn overwritten_values_take_no_room() {
    let folder = Folder::new("room");
    let store = ZipStore::at(folder.archive(), false, LIMIT);
    let value = vec![7; 100_000];
    store.put("a", &[b"kept"]).unwrap();
    (0..20).for_each(|_| store.put("b", &[&value]).unwrap());
    store.commit().unwrap();
    assert!(std::fs::metadata(folder.archive()).unwrap().len() < 120_000);
    store.erase_prefix("").unwrap();
    store.put("a", &[b"new"]).unwrap();
    store.close().unwrap();
    assert!(std::fs::metadata(folder.archive()).unwrap().len() < 200);
}

#[test]
fn damage_is_found_wherever_it_is() {
    let folder = Folder::new("damage");
    let store = ZipStore::at(folder.archive(), false, LIMIT);
    let model = MemoryStore::default();
    for i in 0..20u8 {
        let value = vec![i; usize::from(i) * 10];
        for store in [&store as &dyn Store, &model] {
            store.put(&format!("c/{i}"), &[&value]).unwrap();
            store.put(&format!("{i}.json"), &[&value]).unwrap();
        }
    }
    store.close().unwrap();
    let good = std::fs::read(folder.archive()).unwrap();
    let keys = model.list_prefix("").unwrap();
    for i in 0..good.len() {
        let mut bad = good.clone();
        bad[i] ^= 1 << (i % 8);
        for bytes in [&bad[..], &good[..i]] {
            let store = ZipStore::within(Arc::new(Bytes(bytes.to_vec())), LIMIT);
            for key in &keys {
                // A bit of a name, a date or a comment may go unnoticed; a value is never wrong.
                if let Ok(Some(value)) = get(&store, key) {
                    assert_eq!(Some(value), get(&model, key).unwrap(), "byte {i}");
                }
            }
            if bytes.len() < good.len() && i > 0 {
                assert_eq!(fault_of(store.begin()), ArchiveFault::Corrupt);
            }
        }
    }
}

#[test]
fn what_needs_more_than_32_bits_is_written_and_read() {
    for (size, count) in [(u64::from(u32::MAX), 1), (u64::from(u32::MAX) - 1, 1), (10 << 32, 1), (3, 70_000)] {
        let big = Entry::stored(Place::Nowhere, 0, size, 0);
        let small = Entry::stored(Place::Nowhere, crate::codec::crc32_after(0, b"123"), 3, 0);
        let mut tail = Vec::new();
        let head = local_header(b"big", &big);
        let at = head.len() as u64 + size;
        tail.extend(local_header(b"small", &small));
        tail.extend(b"123");
        let mut directory = Vec::new();
        central_header(b"big", &big, 0, &mut directory);
        central_header(b"small", &small, at, &mut directory);
        let mut begin = at + tail.len() as u64;
        for i in 2..count {
            let entry = Entry::stored(Place::Nowhere, 0, 0, 0);
            let name = format!("{i}");
            central_header(name.as_bytes(), &entry, begin, &mut directory);
            let header = local_header(name.as_bytes(), &entry);
            begin += header.len() as u64;
            tail.extend(header);
        }
        let count = count.max(2);
        tail.extend(&directory);
        tail.extend(end(count, directory.len() as u64, begin, b"end"));
        let store = ZipStore::within(Arc::new(Holed { head, at, tail }), LIMIT);
        store.begin().unwrap();
        assert_eq!(store.size("big").unwrap(), Some(size));
        assert_eq!(get(&store, "small").unwrap().unwrap(), b"123");
        assert_eq!(store.list_prefix("").unwrap().len() as u64, count);
        let mut last = [1; 2];
        store.open("big").unwrap().unwrap().read_at(size - 2, &mut last).unwrap();
        assert_eq!(last, [0; 2]);
    }
}

#[test]
fn a_comment_that_looks_like_an_end_is_not_kept() {
    let folder = Folder::new("comment");
    for (comment, kept) in [(&b"made by hand"[..], true), (b"PK\x05\x06 and more", false)] {
        let mut bytes = Vec::new();
        let mut directory = Vec::new();
        let entry = Entry::stored(Place::Nowhere, crate::codec::crc32_after(0, b"123"), 3, 0);
        bytes.extend([&local_header(b"a", &entry)[..], b"123"].concat());
        central_header(b"a", &entry, 0, &mut directory);
        let at = bytes.len() as u64;
        bytes.extend(&directory);
        let mut tail = end(1, directory.len() as u64, at, b"");
        let length = tail.len() - 2;
        tail[length..].copy_from_slice(&u16::try_from(comment.len()).unwrap().to_le_bytes());
        bytes.extend([&tail[..], comment].concat());
        std::fs::write(folder.archive(), &bytes).unwrap();
        let store = ZipStore::at(folder.archive(), false, LIMIT);
        store.put("b", &[b"4"]).unwrap();
        store.close().unwrap();
        assert_eq!(std::fs::read(folder.archive()).unwrap().ends_with(comment), kept);
        let again = ZipStore::at(folder.archive(), false, LIMIT);
        assert_eq!(get(&again, "a").unwrap().unwrap(), b"123");
        assert_eq!(get(&again, "b").unwrap().unwrap(), b"4");
    }
}

/// An archive with a hole of zeros from the end of its head to where its tail begins.
struct Holed {
    head: Vec<u8>,
    at: u64,
    tail: Vec<u8>,
}

impl Source for Holed {
    fn size(&self) -> Result<u64> {
        Ok(self.at.saturating_add(self.tail.len() as u64))
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        for (byte, at) in dst.iter_mut().zip(offset..) {
            let tail = at.checked_sub(self.at).and_then(|i| self.tail.get(i as usize));
            *byte = *self.head.get(at as usize).or(tail).unwrap_or(&0);
        }
        Ok(())
    }
}

impl FileObject for Holed {
    fn write_at(&self, _: u64, _: &[u8]) -> Result<()> {
        Err(Error::Invalid("not to be written".into()))
    }

    fn finish(&self, _: u64) -> Result<()> {
        Ok(())
    }
}

/// An archive in memory that cannot be written.
struct Bytes(Vec<u8>);

impl Source for Bytes {
    fn size(&self) -> Result<u64> {
        Ok(self.0.len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let from = usize::try_from(offset).unwrap();
        let part = from.checked_add(dst.len()).and_then(|to| self.0.get(from..to));
        dst.copy_from_slice(part.ok_or_else(|| Error::Invalid("past the end".into()))?);
        Ok(())
    }
}

impl FileObject for Bytes {
    fn write_at(&self, _: u64, _: &[u8]) -> Result<()> {
        Err(Error::Invalid("not to be written".into()))
    }

    fn finish(&self, _: u64) -> Result<()> {
        Ok(())
    }
}
