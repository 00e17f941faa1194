#![allow(clippy::unwrap_used)]

use bytes::Bytes;

use super::*;

/// A folder that goes with the test.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("omnizarr-cache-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        Self(path)
    }

    fn open(&self, limit: u64) -> Folder {
        Folder::open(&self.0, limit).unwrap()
    }

    fn files(&self) -> Vec<PathBuf> {
        let folders = fs::read_dir(self.0.join(WITHIN)).unwrap().flatten().map(|one| one.path());
        let all = folders.flat_map(|one| if one.is_dir() { fs::read_dir(one).unwrap().collect() } else { vec![] });
        all.flatten().map(|one| one.path()).collect()
    }

    fn bytes(&self) -> u64 {
        self.files().iter().map(|one| one.metadata().unwrap().len()).sum()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn name(n: u32) -> Name {
    Name::of(&[&n.to_le_bytes()])
}

fn entry(n: u32, bytes: usize) -> Entry {
    let data = Bytes::from(vec![u8::try_from(n & 255).unwrap(); bytes]);
    Entry { etag: format!("\"{n}\""), size: bytes as u64, start: 0, data }
}

#[test]
fn what_is_kept_is_there_for_others_too() {
    let place = Place::new("kept");
    let (one, other) = (place.open(1 << 20), place.open(1 << 20));
    one.put(&name(1), &entry(1, 5000));
    assert_eq!(other.get(&name(1), 5000), Some(entry(1, 5000)));
    assert_eq!(other.get(&name(1), 1000), None);
    assert_eq!(other.get(&name(2), 5000), None);
    one.put(&name(1), &entry(2, 300));
    assert_eq!(other.get(&name(1), 5000), Some(entry(2, 300)));
    assert_eq!(place.files().len(), 1);
}

#[test]
fn damaged_files_go() {
    let place = Place::new("damaged");
    let folder = place.open(1 << 20);
    for cut in [0, 3, 70, 2000] {
        folder.put(&name(1), &entry(1, 5000));
        let file = place.files().pop().unwrap();
        let bytes = fs::read(&file).unwrap();
        fs::write(&file, bytes.get(..cut).unwrap()).unwrap();
        assert_eq!(folder.get(&name(1), 5000), None);
        assert!(place.files().is_empty());
    }
}

#[test]
fn a_file_that_claims_to_be_huge_is_not_read() {
    let place = Place::new("huge");
    let folder = place.open(1 << 20);
    folder.put(&name(1), &entry(1, 5000));
    let file = OpenOptions::new().write(true).open(place.files().pop().unwrap()).unwrap();
    file.set_len(1 << 40).unwrap();
    assert_eq!(folder.get(&name(1), u64::MAX), None);
    assert!(place.files().is_empty());
}

#[test]
fn the_limit_is_kept_and_what_is_used_stays() {
    let place = Place::new("limit");
    let folder = place.open(1 << 20);
    for n in 0..200 {
        folder.put(&name(n), &entry(n, 16_000));
        assert!(place.bytes() <= 1 << 20, "{n}");
        assert_eq!(folder.get(&name(0), 16_000), Some(entry(0, 16_000)), "{n}");
        assert_eq!(folder.get(&name(n), 16_000), Some(entry(n, 16_000)), "{n}");
    }
    assert!(place.bytes() > 1 << 19);
    assert_eq!(folder.get(&name(1), 16_000), None);
}

#[test]
fn two_that_know_nothing_of_each_other_keep_it_too() {
    let place = Place::new("two");
    let both = [place.open(1 << 20), place.open(1 << 20)];
    for n in 0..200 {
        for folder in &both {
            folder.put(&name(n * 2), &entry(n, 16_000));
            folder.put(&name(n * 2 + 1), &entry(n, 16_000));
        }
        assert!(place.bytes() <= 1 << 20, "{n}");
    }
}

#[test]
fn what_was_there_before_counts() {
    let place = Place::new("before");
    let before = place.open(4 << 20);
    (0..50).for_each(|n| before.put(&name(n), &entry(n, 16_000)));
    let foreign = place.0.join("mine.txt");
    fs::write(&foreign, vec![0; 5 << 20]).unwrap();
    place.open(256 << 10).put(&name(99), &entry(99, 16_000));
    assert!(place.bytes() <= 256 << 10);
    assert!(foreign.exists());
}

#[test]
fn too_large_is_not_kept() {
    let place = Place::new("large");
    let folder = place.open(1 << 20);
    folder.put(&name(1), &entry(1, (1 << 18) + 1));
    assert!(place.files().is_empty());
}

#[test]
fn a_folder_that_goes_comes_back() {
    let place = Place::new("gone");
    let folder = place.open(1 << 20);
    folder.put(&name(1), &entry(1, 10));
    fs::remove_dir_all(&place.0).unwrap();
    assert_eq!(folder.get(&name(1), 10), None);
    folder.put(&name(2), &entry(2, 10));
    assert_eq!(folder.get(&name(2), 10), Some(entry(2, 10)));
}

#[cfg(unix)]
#[test]
fn a_disk_that_refuses_turns_it_off() {
    let place = Place::new("refuses");
    let folder = place.open(1 << 20);
    folder.put(&name(1), &entry(1, 10));
    fs::remove_dir_all(&place.0).unwrap();
    fs::write(&place.0, b"").unwrap();
    folder.put(&name(2), &entry(2, 10));
    assert!(folder.full.load(Ordering::Relaxed));
    assert_eq!(folder.get(&name(2), 10), None);
    assert!(Folder::open(&place.0, 1 << 20).is_err());
    fs::remove_file(&place.0).unwrap();
}

#[cfg(unix)]
#[test]
fn nobody_else_can_look() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new("modes");
    let within = place.0.join(WITHIN);
    fs::create_dir_all(&within).unwrap();
    fs::set_permissions(&within, fs::Permissions::from_mode(0o777)).unwrap();
    place.open(1 << 20).put(&name(1), &entry(1, 10));
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let file = place.files().pop().unwrap();
    assert_eq!((mode(&within), mode(file.parent().unwrap()), mode(&file)), (0o700, 0o700, 0o600));
}
