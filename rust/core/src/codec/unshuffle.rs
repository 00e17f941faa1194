//! Interleaving of byte planes: element `i` of the output takes byte `i` of each plane in turn.

use super::stores::Stores;

/// Interleave `planes` from element `first` on, as many elements as fill `dst`.
///
/// Callers cut both from checked sizes: planes that are too short leave bytes of `dst` as they were.
pub(super) fn unshuffle(planes: &[&[u8]], first: usize, dst: &mut [u8]) {
    unshuffle_by(&Stores::NEAR, planes, first, dst);
}

/// The same, perhaps around the caches.
pub(super) fn unshuffle_by(stores: &Stores, planes: &[&[u8]], first: usize, dst: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if super::unshuffle_avx2::unshuffle(stores, planes, first, dst) {
        return;
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = stores;
    portable(planes, first, dst);
}

/// The same in plain code, for every number of planes.
pub(super) fn portable(planes: &[&[u8]], first: usize, dst: &mut [u8]) {
    match *planes {
        [a, b] => {
            for (out, (&a, &b)) in dst.chunks_exact_mut(2).zip(from(a, first).zip(from(b, first))) {
                out.copy_from_slice(&[a, b]);
            }
        }
        [a, b, c, d] => {
            let (ab, cd) = (from(a, first).zip(from(b, first)), from(c, first).zip(from(d, first)));
            for (out, ((&a, &b), (&c, &d))) in dst.chunks_exact_mut(4).zip(ab.zip(cd)) {
                out.copy_from_slice(&[a, b, c, d]);
            }
        }
        _ => tiled(planes, first, dst),
    }
}

fn from(plane: &[u8], first: usize) -> std::slice::Iter<'_, u8> {
    plane.get(first..).unwrap_or_default().iter()
}

/// Elements handled at once, so that the strided writes stay in the first cache.
const TILE: usize = 64;

fn tiled(planes: &[&[u8]], mut first: usize, dst: &mut [u8]) {
    let width = planes.len().max(1);
    for tile in dst.chunks_mut(width.saturating_mul(TILE)) {
        for (k, plane) in planes.iter().enumerate() {
            let source = plane.get(first..).unwrap_or_default();
            for (out, &byte) in tile.iter_mut().skip(k).step_by(width).zip(source) {
                *out = byte;
            }
        }
        first = first.saturating_add(TILE);
    }
}

fn copy(src: &[u8], dst: &mut [u8]) {
    let n = src.len().min(dst.len());
    if let (Some(from), Some(to)) = (src.get(..n), dst.get_mut(..n)) {
        to.copy_from_slice(from);
    }
}

/// The inverse: take `src` apart into planes of `dst`, one for each of the `width` bytes of an element; bytes after
/// the last whole element stay where they are.
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8]) {
    let (n, left) = super::div_rem(src.len(), width);
    let whole = src.len().saturating_sub(left);
    copy(src.get(whole..).unwrap_or_default(), dst.get_mut(whole..).unwrap_or_default());
    #[cfg(target_arch = "x86_64")]
    if super::unshuffle_avx2::shuffle(width, src, dst, n) {
        return;
    }
    portable_shuffle(width, src, dst, n);
}

/// The same in plain code, for every width; `n` is the number of whole elements.
pub(super) fn portable_shuffle(width: usize, src: &[u8], dst: &mut [u8], n: usize) {
    for (k, plane) in dst.chunks_exact_mut(n.max(1)).take(width).enumerate() {
        for (out, &byte) in plane.iter_mut().zip(src.iter().skip(k).step_by(width.max(1))) {
            *out = byte;
        }
    }
}

/// Transpose the 8×8 bits of each eight bytes in place.
pub(super) fn transpose_bits(bytes: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if super::unshuffle_avx2::transpose_bits(bytes) {
        return;
    }
    transpose_portable(bytes);
}

/// The same in plain code, inlined so that it can be compiled for more than one kind of processor.
#[inline(always)]
pub(super) fn transpose_portable(bytes: &mut [u8]) {
    for group in bytes.chunks_exact_mut(8) {
        let Some(eight) = group.first_chunk_mut::<8>() else { return };
        let mut x = u64::from_le_bytes(*eight);
        for (shift, mask) in [(7, 0x00AA_00AA_00AA_00AA), (14, 0x0000_CCCC_0000_CCCC), (28, 0x0000_0000_F0F0_F0F0)] {
            let moved = (x ^ (x >> shift)) & mask;
            x ^= moved ^ (moved << shift);
        }
        *eight = x.to_le_bytes();
    }
}
