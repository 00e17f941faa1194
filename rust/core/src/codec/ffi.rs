//! Every call into C, each behind a safe function that checks lengths before and results after.
//!
//! The SIMD kernels of `unshuffle_avx2.rs` are the only other unsafe code of the codecs.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_int, c_void};
use std::ptr::NonNull;

/// The most bytes that LZ4 and Blosc take in one call.
pub(super) const MAX_INPUT: usize = 0x7E00_0000;

/// Decode one raw LZ4 block; the number of bytes made, or `None` if it is malformed or does not fit.
pub(super) fn lz4_decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    let (n, cap) = (c_int::try_from(src.len()).ok()?, c_int::try_from(dst.len()).ok()?);
    // SAFETY: both pointers are valid for the lengths given, and the call reads and writes nothing past them.
    let made = unsafe { lz4_sys::LZ4_decompress_safe(src.as_ptr().cast(), dst.as_mut_ptr().cast(), n, cap) };
    usize::try_from(made).ok()
}

/// The most bytes that LZ4 makes of `n`; `None` if `n` is too much for one block.
pub(super) fn lz4_bound(n: usize) -> Option<usize> {
    if n > MAX_INPUT { None } else { n.checked_add(n / 255)?.checked_add(16) }
}

/// Encode one raw LZ4 block; the number of bytes made, or `None` if it does not fit.
pub(super) fn lz4_compress(src: &[u8], dst: &mut [u8], acceleration: i32) -> Option<usize> {
    let (n, cap) = (c_int::try_from(src.len()).ok()?, c_int::try_from(dst.len()).ok()?);
    let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
    // SAFETY: both pointers are valid for the lengths given, and the call reads and writes nothing past them.
    let made = unsafe { lz4_sys::LZ4_compress_fast(from, to, n, cap, acceleration) };
    usize::try_from(made).ok().filter(|&made| made > 0)
}

/// Encode one raw LZ4 block with the thorough encoder; the number of bytes made, or `None` if it does not fit.
pub(super) fn lz4hc_compress(src: &[u8], dst: &mut [u8], level: i32) -> Option<usize> {
    let (n, cap) = (c_int::try_from(src.len()).ok()?, c_int::try_from(dst.len()).ok()?);
    // SAFETY: both pointers are valid for the lengths given, and the call reads and writes nothing past them.
    let made = unsafe { lz4_sys::LZ4_compress_HC(src.as_ptr().cast(), dst.as_mut_ptr().cast(), n, cap, level) };
    usize::try_from(made).ok().filter(|&made| made > 0)
}

/// What the Blosc encoder is asked to do.
pub(super) struct BloscParams<'a> {
    pub(super) cname: &'a CStr,
    pub(super) clevel: u8,
    pub(super) shuffle: u8,
    pub(super) typesize: usize,
    pub(super) blocksize: usize,
}

/// Encode one Blosc container; the number of bytes made, or the library's code (0: does not fit).
pub(super) fn blosc_compress(p: &BloscParams<'_>, src: &[u8], dst: &mut [u8]) -> Result<usize, i32> {
    // SAFETY: both pointers are valid for the lengths given; the name is a C string; one internal thread means
    // that the call has no state outside its stack but the CPU detection, which sits behind pthread_once.
    let made = unsafe {
        blosc_src::blosc_compress_ctx(
            c_int::from(p.clevel),
            c_int::from(p.shuffle),
            p.typesize,
            src.len(),
            src.as_ptr().cast(),
            dst.as_mut_ptr().cast(),
            dst.len(),
            p.cname.as_ptr(),
            p.blocksize,
            1,
        )
    };
    usize::try_from(made).ok().filter(|&made| made > 0).ok_or(made)
}

/// Why raw DEFLATE data could not be decoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InflateFault {
    /// Not DEFLATE data, or cut short.
    Bad,
    /// More output than there is room for.
    Full,
}

/// A decoder of raw DEFLATE data.
pub(super) struct Inflater(NonNull<libdeflate_sys::libdeflate_decompressor>);

// SAFETY: the decompressor is plain memory without ties to the thread that made it.
unsafe impl Send for Inflater {}

impl Inflater {
    /// A new decoder, or `None` if memory is short.
    pub(super) fn new() -> Option<Self> {
        // SAFETY: the call takes nothing and returns an owned pointer or null.
        NonNull::new(unsafe { libdeflate_sys::libdeflate_alloc_decompressor() }).map(Self)
    }

