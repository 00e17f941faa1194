//! Record files of references in Parquet, and the states of their sources.

use std::sync::Arc;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::refs::{
    INLINE, MISSING, ParquetSet, ParquetStamps, ParquetWriter, Piece, Reference, Rows, Stamp, WHOLE,
};
use omnizarr_core::store::{MemoryStore, Store};

use crate::{Target, steered, steering};

const MOST: usize = 1 << 20;
const KEY: &str = "a/refs.0.parq";

fn stored(key: &str, value: &[u8]) -> Arc<dyn Store> {
    let store = MemoryStore::default();
    store.put(key, &[value]).unwrap();
    Arc::new(store)
}

fn run_records(input: &[u8]) {
    let Some((_, count, file)) = steered(input) else { return };
    let count = 1 + count as u64 % 300;
    let urls = Arc::default();
    let set = Arc::new(ParquetSet::new(stored(KEY, file), String::new(), count, MOST, urls).unwrap());
    let rows = set.rows("a/", count);
    for row in [0, 1, count / 2, count - 1] {
        if let Ok(Some(Reference::Inline(bytes))) = rows.find(row) {
            assert!(bytes.len() <= MOST, "{} inline bytes", bytes.len());
        }
    }
    if let Ok(present) = rows.present(0, 1000) {
        assert!(present.is_sorted_by(|a, b| a < b) && present.last().is_none_or(|&last| last < count));
    }
}

fn seeds_records() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for (n, threshold) in [(1_u32, 10.0), (5, 10.0), (60, 0.1), (299, 2.0)] {
        let store = Arc::new(MemoryStore::default());
        let writer = ParquetWriter::new(Arc::clone(&store) as Arc<dyn Store>, String::new(), u64::from(n), threshold);
        let writer = writer.unwrap();
        for i in 0..1 + n / 7 {
            writer.urls.number(&format!("s3://bucket/file{i}.nc")).unwrap();
        }
        let urls: Vec<u32> = (0..n).map(|i| [i / 7, i / 7, INLINE, MISSING][(i as usize * 7 / 5) % 4]).collect();
        let whole = |i: u32| if i % 9 == 1 && urls[i as usize] < INLINE { WHOLE } else { 5 };
        let piece = Piece {
            count: u64::from(n),
            numbers: None,
            urls: &urls,
            offsets: &(0..n)
                .map(|i| if urls[i as usize] == INLINE { 2 } else { u64::from(i) * 1000 })
                .collect::<Vec<_>>(),
            lengths: &(0..n).map(whole).collect::<Vec<_>>(),
            inline: b"0123456789base64:AAEC",
        };
        let mut array = writer.array("a/", 0);
        writer.append(&mut array, piece, &|| false).unwrap();
        writer.finish(array, &|| false).unwrap();
        let mut file = Buffer::default();
        store.get(KEY, &mut file, MOST).unwrap();
        seeds.push(steering(0, n as usize - 1, file.as_slice()));
    }
    seeds
}

fn stamps(store: Arc<dyn Store>) -> ParquetStamps {
    ParquetStamps::new(store, "", MOST)
}

fn stamps_key() -> String {
    let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
    let stamp = Stamp { size: Some(1), modified: None, etag: None };
    stamps(Arc::clone(&store)).write(vec![("u".into(), stamp)]).unwrap();
    store.list_prefix("").unwrap().remove(0)
}

fn run_stamps(input: &[u8]) {
    let _ = stamps(stored(&stamps_key(), input)).all();
}

fn seeds_stamps() -> Vec<Vec<u8>> {
    let key = stamps_key();
    [1, 4, 100]
        .map(|n| {
            let store: Arc<dyn Store> = Arc::new(MemoryStore::default());
            let stamp = |i| Stamp { size: Some(i), modified: Some(5), etag: Some(format!("\"e\t{i}\"")) };
            let all = (0..n).map(|i| (format!("http://x/{i}\n"), stamp(i))).collect();
            stamps(Arc::clone(&store)).write(all).unwrap();
            let mut file = Buffer::default();
            store.get(&key, &mut file, MOST).unwrap();
            file.as_slice().to_vec()
        })
        .to_vec()
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target { name: "parquet", run: run_records, seeds: seeds_records },
        Target { name: "stamps", run: run_stamps, seeds: seeds_stamps },
    ]
}
