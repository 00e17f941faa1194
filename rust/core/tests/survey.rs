//! What is stored of an array, and what is wrong with it.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects, missing_docs)]
#![allow(unsafe_code)]

use std::sync::Arc;

use omnizarr_core::cell::strides;
use omnizarr_core::chain::{Chain, Pack, Shard};
use omnizarr_core::codec::{Crc32c, Step, Zstd};
use omnizarr_core::engine::{Checked, Engine, Look, Spec, Watch};
use omnizarr_core::error::{Error, Result};
use omnizarr_core::grid::Axis;
use omnizarr_core::keys::Keys;
use omnizarr_core::mem::View;
use omnizarr_core::plan::Select;
use omnizarr_core::store::{FileStore, MemoryStore, Store};

const SHAPE: [usize; 2] = [11, 9];

fn plain(bytes: Vec<Arc<dyn Step>>) -> Chain {
    let pack = Pack::Bytes { swap: 0 };
    Chain { item: 4, order: None, array: vec![], pack, bytes, most_variable: 1 << 20, clean: None }
}

fn packed() -> Chain {
    plain(vec![Arc::new(Zstd::new(1, true).unwrap()), Arc::new(Crc32c::new())])
}

fn sharded(cell: [usize; 2], inner: Chain) -> Chain {
    let mut index = plain(vec![Arc::new(Crc32c::new())]);
    index.item = 8;
    let shard = Shard { cell: cell.into_iter().collect(), inner, index, index_at_start: false };
    Chain { pack: Pack::Shard(Box::new(shard)), ..plain(vec![]) }
}

fn engine(chain: Chain, store: &Arc<dyn Store>) -> Engine {
    let spec = Spec {
        shape: SHAPE.iter().map(|&n| n as u64).collect(),
        chunks: vec![Axis::Even(4), Axis::Even(4)],
        keys: Keys {
            path: "a/".into(),
            prefix: "c/".into(),
            separator: "/".into(),
            scalar: "c".into(),
            ..Keys::default()
        },
        fill: Some(7i32.to_ne_bytes().to_vec()),
        chain,
        write_empty: true,
        cache: 0,
        most_chunk: 1 << 20,
        document: None,
    };
    Engine::new(Arc::clone(store), spec).unwrap()
}

fn everything() -> [Select; 2] {
    SHAPE.map(|n| Select::Range(0, 1, n))
}

fn move_all(engine: &Engine, values: &mut [i32], write: bool) -> Result<()> {
    // SAFETY: a view of all values, which outlive the call.
    let view = unsafe { View::new(values.as_mut_ptr().cast(), &strides(&SHAPE, 4)) };
    if write {
        engine.write(&everything(), &view, None, &Watch::new(None), &|| false)
    } else {
        engine.read(&everything(), &view, false, None, &|| false)
    }
}

fn check(engine: &Engine, decode: bool) -> Checked {
    let judge = |error: Error| match error {
        Error::Shard { .. } => Ok(("corrupt-shard".into(), error.to_string())),
        Error::Chunk { .. } => Ok(("corrupt".into(), error.to_string())),
        other => Err(other),
    };
    let survey = engine.survey(&[], 10, &|| false).unwrap();
    engine.check(&survey, 0, usize::MAX, Look { decode, text: false, judge: &judge }, &|| false).unwrap()
}

fn memory() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

