//! The two-axis copy where one side is contiguous along one axis and the other side along the other.

/// Elements per side of a tile: source and destination lines of a tile stay in the first-level cache.
const TILE: usize = 16;

/// Copy `dst[i][j] = src[j][i]`: `rows` = (n, destination stride) is contiguous in the source, `cols` = (m, source stride)
/// is contiguous in the destination.
///
/// # Safety
/// All n × m items must be readable and writable at those strides, without overlap.
pub unsafe fn transpose(rows: (usize, isize), cols: (usize, isize), item: usize, src: *const u8, dst: *mut u8) {
    // SAFETY: the caller vouches for every item.
    unsafe {
        match item {
            1 => tiles::<1>(rows, cols, src, dst),
            2 => tiles::<2>(rows, cols, src, dst),
            4 => tiles::<4>(rows, cols, src, dst),
            8 => tiles::<8>(rows, cols, src, dst),
            16 => tiles::<16>(rows, cols, src, dst),
            _ => {
                for i in 0..rows.0 {
                    for j in 0..cols.0 {
                        let from = src.wrapping_offset(i as isize * item as isize + j as isize * cols.1);
                        let to = dst.wrapping_offset(i as isize * rows.1 + j as isize * item as isize);
                        std::ptr::copy_nonoverlapping(from, to, item);
                    }
                }
            }
        }
    }
}

unsafe fn tiles<const N: usize>(rows: (usize, isize), cols: (usize, isize), src: *const u8, dst: *mut u8) {
    let (n, dst_stride) = rows;
    let (m, src_stride) = cols;
    for j0 in (0..m).step_by(TILE) {
        for i0 in (0..n).step_by(TILE) {
            let (w, h) = ((m - j0).min(TILE), (n - i0).min(TILE));
            let from = src.wrapping_offset(j0 as isize * src_stride + (i0 * N) as isize);
            let to = dst.wrapping_offset(i0 as isize * dst_stride + (j0 * N) as isize);
            if w == TILE && h == TILE {
                // SAFETY: a full tile inside the n × m items.
                unsafe { full_tile::<N>(src_stride, dst_stride, from, to) }
                continue;
            }
            for i in 0..h as isize {
                for j in 0..w as isize {
                    // SAFETY: item (i, j) of a tile cut off at the border.
                    unsafe {
                        *to.wrapping_offset(i * dst_stride + j * N as isize).cast::<[u8; N]>() =
                            *from.wrapping_offset(j * src_stride + i * N as isize).cast::<[u8; N]>();
                    }
                }
            }
        }
    }
}

/// A whole tile: loads are lines of the source, stores are lines of the destination.
unsafe fn full_tile<const N: usize>(src_stride: isize, dst_stride: isize, src: *const u8, dst: *mut u8) {
    // SAFETY: TILE items in each of TILE lines on both sides, says the caller.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        if N == 4 {
            return tile_of_words(src_stride, dst_stride, src, dst);
        }
        let mut tile = [[[0u8; N]; TILE]; TILE];
        for (j, line) in tile.iter_mut().enumerate() {
            *line = *src.wrapping_offset(j as isize * src_stride).cast::<[[u8; N]; TILE]>();
        }
        #[allow(clippy::needless_range_loop, reason = "columns of the tile, which cannot be iterated over")]
        for i in 0..TILE {
            let line: [[u8; N]; TILE] = std::array::from_fn(|j| tile[j][i]);
            *dst.wrapping_offset(i as isize * dst_stride).cast::<[[u8; N]; TILE]>() = line;
        }
    }
}

/// A tile of four-byte items, in registers: four lines of four at a time.
#[cfg(target_arch = "x86_64")]
unsafe fn tile_of_words(src_stride: isize, dst_stride: isize, src: *const u8, dst: *mut u8) {
    use std::arch::x86_64::{
        __m128i, _mm_loadu_si128, _mm_storeu_si128, _mm_unpackhi_epi32, _mm_unpackhi_epi64, _mm_unpacklo_epi32,
        _mm_unpacklo_epi64,
    };
    for i in (0..TILE as isize).step_by(4) {
        for j in (0..TILE as isize).step_by(4) {
            let from = src.wrapping_offset(j * src_stride + i * 4);
            let to = dst.wrapping_offset(i * dst_stride + j * 4);
            // SAFETY: four lines of sixteen bytes inside the tile on each side; the instructions are in every x86-64.
            unsafe {
                let load = |k: isize| _mm_loadu_si128(from.wrapping_offset(k * src_stride).cast::<__m128i>());
                let store = |k: isize, v| _mm_storeu_si128(to.wrapping_offset(k * dst_stride).cast::<__m128i>(), v);
                let (a, b, c, d) = (load(0), load(1), load(2), load(3));
                let (ab_low, ab_high) = (_mm_unpacklo_epi32(a, b), _mm_unpackhi_epi32(a, b));
                let (cd_low, cd_high) = (_mm_unpacklo_epi32(c, d), _mm_unpackhi_epi32(c, d));
                store(0, _mm_unpacklo_epi64(ab_low, cd_low));
                store(1, _mm_unpackhi_epi64(ab_low, cd_low));
                store(2, _mm_unpacklo_epi64(ab_high, cd_high));
                store(3, _mm_unpackhi_epi64(ab_high, cd_high));
            }
        }
    }
}
