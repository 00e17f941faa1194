//! Whole arrays: what is written is read back, in any selection, and damage is never read as data.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, clippy::arithmetic_side_effects, missing_docs)]
#![allow(unsafe_code)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::cell::strides;
use omnizarr_core::chain::{ArrayStep, Chain, Pack, Shard};
use omnizarr_core::codec::{Crc32c, Delta, Shapeless, Step, Zstd};
use omnizarr_core::engine::{Engine, Look, Spec, Watch};
use omnizarr_core::error::Error;
use omnizarr_core::grid::Axis;
use omnizarr_core::keys::Keys;
use omnizarr_core::mem::View;
use omnizarr_core::plan::Select;
use omnizarr_core::refs::{ArrayRefs, Open, RefStore, Reference, Rows, Source, Urls};
use omnizarr_core::store::{MemoryStore, Store};

fn plain(swap: usize, bytes: Vec<Arc<dyn Step>>) -> Chain {
    Chain {
        item: 4,
        order: None,
        array: vec![],
        pack: Pack::Bytes { swap },
        bytes,
        most_variable: 1 << 20,
        clean: None,
    }
}

fn zstd() -> Arc<dyn Step> {
    Arc::new(Zstd::new(1, true).unwrap())
}

fn sharded(cell: &[usize], inner: Chain, index_at_start: bool) -> Chain {
    let mut index = plain(0, vec![Arc::new(Crc32c::new())]);
    index.item = 8;
    let shard = Shard { cell: cell.iter().copied().collect(), inner, index, index_at_start };
    Chain {
        item: 4,
        order: None,
        array: vec![],
        pack: Pack::Shard(Box::new(shard)),
        bytes: vec![],
        most_variable: 0,
        clean: None,
    }
}

fn chains() -> Vec<(&'static str, Chain)> {
    let mut turned = plain(4, vec![zstd()]);
    turned.order = Some([1, 0].into_iter().collect());
    let mut delta = plain(0, vec![]);
    delta.array = vec![
        ArrayStep::Code(Arc::new(Shapeless(Delta::new("<i4", "<i4").unwrap()))),
        ArrayStep::Transpose([1, 0].into_iter().collect()),
    ];
    let mut outer = sharded(&[4, 2], plain(0, vec![zstd()]), false);
    outer.order = Some([1, 0].into_iter().collect());
    vec![
        ("raw", plain(0, vec![])),
        ("swapped", plain(4, vec![])),
        ("zstd, checksum", plain(0, vec![zstd(), Arc::new(Crc32c::new())])),
        ("turned", turned),
        ("delta, turned", delta),
        ("sharded", sharded(&[2, 2], plain(0, vec![zstd()]), false)),
        ("sharded raw, index first", sharded(&[2, 4], plain(4, vec![]), true)),
        ("turned shards", outer),
        ("shards in shards", sharded(&[4, 4], sharded(&[2, 1], plain(0, vec![zstd()]), true), false)),
    ]
}

const SHAPE: [usize; 2] = [11, 9];
const CHUNK: [usize; 2] = [4, 4];

fn engine(chain: Chain, store: &Arc<MemoryStore>, cache: usize) -> Engine {
    engine_of(CHUNK.map(Axis::Even), chain, store, cache).unwrap()
}

fn engine_of(
    chunks: [Axis; 2],
    chain: Chain,
    store: &Arc<MemoryStore>,
    cache: usize,
) -> omnizarr_core::error::Result<Engine> {
    let spec = Spec {
        shape: SHAPE.iter().map(|&n| n as u64).collect(),
        chunks: chunks.into(),
        keys: Keys { prefix: "c/".into(), separator: "/".into(), scalar: "c".into(), ..Keys::default() },
        fill: Some((-1i32).to_ne_bytes().to_vec()),
        chain,
        write_empty: false,
        cache,
        most_chunk: 1 << 20,
        document: None,
    };
    Engine::new(Arc::clone(store) as Arc<dyn Store>, spec)
}

