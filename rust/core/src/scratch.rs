//! Working memory that a thread keeps between chunks.

use std::cell::RefCell;

use crate::buffer::Buffer;
use crate::codec::Contexts;

/// The buffers and codec contexts of one task.
#[derive(Default)]
pub struct Scratch {
    /// Codec contexts.
    pub cx: Contexts,
    /// Bytes as stored.
    pub enc: Buffer,
    /// A decoded chunk.
    pub dec: Buffer,
    /// Between two steps of a chain.
    pub one: Buffer,
    /// Between two steps of a chain.
    pub two: Buffer,
    /// The key of the chunk at hand.
    pub key: String,
}

thread_local! {
    #[allow(clippy::vec_box, reason = "boxes are lent out and taken back without moving a kilobyte of contexts")]
    static SPARE: RefCell<Vec<Box<Scratch>>> = const { RefCell::new(Vec::new()) };
}

/// Lend a scratch to `f`; nested calls get scratches of their own.
pub fn with<T>(f: impl FnOnce(&mut Scratch) -> T) -> T {
    let mut scratch = SPARE.with(|cell| cell.borrow_mut().pop()).unwrap_or_default();
    let value = f(&mut scratch);
    [&mut scratch.enc, &mut scratch.dec, &mut scratch.one, &mut scratch.two].into_iter().for_each(Buffer::reset);
    scratch.cx.trim();
    SPARE.with(|cell| cell.borrow_mut().push(scratch));
    value
}
