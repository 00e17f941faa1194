//! Zip archives: anything may be in the file.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use omnizarr_core::buffer::Buffer;
use omnizarr_core::error::{Error, Result};
use omnizarr_core::store::Store;
use omnizarr_core::store::ZipStore;
use omnizarr_core::store::zip::{FileObject, Source};

use crate::{Target, samples};

const LIMIT: usize = 1 << 16;

/// A file in memory.
#[derive(Default)]
pub(crate) struct Memory(Mutex<Vec<u8>>);

impl Memory {
    pub(crate) fn new(bytes: &[u8]) -> Arc<Self> {
        Arc::new(Self(Mutex::new(bytes.to_vec())))
    }
}

impl Source for Memory {
    fn size(&self) -> Result<u64> {
        Ok(self.0.lock().unwrap().len() as u64)
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let bytes = self.0.lock().unwrap();
        let from = usize::try_from(offset).ok().and_then(|at| bytes.get(at..)).unwrap_or_default();
        let part = from.get(..dst.len()).ok_or_else(|| Error::Invalid("past the end".into()))?;
        dst.copy_from_slice(part);
        Ok(())
    }
}

impl FileObject for Memory {
    fn write_at(&self, offset: u64, part: &[u8]) -> Result<()> {
        let mut bytes = self.0.lock().unwrap();
        let at = usize::try_from(offset).unwrap();
        let end = at + part.len();
        if bytes.len() < end {
            bytes.resize(end, 0);
        }
        bytes[at..end].copy_from_slice(part);
        Ok(())
    }

    fn finish(&self, size: u64) -> Result<()> {
        self.0.lock().unwrap().truncate(usize::try_from(size).unwrap());
        Ok(())
    }
}

/// All values that can be read; `None` for those that cannot.
fn contents(store: &ZipStore) -> Result<BTreeMap<String, Option<Vec<u8>>>> {
    let mut all = BTreeMap::new();
    for key in store.list_prefix("")? {
        let mut value = Buffer::default();
        let got = store.get(&key, &mut value, LIMIT);
        assert!(value.capacity() <= LIMIT + 1, "an entry took {} bytes", value.capacity());
        let value = matches!(got, Ok(true)).then(|| value.as_slice().to_vec());
        if let (Some(value), Ok(Some(object))) = (&value, store.open(&key))
            && value.len() > 2
        {
            let mut part = vec![0; value.len() - 2];
            if object.read_at(1, &mut part).is_ok() {
                assert!(part == value[1..value.len() - 1], "a part differs");
            }
        }
        all.insert(key, value);
    }
    Ok(all)
}

fn run_zip(input: &[u8]) {
    let file = Memory::new(input);
    let store = ZipStore::within(Arc::clone(&file) as Arc<dyn FileObject>, LIMIT as u64);
    if store.begin().is_err() {
        return;
    }
    let Ok(mut before) = contents(&store) else { return };
    let _ = (store.ignored(), store.list_dir(""), store.sizes(""));
    if store.put("new/key", &[b"value"]).is_err() || store.commit().is_err() {
        return;
    }
    before.insert("new/key".into(), Some(b"value".to_vec()));
    let again = ZipStore::within(file as Arc<dyn FileObject>, LIMIT as u64);
    again.begin().unwrap();
    let after = contents(&again).unwrap();
    for (key, value) in before {
        if let Some(value) = value {
            assert!(after.get(&key) == Some(&Some(value)), "{key:?} is not what it was");
        } else {
            assert!(after.contains_key(&key), "{key:?} is gone");
        }
    }
}

fn seeds_zip() -> Vec<Vec<u8>> {
    let mut seeds = vec![vec![]];
    for values in [vec![], samples(), vec![b"{\"a\": 1}".repeat(40)]] {
        let file = Memory::new(&[]);
        let store = ZipStore::within(Arc::clone(&file) as Arc<dyn FileObject>, LIMIT as u64);
        store.put("zarr.json", &[&b"{\"zarr_format\": 3}".repeat(5)]).unwrap();
        for (i, value) in values.iter().enumerate() {
            store.put(&format!("a/c/{i}"), &[value]).unwrap();
        }
        store.commit().unwrap();
        seeds.push(file.0.lock().unwrap().clone());
        store.erase("zarr.json").unwrap();
        store.close().unwrap();
        seeds.push(file.0.lock().unwrap().clone());
    }
    seeds
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![Target { name: "zip", run: run_zip, seeds: seeds_zip }]
}