    /// Decode one DEFLATE stream at the start of `src`: the bytes read and the bytes made.
    pub(super) fn inflate(&mut self, src: &[u8], dst: &mut [u8]) -> Result<(usize, usize), InflateFault> {
        let (mut used, mut made) = (0, 0);
        // SAFETY: the decompressor is live and ours alone; both pointers are valid for the lengths given, and the
        // library writes at most `dst.len()` bytes.
        let code = unsafe {
            libdeflate_sys::libdeflate_deflate_decompress_ex(
                self.0.as_ptr(),
                src.as_ptr().cast::<c_void>(),
                src.len(),
                dst.as_mut_ptr().cast::<c_void>(),
                dst.len(),
                &raw mut used,
                &raw mut made,
            )
        };
        match code {
            libdeflate_sys::libdeflate_result_LIBDEFLATE_SUCCESS => Ok((used, made)),
            libdeflate_sys::libdeflate_result_LIBDEFLATE_INSUFFICIENT_SPACE => Err(InflateFault::Full),
            _ => Err(InflateFault::Bad),
        }
    }
}

impl Drop for Inflater {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the matching allocation and is dropped once.
        unsafe { libdeflate_sys::libdeflate_free_decompressor(self.0.as_ptr()) }
    }
}

/// An encoder of gzip and zlib streams at one level.
pub(super) struct Deflater(NonNull<libdeflate_sys::libdeflate_compressor>);

// SAFETY: the compressor is plain memory without ties to the thread that made it.
unsafe impl Send for Deflater {}

impl Deflater {
    /// A new encoder of a level from 0 to 12, or `None` if memory is short.
    pub(super) fn new(level: u8) -> Option<Self> {
        // SAFETY: the library checks the level and returns an owned pointer or null.
        NonNull::new(unsafe { libdeflate_sys::libdeflate_alloc_compressor(c_int::from(level)) }).map(Self)
    }

    /// The most bytes that a gzip or zlib stream of `n` bytes takes.
    pub(super) fn bound(&mut self, n: usize) -> usize {
        // SAFETY: the compressor is live; the gzip frame is the larger of the two.
        unsafe { libdeflate_sys::libdeflate_gzip_compress_bound(self.0.as_ptr(), n) }
    }

    /// Write a gzip stream; 0 if it does not fit.
    pub(super) fn gzip(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        // SAFETY: the compressor is live and ours alone; both pointers are valid for the lengths given.
        unsafe { libdeflate_sys::libdeflate_gzip_compress(self.0.as_ptr(), from, src.len(), to, dst.len()) }
    }

    /// Write a zlib stream; 0 if it does not fit.
    pub(super) fn zlib(&mut self, src: &[u8], dst: &mut [u8]) -> usize {
        let (from, to) = (src.as_ptr().cast(), dst.as_mut_ptr().cast());
        // SAFETY: the compressor is live and ours alone; both pointers are valid for the lengths given.
        unsafe { libdeflate_sys::libdeflate_zlib_compress(self.0.as_ptr(), from, src.len(), to, dst.len()) }
    }
}

impl Drop for Deflater {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the matching allocation and is dropped once.
        unsafe { libdeflate_sys::libdeflate_free_compressor(self.0.as_ptr()) }
    }
}

/// The CRC-32 of gzip.
pub(super) fn crc32(bytes: &[u8]) -> u32 {
    crc32_after(0, bytes)
}

/// The CRC-32 of what has the sum `before`, followed by `bytes`.
pub(super) fn crc32_after(before: u32, bytes: &[u8]) -> u32 {
    // SAFETY: the pointer is valid for the length given.
    unsafe { libdeflate_sys::libdeflate_crc32(before, bytes.as_ptr().cast(), bytes.len()) }
}

/// The Adler-32 of zlib.
pub(super) fn adler32(bytes: &[u8]) -> u32 {
    // SAFETY: the pointer is valid for the length given.
    unsafe { libdeflate_sys::libdeflate_adler32(1, bytes.as_ptr().cast(), bytes.len()) }
}

/// The C library's decoder, as a reference for containers that it made itself.
#[cfg(test)]
pub(super) fn blosc_decompress(src: &[u8], dst: &mut [u8]) -> Option<usize> {
    // SAFETY: the container comes from the encoder, so it is as long as its header says; `dst` has the given length.
    let made = unsafe { blosc_src::blosc_decompress_ctx(src.as_ptr().cast(), dst.as_mut_ptr().cast(), dst.len(), 1) };
    usize::try_from(made).ok()
}
