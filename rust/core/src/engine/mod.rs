//! One array, ready to be read and written.

mod batch;
mod check;
mod far_shards;
mod lock;
mod mask;
mod outbox;
mod read;
mod shard;
mod survey;
mod watch;
mod write;
mod write_shard;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use smallvec::SmallVec;

use crate::cache::Cache;
use crate::cell::{Cells, Dims, Points, Sel};
use crate::chain::{Chain, Pack};
use crate::codec::Want;
use crate::error::{CodecError, Error, Result};
use crate::grid::{Axis, Grid};
use crate::keys::Keys;
use crate::mem::View;
use crate::plan::{self, Select};
use crate::pool::{self, Interrupt};
use crate::store::Store;
use crate::vlen::{self, Arenas, Record};
use outbox::Outbox;
use shard::Index;
use write::Guess;

pub use check::{Checked, Found, Judge, Look};
pub use mask::coordinates;
pub use survey::{Kept, Survey};
pub use watch::Watch;

/// Shard indexes kept per array: a million inner chunks' worth.
const INDEX_CACHE: usize = 16 << 20;

/// Below this much decoding a second thread costs more than it brings.
const ALONE: usize = 192 << 10;

/// What an array is, as far as the kernel must know.
pub struct Spec {
    /// Extents of the array.
    pub shape: Vec<u64>,
    /// How the array is cut into the objects under the keys: chunks, or shards.
    pub chunks: Vec<Axis>,
    /// How chunk indices become keys.
    pub keys: Keys,
    /// One element's bytes (or the text, for variable-length items) that missing chunks hold; `None` if undefined.
    pub fill: Option<Vec<u8>>,
    /// The codecs.
    pub chain: Chain,
    /// Whether chunks that hold nothing but the fill value are stored all the same.
    pub write_empty: bool,
    /// Bytes of decoded chunks to keep; zero for none.
    pub cache: usize,
    /// The largest chunk that may be decoded.
    pub most_chunk: usize,
    /// The key of the document that says what the array is, if it must be there for as long as the array is.
    pub document: Option<String>,
}

/// An array in a store.
pub struct Engine {
    store: Arc<dyn Store>,
    spec: Spec,
    grid: Grid,
    /// What missing elements look like in the caller's array.
    blank: Vec<u8>,
    indexes: Cache<Index>,
    chunks: Cache<Vec<u8>>,
    guess: Guess,
    /// How often nothing was found where an element should be read.
    misses: AtomicU64,
}

/// What the tasks of one call share.
pub(crate) struct Call<'a> {
    engine: &'a Engine,
    /// The caller's memory is zero already, and so is the fill value.
    zeroed: bool,
    arenas: Option<&'a Arenas>,
    /// So few chunks that the inner chunks of each should be spread over the threads.
    nested: bool,
    /// Where values go that take long to arrive.
    outbox: Option<&'a Outbox<'a>>,
    /// Store a chunk also where nothing but the fill value is left of it.
    keeps_blank: bool,
}

impl Engine {
    /// Check the pieces against each other.
    pub fn new(store: Arc<dyn Store>, spec: Spec) -> Result<Self> {
        let grid = Grid::new(&spec.shape, &spec.chunks)?;
        let item = spec.chain.item;
        if item == 0 {
            return Err(Error::Invalid("elements of zero bytes cannot be stored".into()));
        }
        let bytes = grid.chunk.iter().try_fold(item, |bytes, &len| bytes.checked_mul(len));
        if bytes.is_none_or(|b| b > spec.most_chunk) {
            return Err(Error::Limit(format!("a chunk would take more than {} bytes", spec.most_chunk)));
        }
        check_chain(&spec.chain, &grid.chunk)?;
        if grid.uneven.is_some() {
            // What cuts this up evenly does so with every chunk.
            check_chain(&spec.chain, &grid.common)?;
        }
        let blank = match (&spec.fill, &spec.chain.pack) {
            (Some(fill), _) if is_vlen(&spec.chain) => {
                let len = u32::try_from(fill.len()).map_err(|_| Error::Limit("a fill value past 4 GiB".into()))?;
                Record { arena: vlen::FILL, len, offset: 0 }.to_bytes().to_vec()
            }
            (Some(fill), _) if fill.len() == item => fill.clone(),
            (Some(fill), _) => {
                return Err(Error::Invalid(format!("fill value of {} bytes for items of {item}", fill.len())));
            }
            (None, _) => vec![0; item],
        };
        let chunks = Cache::new(spec.cache);
        let (indexes, guess, misses) = (Cache::new(INDEX_CACHE), Guess::default(), AtomicU64::new(0));
        Ok(Self { store, grid, blank, indexes, chunks, guess, misses, spec })
    }

