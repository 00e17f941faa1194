//! What a view needs to know of codecs, and those of their parts that move bytes by pointers.

#[path = "../../../rust/core/src/codec/stores.rs"]
mod stores;
#[path = "../../../rust/core/src/codec/unshuffle.rs"]
mod unshuffle;
#[cfg(target_arch = "x86_64")]
#[path = "../../../rust/core/src/codec/unshuffle_avx2.rs"]
mod unshuffle_avx2;

pub use stores::Stores;

fn div_rem(n: usize, by: usize) -> (usize, usize) {
    (n / by.max(1), n % by.max(1))
}

/// Interleave planes, around the caches or not.
pub fn unshuffle(around: bool, planes: &[&[u8]], first: usize, dst: &mut [u8]) {
    unshuffle::unshuffle_by(&Stores::new(around), planes, first, dst);
}

/// The inverse.
pub fn shuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    unshuffle::shuffle(width, src, dst);
}

pub trait RowSink {
    fn row_bytes(&self) -> usize;
    fn row(&mut self, i: usize) -> &mut [u8];
    fn are_far(&self) -> bool;
}
