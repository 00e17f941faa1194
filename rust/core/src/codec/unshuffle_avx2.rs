//! Interleaving of byte planes and its inverse with AVX2, 32 elements at a time.
#![allow(unsafe_code)]

use super::stores::Stores;
use super::unshuffle::transpose_portable;
use std::arch::x86_64::{
    __m256i, _mm256_loadu_si256, _mm256_permute2x128_si256, _mm256_setzero_si256, _mm256_storeu_si256,
    _mm256_stream_si256, _mm256_unpackhi_epi8, _mm256_unpacklo_epi8,
};
use std::ptr;

/// Bytes in a register, and so elements handled at once.
const LANES: usize = 32;

/// Bytes of a line of the cache.
const LINE: usize = Stores::LINE;

/// Interleave the planes from element `first` on if the processor and the sizes allow it; else `false`, and nothing
/// is written.
pub(super) fn unshuffle(stores: &Stores, planes: &[&[u8]], first: usize, dst: &mut [u8]) -> bool {
    match planes.len() {
        2 => run::<2>(stores, planes, first, dst),
        4 => run::<4>(stores, planes, first, dst),
        8 => run::<8>(stores, planes, first, dst),
        16 => run::<16>(stores, planes, first, dst),
        _ => false,
    }
}

fn run<const N: usize>(stores: &Stores, planes: &[&[u8]], first: usize, dst: &mut [u8]) -> bool {
    let (n, _) = super::div_rem(dst.len(), N);
    let Some(end) = first.checked_add(n) else { return false };
    let mut from = [ptr::null(); N];
    for (from, plane) in from.iter_mut().zip(planes) {
        let Some(plane) = plane.get(first..end) else { return false };
        *from = plane.as_ptr();
    }
    if n < LANES || planes.len() != N || !is_x86_feature_detected!("avx2") {
        return false;
    }
    let before = dst.as_ptr().align_offset(LINE);
    let (skipped, within) = super::div_rem(before, N);
    // SAFETY: AVX2 was just detected; each pointer is the start of `n >= LANES` bytes, and `dst` has at least `n * N`.
    // Around the cache, a line begins after `skipped < LANES` elements, and `stores` is followed by a fence.
    unsafe {
        if stores.around() && within == 0 {
            interleave_around(from, dst.as_mut_ptr(), n, skipped);
        } else {
            interleave(from, dst.as_mut_ptr(), n);
        }
    }
    true
}

/// Take elements of 2, 4, 8 or 16 bytes apart into planes of `n` bytes each, one after the other, if the processor and
/// the sizes allow it; else `false`, and nothing is written.
pub(super) fn shuffle(width: usize, src: &[u8], dst: &mut [u8], n: usize) -> bool {
    let fits = n.checked_mul(width).is_some_and(|bytes| bytes <= src.len() && bytes <= dst.len());
    if n < LANES || !fits || !is_x86_feature_detected!("avx2") {
        return false;
    }
    let (from, to) = (src.as_ptr(), dst.as_mut_ptr());
    // SAFETY: AVX2 was just detected, `n >= LANES`, and both slices have at least `n * width` bytes.
    unsafe {
        match width {
            2 => deinterleave::<2>(from, to, n),
            4 => deinterleave::<4>(from, to, n),
            8 => deinterleave::<8>(from, to, n),
            16 => deinterleave::<16>(from, to, n),
            _ => return false,
        }
    }
    true
}

/// Interleave the first half of the registers with the second half, `rounds` times.
///
/// Seen as one sequence per 16-byte lane, each round moves the top bit of a byte's index to its bottom. As many rounds
/// as the number of the plane has bits turn planes into elements, and four more, for the 16 elements, turn them back.
///
/// # Safety
///
/// The processor has AVX2.
#[inline]
#[target_feature(enable = "avx2")]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
unsafe fn rotate<const N: usize>(mut v: [__m256i; N], rounds: u32) -> [__m256i; N] {
    for _ in 0..rounds {
        let old = v;
        for k in 0..N / 2 {
            v[2 * k] = _mm256_unpacklo_epi8(old[k], old[k + N / 2]);
            v[2 * k + 1] = _mm256_unpackhi_epi8(old[k], old[k + N / 2]);
        }
    }
    v
}

/// Interleave `n` bytes of each plane into `dst`.
///
/// # Safety
///
/// The processor has AVX2, `n >= LANES`, each plane is valid for `n` bytes, and `dst` for `n * N` bytes.
#[target_feature(enable = "avx2")]
#[allow(clippy::arithmetic_side_effects)]
unsafe fn interleave<const N: usize>(planes: [*const u8; N], dst: *mut u8, n: usize) {
    let mut i = 0;
    loop {
        // SAFETY: `i + LANES <= n`, and the caller vouches for `n` elements.
        unsafe { step::<N, false>(planes, dst, i) };
        if i + LANES >= n {
            return;
        }
        // The last step overlaps the one before it rather than leaving a tail.
        i = (i + LANES).min(n - LANES);
    }
}