/// Grids of every kind; the last two have chunks that no shard can be cut into.
fn grids() -> [[Axis; 2]; 5] {
    let runs = |runs: &[(usize, usize)]| Axis::Runs(runs.to_vec());
    [
        CHUNK.map(Axis::Even),
        [runs(&[(8, 1), (4, 3)]), runs(&[(4, 1), (8, 2)])],
        [Axis::Even(4), runs(&[(8, 1), (4, 1), (12, 1)])],
        [runs(&[(1, 2), (3, 1), (2, 5)]), runs(&[(5, 1), (1, 1), (9, 1)])],
        CHUNK.map(Axis::Clipped),
    ]
}

fn view(data: &mut [i32], shape: &[usize]) -> View {
    // SAFETY: the caller keeps the data until the engine is done with the view.
    unsafe { View::new(data.as_mut_ptr().cast(), &strides(shape, 4)) }
}

fn read(engine: &Engine, selection: &[Select]) -> Result<Vec<i32>, Error> {
    let shape: Vec<usize> = selection.iter().map(Select::count).collect();
    let mut out = vec![77; shape.iter().product()];
    engine.read(selection, &view(&mut out, &shape), false, None, &|| false)?;
    Ok(out)
}

fn places(select: &Select) -> Vec<usize> {
    match select {
        Select::Range(at, step, n) => (0..*n).map(|i| at + i * step).collect(),
        Select::List(at, out) => {
            let mut list = vec![0; at.len()];
            at.iter().zip(out).for_each(|(a, o)| list[*o] = *a);
            list
        }
    }
}

fn all() -> [Select; 2] {
    [Select::Range(0, 1, SHAPE[0]), Select::Range(0, 1, SHAPE[1])]
}

/// A small generator: the same numbers in every run.
fn random(state: &mut u64, below: usize) -> usize {
    *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    ((*state >> 33) as usize) % below
}

fn some_selection(state: &mut u64, size: usize) -> Select {
    if random(state, 3) == 0 {
        let list: Vec<i64> = (0..random(state, 6)).map(|_| random(state, size) as i64).collect();
        return Select::list(&list).unwrap();
    }
    let (at, step) = (random(state, size), 1 + random(state, 5));
    Select::Range(at, step, random(state, (size - at).div_ceil(step) + 1))
}

#[test]
fn any_sequence_of_writes_reads_back() {
    for (grid, axes) in grids().into_iter().enumerate() {
        sequences(grid, &axes);
    }
}

fn sequences(grid: usize, axes: &[Axis; 2]) {
    for (name, chain) in chains() {
        let store = Arc::new(MemoryStore::default());
        let cache = if name.len() % 2 == 0 { 1 << 16 } else { 0 };
        let made = engine_of(axes.clone(), chain, &store, cache);
        if grid > 2 && name.contains("shard") {
            assert!(matches!(made, Err(Error::Invalid(_))), "{name}");
            continue;
        }
        let engine = made.unwrap();
        let mut model = vec![-1i32; SHAPE[0] * SHAPE[1]];
        let mut state = (name.len() + grid) as u64;
        for round in 0..200 {
            let selection = [some_selection(&mut state, SHAPE[0]), some_selection(&mut state, SHAPE[1])];
            let (rows, columns) = (places(&selection[0]), places(&selection[1]));
            let mut values: Vec<i32> =
                (0..(rows.len() * columns.len()) as i32).map(|i| if round % 7 == 0 { -1 } else { i + round }).collect();
            engine
                .write(&selection, &view(&mut values, &[rows.len(), columns.len()]), None, &Watch::new(None), &|| false)
                .unwrap();
            for (i, row) in rows.iter().enumerate() {
                for (j, column) in columns.iter().enumerate() {
                    model[row * SHAPE[1] + column] = values[i * columns.len() + j];
                }
            }
            let selection = [some_selection(&mut state, SHAPE[0]), some_selection(&mut state, SHAPE[1])];
            let expected: Vec<i32> = places(&selection[0])
                .iter()
                .flat_map(|row| places(&selection[1]).into_iter().map(move |column| row * SHAPE[1] + column))
                .map(|at| model[at])
                .collect();
            assert_eq!(read(&engine, &selection).unwrap(), expected, "{name}, round {round}");
        }
        assert_eq!(read(&engine, &all()).unwrap(), model, "{name}");
        assert_eq!(points(&engine, &mut state, &model), 0, "{name}");
    }
}