    /// The store.
    pub fn store(&self) -> &Arc<dyn Store> {
        &self.store
    }

    /// How often nothing was found where an element should be read, so far.
    pub fn misses(&self) -> u64 {
        self.misses.load(Ordering::Relaxed)
    }

    /// What differs from one state of the array's document to the next; 0 if it is not there, `None` where nobody looks.
    /// It is odd as long as another state may have the same number: that is not to be remembered.
    pub fn state(&self) -> Result<Option<u64>> {
        let Some(document) = &self.spec.document else { return Ok(None) };
        Ok(Some(self.store.state(document)?.unwrap_or(0)))
    }

    /// Whether the document that says what the array is should be there, and is not.
    pub fn is_gone(&self) -> Result<bool> {
        self.spec.document.as_ref().map_or(Ok(false), |document| self.store.has(document).map(|there| !there))
    }

    /// Whether elements are strings or bytes of any length.
    pub fn is_vlen(&self) -> bool {
        is_vlen(&self.spec.chain)
    }

    /// The fill value's bytes; none if undefined.
    pub fn fill(&self) -> &[u8] {
        self.spec.fill.as_deref().unwrap_or_default()
    }

    /// The most stored bytes of a chunk that are taken into memory at once.
    fn most_stored(&self, shape: &[usize]) -> usize {
        let most = self.spec.chain.encoded_size(shape).max();
        self.spec.chain.most_stored(shape).min(most.max(self.spec.most_chunk))
    }

    /// Read a box. `zeroed`: the caller's memory and the fill value are all zeros.
    pub fn read(
        &self,
        selection: &[Select],
        out: &View,
        zeroed: bool,
        arenas: Option<&Arenas>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        plan::check(selection, &self.spec.shape)?;
        self.read_all(&Sel::Box(selection.iter().map(Select::part).collect()), out, zeroed, arenas, interrupt)
    }

    /// Read single elements into a one-dimensional array.
    pub fn read_points(
        &self,
        coordinates: &[&[i64]],
        out: &View,
        arenas: Option<&Arenas>,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let ids = self.check_points(coordinates)?;
        self.read_all(&self.points(coordinates, &ids), out, false, arenas, interrupt)
    }

    /// Write a box.
    pub fn write(
        &self,
        selection: &[Select],
        values: &View,
        arenas: Option<&Arenas>,
        watch: &Watch,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        plan::check(selection, &self.spec.shape)?;
        self.write_all(&Sel::Box(selection.iter().map(Select::part).collect()), values, arenas, watch, interrupt)
    }

    /// Write single elements from a one-dimensional array; of two values for one element the later one stays.
    pub fn write_points(
        &self,
        coordinates: &[&[i64]],
        values: &View,
        arenas: Option<&Arenas>,
        watch: &Watch,
        interrupt: Interrupt<'_>,
    ) -> Result<()> {
        let ids = self.check_points(coordinates)?;
        self.write_all(&self.points(coordinates, &ids), values, arenas, watch, interrupt)
    }