/// The same around the cache, but for the elements before the first line and after the last one.
///
/// # Safety
///
/// As above; `dst` is aligned to a line after `first < LANES` elements, and whoever reads it is behind a fence.
#[target_feature(enable = "avx2")]
#[allow(clippy::arithmetic_side_effects)]
unsafe fn interleave_around<const N: usize>(planes: [*const u8; N], dst: *mut u8, n: usize, first: usize) {
    // SAFETY: each step is of `LANES` elements, all of them among the `n` that the caller vouches for; the ones around the
    // cache begin at multiples of `LANES * N` bytes after a line, and so at lines.
    unsafe {
        if first > 0 {
            step::<N, false>(planes, dst, 0);
        }
        let mut i = first;
        while i + LANES <= n {
            step::<N, true>(planes, dst, i);
            i += LANES;
        }
        if i < n {
            step::<N, false>(planes, dst, n - LANES);
        }
    }
}

/// Interleave `LANES` elements from element `i` on.
///
/// # Safety
///
/// The processor has AVX2, each plane is valid for `i + LANES` bytes, and `dst` for `N` times as many; element `i` is
/// aligned to a register if it goes `AROUND` the cache.
#[inline]
#[target_feature(enable = "avx2")]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
unsafe fn step<const N: usize, const AROUND: bool>(planes: [*const u8; N], dst: *mut u8, i: usize) {
    let mut v = [_mm256_setzero_si256(); N];
    for (v, plane) in v.iter_mut().zip(planes) {
        // SAFETY: the plane has `i + LANES` bytes.
        *v = unsafe { _mm256_loadu_si256(plane.add(i).cast()) };
    }
    // SAFETY: this function has AVX2 too.
    let v = unsafe { rotate(v, N.trailing_zeros()) };
    let mut ordered = [_mm256_setzero_si256(); N];
    for k in 0..N / 2 {
        let (even, odd) = (v[2 * k], v[2 * k + 1]);
        ordered[k] = _mm256_permute2x128_si256(even, odd, 0x20);
        ordered[k + N / 2] = _mm256_permute2x128_si256(even, odd, 0x31);
    }
    for (k, &register) in ordered.iter().enumerate() {
        // SAFETY: the `LANES * N` bytes from `i * N` lie within `dst`, at registers if they go around the cache.
        unsafe {
            let out = dst.add(i * N).cast::<__m256i>().add(k);
            if AROUND && !cfg!(miri) { _mm256_stream_si256(out, register) } else { _mm256_storeu_si256(out, register) }
        }
    }
}

/// Take `n` elements of `N` bytes apart into planes of `n` bytes.
///
/// # Safety
///
/// The processor has AVX2, `n >= LANES`, and both pointers are valid for `n * N` bytes.
#[target_feature(enable = "avx2")]
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
unsafe fn deinterleave<const N: usize>(src: *const u8, dst: *mut u8, n: usize) {
    let mut i = 0;
    loop {
        let mut v = [_mm256_setzero_si256(); N];
        for k in 0..N / 2 {
            // SAFETY: the `LANES * N` bytes from `i * N` lie within the `n * N` bytes of `src`.
            let (low, high) = unsafe {
                let from = src.add(i * N).cast::<__m256i>();
                (_mm256_loadu_si256(from.add(k)), _mm256_loadu_si256(from.add(k + N / 2)))
            };
            v[2 * k] = _mm256_permute2x128_si256(low, high, 0x20);
            v[2 * k + 1] = _mm256_permute2x128_si256(low, high, 0x31);
        }
        // SAFETY: this function has AVX2 too.
        let v = unsafe { rotate(v, 4) };
        for (k, &plane) in v.iter().enumerate() {
            // SAFETY: `i + LANES <= n`, and plane `k < N` begins at `k * n`.
            unsafe { _mm256_storeu_si256(dst.add(k * n + i).cast(), plane) };
        }
        if i + LANES >= n {
            return;
        }
        i = (i + LANES).min(n - LANES);
    }
}

/// Transpose the bits of each eight bytes if the processor allows it; else `false`, and nothing is written.
pub(super) fn transpose_bits(bytes: &mut [u8]) -> bool {
    #[target_feature(enable = "avx2")]
    unsafe fn with_avx2(bytes: &mut [u8]) {
        transpose_portable(bytes);
    }
    if !is_x86_feature_detected!("avx2") {
        return false;
    }
    // SAFETY: AVX2 was just detected.
    unsafe { with_avx2(bytes) };
    true
}