/// Read and write single elements; returns how many are wrong.
fn points(engine: &Engine, state: &mut u64, model: &[i32]) -> usize {
    let mut model = model.to_vec();
    let (rows, columns): (Vec<i64>, Vec<i64>) =
        (0..40).map(|_| (random(state, SHAPE[0]) as i64, random(state, SHAPE[1]) as i64)).unzip();
    let mut out: Vec<i32> = (1000..1040).collect();
    engine.write_points(&[&rows, &columns], &view(&mut out, &[40]), None, &Watch::new(None), &|| false).unwrap();
    let at: Vec<usize> = rows.iter().zip(&columns).map(|(&i, &j)| i as usize * SHAPE[1] + j as usize).collect();
    at.iter().zip(&out).for_each(|(&at, &value)| model[at] = value);
    let whole = read(engine, &all()).unwrap();
    engine.read_points(&[&rows, &columns], &view(&mut out, &[40]), None, &|| false).unwrap();
    let wrong = at.iter().zip(&out).filter(|(at, value)| model[**at] != **value).count();
    wrong + usize::from(whole != model)
}

/// Chunks are stored at the length that the grid gives them, the overhang of the last included unless it is clipped.
#[test]
fn stored_chunks_have_the_lengths_of_the_grid() {
    for (axes, expected) in [
        ([Axis::Runs(vec![(3, 1), (10, 1)]), Axis::Even(9)], vec![("c/0/0", 3 * 9), ("c/1/0", 10 * 9)]),
        ([Axis::Clipped(8), Axis::Clipped(9)], vec![("c/0/0", 8 * 9), ("c/1/0", 3 * 9)]),
        ([Axis::Even(8), Axis::Even(9)], vec![("c/0/0", 8 * 9), ("c/1/0", 8 * 9)]),
    ] {
        let store = Arc::new(MemoryStore::default());
        let engine = engine_of(axes, plain(0, vec![]), &store, 0).unwrap();
        let mut values: Vec<i32> = (0..(SHAPE[0] * SHAPE[1]) as i32).collect();
        engine.write(&all(), &view(&mut values, &SHAPE), None, &Watch::new(None), &|| false).unwrap();
        let stored = store.list_prefix("").unwrap();
        assert_eq!(stored.len(), expected.len());
        for (key, elements) in expected {
            assert_eq!(store.size(key).unwrap(), Some(elements * 4), "{key}");
        }
        assert_eq!(engine.stored().unwrap().0, 2);
        store.put("c/2/0", &[b"more"]).unwrap();
        assert_eq!(engine.trim().unwrap(), 1);
    }
}

#[test]
fn long_rows_are_stored_from_where_they_are() {
    // Two chunks beside each other, whose rows are long pieces of the caller's memory.
    let (rows, half) = (5, 20_000);
    let store = Arc::new(MemoryStore::default());
    let shape = [rows, 2 * half];
    let spec = Spec {
        shape: shape.iter().map(|&n| n as u64).collect(),
        chunks: vec![Axis::Even(rows), Axis::Even(half)],
        keys: Keys { prefix: "c/".into(), separator: "/".into(), scalar: "c".into(), ..Keys::default() },
        fill: Some(vec![0; 4]),
        chain: plain(0, vec![]),
        write_empty: false,
        cache: 0,
        most_chunk: 1 << 20,
        document: None,
    };
    let engine = Engine::new(Arc::clone(&store) as Arc<dyn Store>, spec).unwrap();
    let mut data: Vec<i32> = (0..(rows * 2 * half) as i32).map(|i| if i % 40_000 < 20_000 { 0 } else { i }).collect();
    let all = shape.map(|n| Select::Range(0, 1, n));
    engine.write(&all, &view(&mut data, &shape), None, &Watch::new(None), &|| false).unwrap();
    assert_eq!(store.size("c/0/0").unwrap(), None, "nothing but fill");
    assert_eq!(store.size("c/0/1").unwrap(), Some((rows * half * 4) as u64));
    let mut out = vec![-1; data.len()];
    engine.read(&all, &view(&mut out, &shape), false, None, &|| false).unwrap();
    assert!(out == data);
}