    fn points<'a>(&self, coordinates: &[&'a [i64]], ids: &'a [usize]) -> Sel<'a> {
        Sel::Points(Points {
            coordinates: coordinates.to_vec(),
            origin: SmallVec::from_elem(0, coordinates.len()),
            ids,
        })
    }

    fn check_points(&self, coordinates: &[&[i64]]) -> Result<Vec<usize>> {
        if coordinates.len() != self.spec.shape.len() {
            return Err(Error::Invalid(format!(
                "{} coordinates for {} dimensions",
                coordinates.len(),
                self.spec.shape.len()
            )));
        }
        let n = coordinates.first().map_or(1, |c| c.len());
        for (axis, (list, &size)) in coordinates.iter().zip(&self.spec.shape).enumerate() {
            if list.len() != n {
                return Err(Error::Invalid("coordinates of different lengths".into()));
            }
            if let Some(bad) = list.iter().find(|&&i| i < 0 || i as u64 >= size) {
                return Err(Error::Invalid(format!("index {bad} is out of bounds for axis {axis} of size {size}")));
            }
        }
        Ok((0..n).collect())
    }

    /// How the cells of a selection are spread over the threads: in parallel, and nested.
    fn spread(&self, cells: &Cells<'_>) -> (bool, bool) {
        let work = cells.total().saturating_mul(self.spec.chain.dense_size(&self.grid.chunk));
        // Raw chunks are read by parts, so a single one is little work however large it is.
        if work <= ALONE || cells.total() == 1 && self.spec.chain.is_raw() {
            return (false, false);
        }
        (true, cells.total() < pool::threads().saturating_mul(2))
    }

    /// Erase the chunks outside the grid; returns how many there were.
    pub fn trim(&self) -> Result<u64> {
        let outside: Vec<String> =
            self.stored_keys()?.into_iter().filter(|(_, inside)| !inside).map(|(key, _)| key).collect();
        self.store.clear_many(&outside)?;
        Ok(outside.len() as u64)
    }

    /// The chunk keys in the store, and whether each lies in the grid.
    fn stored_keys(&self) -> Result<Vec<(String, bool)>> {
        self.store.begin()?;
        let keys = self.store.list_prefix(&self.spec.keys.path)?;
        let known = keys.into_iter().filter_map(|key| {
            let index = self.spec.keys.parse(&key, self.grid.counts.len())?;
            let inside = self.is_inside(&index);
            Some((key, inside))
        });
        Ok(known.collect())
    }
}

fn is_vlen(chain: &Chain) -> bool {
    match &chain.pack {
        Pack::Vlen(_) => true,
        Pack::Shard(shard) => is_vlen(&shard.inner),
        _ => false,
    }
}

/// Refuse chains whose parts do not fit, before any byte is read.
fn check_chain(chain: &Chain, shape: &[usize]) -> Result<()> {
    if let Some(order) = &chain.order {
        let mut seen: Dims = order.clone();
        seen.sort_unstable();
        if seen.len() != shape.len() || seen.iter().enumerate().any(|(i, &a)| i != a) {
            return Err(Error::Invalid(format!("transpose order {order:?} is no permutation of {} axes", shape.len())));
        }
    }
    let Pack::Shard(shard) = &chain.pack else { return Ok(()) };
    let shape = chain.stored_shape(shape);
    let divides = shard.cell.len() == shape.len()
        && shape.iter().zip(&shard.cell).all(|(&n, &c)| c > 0 && n.checked_rem(c) == Some(0));
    if !divides {
        return Err(Error::Invalid(format!("inner chunks {:?} do not divide the shard {shape:?}", shard.cell)));
    }
    let grid = shard::grid(&shape, &shard.cell);
    if !matches!(shard.index.encoded_size(&shard::index_shape(&grid)), Want::Exact(_)) {
        return Err(Error::Invalid("a shard index needs codecs whose output has a fixed size".into()));
    }
    check_chain(&shard.inner, &shard.cell)
}

fn chunk_error(key: &str) -> impl Fn(CodecError) -> Error + '_ {
    move |cause| Error::Chunk { key: key.into(), cause }
}