#[test]
fn keys_are_told_apart() {
    let folder = std::env::temp_dir().join(format!("omnizarr-survey-{}", std::process::id()));
    let file: Arc<dyn Store> = Arc::new(FileStore::new(&folder, false));
    for store in [memory(), Arc::clone(&file)] {
        let engine = engine(plain(vec![]), &store);
        move_all(&engine, &mut vec![1; 99], true).unwrap();
        store.erase("a/c/1/1").unwrap();
        for key in ["c/3/0", "c/0/99", "c/00/1", "c/7", "x", "zarr.json", "n/zarr.json", "n/c/0", "n/.1-2.partial"] {
            store.put(&format!("a/{key}"), &[b"?"]).unwrap();
        }
        store.put("b/c/0/0", &[b"?"]).unwrap();
        if Arc::ptr_eq(&store, &file) {
            std::fs::write(folder.join("a/c/0/.1f-3.partial"), b"?").unwrap();
        }
        let survey = engine.survey(&["zarr.json".into()], 2, &|| false).unwrap();
        assert_eq!((survey.present(), survey.total, survey.nbytes), (8, 9, 8 * 64));
        assert_eq!(survey.outside.keys, ["c/0/99", "c/3/0"]);
        assert_eq!((survey.stray.keys.join(" ").as_str(), survey.stray.count), ("c/00/1 c/7", 3));
        let debris: &[&str] = if Arc::ptr_eq(&store, &file) { &["c/0/.1f-3.partial"] } else { &[] };
        assert_eq!(survey.debris.keys, debris);
        let keys: Vec<String> = survey.part(3, 6).iter().map(|&(n, _)| engine.key_of_number(n)).collect();
        assert_eq!(keys, ["c/1/0", "c/1/2", "c/2/0"]);
        assert_eq!(engine.stored().unwrap(), (8, 8 * 64));
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn chunks_that_hold_only_fill_inside_the_shape_are_counted() {
    let nested = sharded([2, 2], sharded([1, 2], plain(vec![])));
    for (chain, cells, filled) in
        [(plain(vec![]), 0, 4), (packed(), 0, 4), (sharded([2, 2], packed()), 30, 20), (nested, 30, 20)]
    {
        let store = memory();
        let engine = engine(chain, &store);
        let mut values = vec![7; 99];
        // This touches 5 chunks, and 10 inner ones.
        (0..5).for_each(|row| (0..6).for_each(|column| values[row * 9 + column] = row as i32));
        values[3 * 9 + 8] = 1;
        move_all(&engine, &mut values, true).unwrap();
        let quick = check(&engine, false);
        let deep = check(&engine, true);
        for found in [&quick, &deep] {
            assert_eq!((found.chunks, found.cells, found.nfaults), (9, cells, 0), "{:?}", found.faults);
            assert_eq!(found.cells_present, cells);
        }
        assert_eq!(quick.filled, 0);
        assert_eq!(deep.filled, filled);
    }
}

#[test]
fn a_fault_is_told_of_exactly_where_reading_fails() {
    let chains = [
        ("raw", plain(vec![])),
        ("packed", packed()),
        ("sharded", sharded([2, 2], packed())),
        ("nested", sharded([2, 4], sharded([1, 2], packed()))),
    ];
    for (name, chain) in chains {
        let store = memory();
        let engine = engine(chain, &store);
        let mut values: Vec<i32> = (0..99).map(|n| n * 77_777).collect();
        move_all(&engine, &mut values, true).unwrap();
        let mut good = omnizarr_core::buffer::Buffer::default();
        store.get("a/c/1/1", &mut good, usize::MAX).unwrap();
        let good = good.as_slice().to_vec();
        let mut bad: Vec<Vec<u8>> = (0..good.len()).map(|n| good[..n].to_vec()).collect();
        bad.extend((0..good.len()).map(|at| {
            let mut other = good.clone();
            other[at] ^= 0x10;
            other
        }));
        bad.push([&good[..], b"more"].concat());
        for bytes in bad {
            store.put("a/c/1/1", &[&bytes]).unwrap();
            let read = move_all(&engine, &mut vec![0; 99], false);
            let found = check(&engine, true);
            assert_eq!(read.is_err(), found.nfaults > 0, "{name}, {} bytes: {read:?} {:?}", bytes.len(), found.faults);
            assert!(found.faults.iter().all(|fault| fault.key == "c/1/1"));
            if bytes.is_empty() {
                assert_eq!(check(&engine, false).faults[0].kind, "empty");
            }
        }
        store.put("a/c/1/1", &[&good]).unwrap();
        assert_eq!(check(&engine, true).nfaults, 0);
    }
}

#[test]
fn faults_of_indexes_have_words_of_their_own() {
    let store = memory();
    let engine = engine(sharded([2, 2], plain(vec![])), &store);
    let kinds = |entries: [(u64, u64); 4], spoil: bool| {
        let mut shard: Vec<u8> = vec![0; 64];
        let index: Vec<u8> = entries.iter().flat_map(|e| [e.0.to_le_bytes(), e.1.to_le_bytes()].concat()).collect();
        let mut out = omnizarr_core::buffer::Buffer::default();
        Crc32c::new().encode(&index, &mut out, &mut omnizarr_core::codec::Contexts::default()).unwrap();
        shard.extend(out.as_slice());
        if spoil {
            *shard.last_mut().unwrap() ^= 1;
        }
        store.put("a/c/0/0", &[&shard]).unwrap();
        check(&engine, false).faults.into_iter().map(|fault| fault.kind).collect::<Vec<_>>()
    };
    let none = (u64::MAX, u64::MAX);
    assert!(kinds([(0, 16), (16, 16), none, (48, 16)], false).is_empty());
    assert_eq!(kinds([(0, 16), (16, 16), none, none], true), ["shard-checksum"]);
    assert_eq!(kinds([(0, 16), (8, 16), none, none], false), ["shard-overlap"]);
    assert_eq!(kinds([(0, 16), (0, 16), (32, 16), none], false), ["shard-overlap"]);
    assert_eq!(kinds([(0, 16), (1 << 40, 16), none, none], false), ["shard-range"]);
    assert_eq!(kinds([(0, 16), (60, 16), none, none], false), ["shard-range"]);
    assert_eq!(kinds([(0, u64::MAX), none, none, none], false), ["shard-range"]);
    assert_eq!(kinds([(0, 16), (16, 0), (16, 15), none], false), ["empty", "size"]);
    store.put("a/c/0/0", &[b"short"]).unwrap();
    assert_eq!(check(&engine, false).faults[0].kind, "corrupt-shard");
}