#[test]
fn chunks_of_fill_are_not_stored() {
    for (name, chain) in chains() {
        let store = Arc::new(MemoryStore::default());
        let engine = engine(chain, &store, 0);
        let mut values = vec![5i32; SHAPE[0] * SHAPE[1]];
        engine.write(&all(), &view(&mut values, &SHAPE), None, &Watch::new(None), &|| false).unwrap();
        assert_eq!(engine.stored().unwrap().0, 9, "{name}");
        values.fill(-1);
        engine.write(&all(), &view(&mut values, &SHAPE), None, &Watch::new(None), &|| false).unwrap();
        assert_eq!(engine.stored().unwrap(), (0, 0), "{name}");
        assert_eq!(read(&engine, &all()).unwrap(), values, "{name}");
    }
}

/// Flip, cut and lengthen every stored object at every place: reads fail or give an array, and never panic.
#[test]
fn damage_is_an_error_or_other_values_but_never_a_panic() {
    for (name, chain) in chains() {
        let store = Arc::new(MemoryStore::default());
        let engine = engine(chain, &store, 0);
        let mut values: Vec<i32> = (0..(SHAPE[0] * SHAPE[1]) as i32).collect();
        engine.write(&all(), &view(&mut values, &SHAPE), None, &Watch::new(None), &|| false).unwrap();
        let good = store.open("c/1/1").unwrap().unwrap().bytes().unwrap().to_vec();
        let one = [Select::Range(5, 1, 1), Select::Range(6, 1, 1)];
        for at in 0..good.len() {
            for bit in [0, 7] {
                let mut bad = good.clone();
                bad[at] ^= 1 << bit;
                store.put("c/1/1", &[&bad]).unwrap();
                for selection in [&all(), &one] {
                    let outcome = read(&engine, selection);
                    assert!(!matches!(outcome, Err(Error::Invalid(_))), "{name}: {outcome:?}");
                }
            }
            store.put("c/1/1", &[&good[..at]]).unwrap();
            // With the index first, a chunk before the cut is still there, whole.
            let cut = read(&engine, &one);
            assert!(cut.is_err() || name.contains("index first") && cut.unwrap() == [5 * 9 + 6], "{name}: cut at {at}");
        }
        store.put("c/1/1", &[&good, b"more"]).unwrap();
        let longer = read(&engine, &all());
        assert!(longer.is_err() || name.contains("index first") && longer.unwrap() == values, "{name}");
    }
}

#[test]
fn shard_entries_must_lie_in_the_shard() {
    let store = Arc::new(MemoryStore::default());
    let engine = engine(sharded(&[2, 2], plain(0, vec![]), false), &store, 0);
    let entry = |offset: u64, len: u64| {
        let mut index = [u64::MAX; 8];
        (index[0], index[1]) = (offset, len);
        let mut shard: Vec<u8> = vec![0; 16];
        let bytes: Vec<u8> = index.iter().flat_map(|n| n.to_le_bytes()).collect();
        shard.extend(&bytes);
        shard.extend(crc32(&bytes).to_le_bytes());
        store.put("c/0/0", &[&shard]).unwrap();
        read(&engine, &[Select::Range(0, 1, 1), Select::Range(0, 1, 1)])
    };
    assert_eq!(entry(0, 16).unwrap(), [0]);
    for (offset, len) in
        [(0, 1 << 40), (1 << 63, 16), (u64::MAX - 7, 16), (8, 16), (16, 16), (u64::MAX, 16), (0, u64::MAX), (70, 16)]
    {
        assert!(matches!(entry(offset, len), Err(Error::Shard { .. })), "{offset} {len}");
    }
    assert!(matches!(entry(0, 0), Err(Error::Chunk { .. })));
}

fn crc32(data: &[u8]) -> u32 {
    let mut out = omnizarr_core::buffer::Buffer::default();
    Crc32c::new().encode(data, &mut out, &mut omnizarr_core::codec::Contexts::default()).unwrap();
    u32::from_le_bytes(out.as_slice()[data.len()..].try_into().unwrap())
}

