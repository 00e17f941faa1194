//! Whole chunks and shards, through an array's engine; and items of any length.

use std::sync::Arc;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::cell::strides;
use omnizarr_core::chain::{Chain, Pack, Shard};
use omnizarr_core::codec::{Contexts, Crc32c, Step, Zstd};
use omnizarr_core::engine::{Engine, Spec, Watch};
use omnizarr_core::error::Error;
use omnizarr_core::grid::Axis;
use omnizarr_core::keys::Keys;
use omnizarr_core::mem::View;
use omnizarr_core::plan::Select;
use omnizarr_core::store::{MemoryStore, Store};
use omnizarr_core::vlen::{self, Arenas};

use crate::{Target, steered, steering};

const SIDE: usize = 8;
const KEY: &str = "c/0/0";

fn plain(bytes: Vec<Arc<dyn Step>>) -> Chain {
    Chain {
        item: 4,
        order: None,
        array: vec![],
        pack: Pack::Bytes { swap: 0 },
        bytes,
        most_variable: 1 << 16,
        clean: None,
    }
}

fn zstd() -> Arc<dyn Step> {
    Arc::new(Zstd::new(1, false).unwrap())
}

fn sharded(cell: usize, inner: Chain, index_at_start: bool) -> Chain {
    let mut index = plain(vec![Arc::new(Crc32c::new())]);
    index.item = 8;
    let shard = Shard { cell: [cell, cell].into_iter().collect(), inner, index, index_at_start };
    let mut outer = plain(vec![]);
    outer.pack = Pack::Shard(Box::new(shard));
    outer
}

/// A chain, and where the checksum of its index is: how many bytes it is about, and whether they are the first.
fn chain(variant: usize) -> (Chain, usize, bool) {
    match variant % 6 {
        0 => (sharded(4, plain(vec![]), false), 64, false),
        1 => (sharded(4, plain(vec![zstd()]), true), 64, true),
        2 => (sharded(2, plain(vec![zstd()]), false), 256, false),
        3 => (sharded(4, sharded(2, plain(vec![]), true), false), 64, false),
        4 => {
            let mut turned = sharded(4, plain(vec![zstd()]), false);
            turned.order = Some([1, 0].into_iter().collect());
            (turned, 64, false)
        }
        _ => (plain(vec![zstd(), Arc::new(Crc32c::new())]), 0, false),
    }
}

fn engine(chain: Chain, store: &Arc<MemoryStore>) -> Engine {
    let spec = Spec {
        shape: vec![SIDE as u64; 2],
        chunks: vec![Axis::Even(SIDE); 2],
        keys: Keys { prefix: "c/".into(), separator: "/".into(), scalar: "c".into(), ..Keys::default() },
        fill: Some((-1_i32).to_ne_bytes().to_vec()),
        chain,
        write_empty: false,
        cache: 0,
        most_chunk: 1 << 20,
        document: None,
    };
    Engine::new(Arc::clone(store) as Arc<dyn Store>, spec).unwrap()
}

fn stored(value: &[u8]) -> Arc<MemoryStore> {
    let store = Arc::new(MemoryStore::default());
    store.put(KEY, &[value]).unwrap();
    store
}

#[allow(unsafe_code)]
fn view(data: &mut [i32], width: usize) -> View {
    // SAFETY: the callers below keep the data until the engine is done with the view, and it is as large as it says.
    unsafe { View::new(data.as_mut_ptr().cast(), &strides(&[data.len() / width, width], 4)) }
}

fn read(engine: &Engine, rows: Select, columns: Select, before: i32) -> Result<Vec<i32>, Error> {
    let width = columns.count();
    let mut out = vec![before; rows.count() * width];
    engine.read(&[rows, columns], &view(&mut out, width), false, None, &|| false)?;
    Ok(out)
}

fn all() -> Select {
    Select::Range(0, 1, SIDE)
}