/// Some writers leave old inner chunks behind where they put new ones, so that a shard is larger than it need be.
#[test]
fn shards_with_bytes_that_no_entry_leads_to() {
    for (_, chain) in chains().into_iter().filter(|(name, _)| *name == "sharded raw, index first") {
        let store = Arc::new(MemoryStore::default());
        let array = engine(chain, &store, 0);
        let mut values: Vec<i32> = (0..).take(SHAPE[0] * SHAPE[1]).collect();
        array.write(&all(), &view(&mut values, &SHAPE), None, &Watch::new(None), &|| false).unwrap();
        let mut bytes = Buffer::default();
        assert!(store.get("c/0/0", &mut bytes, 1 << 20).unwrap());
        store.put("c/0/0", &[bytes.as_slice(), &[7; 3000]]).unwrap();
        assert_eq!(read(&array, &all()).unwrap(), values);
        let survey = array.survey(&[], 1000, &|| false).unwrap();
        let look = Look { decode: true, text: false, judge: &|error| Err(error) };
        let checked = array.check(&survey, 0, survey.present(), look, &|| false).unwrap();
        assert_eq!(checked.nfaults, 0);
        array
            .write(
                &[Select::Range(1, 1, 1), Select::Range(1, 1, 1)],
                &view(&mut [-5], &[1, 1]),
                None,
                &Watch::new(None),
                &|| false,
            )
            .unwrap();
        values[SHAPE[1] + 1] = -5;
        assert_eq!(read(&array, &all()).unwrap(), values);
        assert!(store.get("c/0/0", &mut bytes, 1 << 20).unwrap());
        assert!(bytes.len() < 1000, "what no entry leads to is not copied");
    }
}

#[test]
fn a_forged_size_allocates_nothing() {
    let store = Arc::new(MemoryStore::default());
    let engine = engine(plain(0, vec![zstd()]), &store, 0);
    let bomb = {
        let mut out = omnizarr_core::buffer::Buffer::default();
        zstd().encode(&vec![0; 64 << 20], &mut out, &mut omnizarr_core::codec::Contexts::default()).unwrap();
        out.as_slice().to_vec()
    };
    store.put("c/0/0", &[&bomb]).unwrap();
    assert!(matches!(read(&engine, &all()), Err(Error::Chunk { .. })));
}

/// References that take long to find, as those do that somebody else has written in a strange way.
struct Slow(Arc<AtomicUsize>);

impl Rows for Slow {
    fn find(&self, _number: u64) -> Result<Option<Reference>, Error> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::thread::sleep(Duration::from_millis(1));
        Ok(None)
    }

    fn present(&self, _from: u64, _most: usize) -> Result<Vec<u64>, Error> {
        Ok(Vec::new())
    }
}

impl Open for Slow {
    fn open(&self, url: &str) -> Result<Arc<dyn Source>, Error> {
        Err(Error::Invalid(url.into()))
    }
}

#[test]
fn an_interrupt_is_heard_while_chunks_are_looked_up() {
    let looked_up = Arc::new(AtomicUsize::new(0));
    let mut store = RefStore::new(Arc::new(Urls::default()), Arc::new(Slow(Arc::clone(&looked_up))), 0);
    let keys = Keys { separator: ".".into(), ..Keys::default() };
    let rows = Box::new(Slow(Arc::clone(&looked_up)));
    store.arrays.insert(String::new(), ArrayRefs { keys: keys.clone(), counts: vec![50_000], rows });
    let spec = Spec {
        shape: vec![50_000],
        chunks: vec![Axis::Even(1)],
        keys,
        fill: Some(vec![0; 4]),
        chain: plain(0, vec![]),
        write_empty: false,
        cache: 0,
        most_chunk: 1 << 20,
        document: None,
    };
    let engine = Engine::new(Arc::new(store), spec).unwrap();
    let mut out = vec![0; 50_000];
    let all = [Select::Range(0, 1, 50_000)];
    let stopped = engine.read(&all, &view(&mut out, &[50_000]), false, None, &|| true);
    assert!(matches!(stopped, Err(Error::Interrupted)), "{stopped:?}");
    assert!(looked_up.load(Ordering::Relaxed) < 1000);
}