/// Put the right checksum behind the index, so that what follows it is tried as well.
fn mend(value: &mut [u8], index: usize, first: bool) {
    let Some(from) = (if first { Some(0) } else { value.len().checked_sub(index + 4) }) else { return };
    if index == 0 || value.len() < index + 4 {
        return;
    }
    let mut made = Buffer::default();
    Crc32c::new().encode(&value[from..from + index], &mut made, &mut Contexts::default()).unwrap();
    value[from..from + index + 4].copy_from_slice(made.as_slice());
}

fn run_shard(input: &[u8]) {
    let Some((variant, flags, value)) = steered(input) else { return };
    let (made, index, first) = chain(variant);
    let mut value = value.to_vec();
    if flags & 1 == 1 {
        mend(&mut value, index, first);
    }
    let store = stored(&value);
    let engine = engine(made, &store);
    let whole = read(&engine, all(), all(), 0).ok();
    assert!(whole == read(&engine, all(), all(), 77).ok(), "values that were there before");
    for (at, step, n) in [(0, 1, 2), (1, 3, 3), (7, 1, 1)] {
        let part = read(&engine, Select::Range(at, step, n), Select::Range(2, 2, 3), 5);
        if let Some(whole) = &whole {
            let rows = (0..n).map(|i| at + i * step);
            let expected: Vec<i32> = rows.flat_map(|r| [2, 4, 6].map(|c| whole[r * SIDE + c])).collect();
            assert!(part.ok() == Some(expected), "a part differs");
        }
    }
    write(&engine, whole);
}

/// A part is written, or not: what is around it stays what it was.
fn write(engine: &Engine, whole: Option<Vec<i32>>) {
    let mut values = [9, 8, 7, 6];
    let place = || Select::Range(3, 1, 2);
    let done = engine.write(&[place(), place()], &view(&mut values, 2), None, &Watch::new(None), &|| false);
    let after = read(engine, all(), all(), 3).ok();
    let Some(mut expected) = whole else {
        // What was damaged before may be so still, but a part that was written can be read.
        if done.is_ok() {
            assert!(read(engine, place(), place(), 0).ok() == Some(values.to_vec()), "what was written is not there");
        }
        return;
    };
    done.expect("a readable chunk cannot be written");
    for (i, value) in values.into_iter().enumerate() {
        expected[(3 + i / 2) * SIDE + 3 + i % 2] = value;
    }
    assert!(after == Some(expected), "a write changed something else");
    let _ = engine.trim();
}

fn seeds_shard() -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for variant in 0..6 {
        for rows in [1, 3, SIDE] {
            let store = Arc::new(MemoryStore::default());
            let mut values: Vec<i32> = (0..).take(rows * SIDE).collect();
            let place = [Select::Range(0, 1, rows), all()];
            engine(chain(variant).0, &store)
                .write(&place, &view(&mut values, SIDE), None, &Watch::new(None), &|| false)
                .unwrap();
            let mut value = Buffer::default();
            store.get(KEY, &mut value, 1 << 20).unwrap();
            seeds.push(steering(variant, 1, value.as_slice()));
        }
    }
    seeds
}

/// Items of any length: what can be decoded is encoded to the same bytes.
fn run_vlen(input: &[u8]) {
    let Some((_, n, src)) = steered(input) else { return };
    let arenas = Arenas::new(b"", vec![]);
    let mut records = Buffer::default();
    if vlen::decode(src, n, &arenas, &mut records).is_ok() {
        assert!(records.len() == n * vlen::RECORD);
        let mut again = Buffer::default();
        vlen::encode(records.as_slice(), &arenas, &mut again).unwrap();
        assert!(again.as_slice() == src, "items do not come back");
    }
}

fn seeds_vlen() -> Vec<Vec<u8>> {
    let make = |items: &[&[u8]]| {
        let count = u32::try_from(items.len()).unwrap();
        let mut src = count.to_le_bytes().to_vec();
        for item in items {
            src.extend(u32::try_from(item.len()).unwrap().to_le_bytes());
            src.extend(*item);
        }
        steering(0, items.len(), &src)
    };
    vec![make(&[]), make(&[b""]), make(&[b"one", b"two", b"", b"seventeen bytes!!"])]
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target { name: "shard", run: run_shard, seeds: seeds_shard },
        Target { name: "vlen", run: run_vlen, seeds: seeds_vlen },
    ]
}
