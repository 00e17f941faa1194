//! Codecs from bytes to bytes: each way of decoding must agree with every other.

use std::cell::RefCell;
use std::sync::Arc;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::codec::{
    Arithmetic, Base64, BitOrder, Bitshuffle, BitshuffleCompressor, Blosc, Bz2, Checksum, Conditional, Contexts,
    Crc32c, Delta, Encoded, Gzip, Hdf5Lz4, Lz4, Lzf, Lzma, LzmaFilter, N5Lz4, Rice, RowSink, Series, Shuffle, Step,
    Sum, Szip, SzipOptions, TiffLzw, TiffPackBits, Want, Window, Zlib, Zstd,
};
use omnizarr_core::error::Fault;

use crate::{Target, samples, steered, steering};

type Steps = Vec<Arc<dyn Step>>;

thread_local! {
    static CONTEXTS: RefCell<Contexts> = RefCell::new(Contexts::default());
}

/// Do something with this thread's contexts, which outlive an input as they do in the kernel.
pub(crate) fn with_contexts<T>(f: impl FnOnce(&mut Contexts) -> T) -> T {
    CONTEXTS.with(|contexts| f(&mut contexts.borrow_mut()))
}

/// Rows of one buffer.
struct Rows {
    data: Vec<u8>,
    row: usize,
}

impl RowSink for Rows {
    fn row_bytes(&self) -> usize {
        self.row
    }

    fn row(&mut self, i: usize) -> &mut [u8] {
        &mut self.data[i * self.row..(i + 1) * self.row]
    }
}

/// Decode into memory that held something; what comes out must not depend on that.
fn exact(step: &dyn Step, stream: &[u8], n: usize, before: u8, cx: &mut Contexts) -> Option<Vec<u8>> {
    let mut dst = vec![before; n];
    step.decode_exact(stream, &mut dst, cx).is_ok().then_some(dst)
}

/// Try every way of decoding a stream that may be broken.
pub(crate) fn attempt(step: &dyn Step, stream: &[u8], n: usize, cx: &mut Contexts) {
    attempt_within(step, stream, n, n, cx);
}

/// As [`attempt`], with no more room than `most`.
fn attempt_within(step: &dyn Step, stream: &[u8], n: usize, most: usize, cx: &mut Contexts) {
    let name = step.name();
    let whole = exact(step, stream, n, 0, cx);
    assert!(whole == exact(step, stream, n, 0xFF, cx), "{name}: bytes that were there before");
    for want in [Want::Exact(n), Want::AtMost(n)] {
        let mut dst = Buffer::default();
        let result = step.decode(stream, &mut dst, want, cx);
        // Some streams do not say how much they hold; some may hold more than is wanted.
        let unknown = matches!(&result, Err(error) if matches!(error.fault, Fault::Config | Fault::TooLarge));
        let done = result.is_ok();
        assert!(dst.capacity() <= most, "{name}: room for {}, wanted {want:?}", dst.capacity());
        if done && (want == Want::Exact(n) || dst.len() == n) {
            assert!(whole.as_deref() == Some(dst.as_slice()), "{name}: {want:?} differs from decoding in place");
        }
        assert!(done || whole.is_none() || unknown, "{name}: {want:?} fails where decoding in place does not");
    }
    let spans = [(0, n.min(1)), (n / 2, n - n / 4)];
    let mut dst = vec![0xAA; n];
    let spanned = step.decode_spans(stream, &mut dst, &spans, cx);
    check_spans(name, spanned.as_ref().ok().copied(), whole.as_deref(), &dst, &spans);
    fetched(step, stream, n, whole.as_deref(), cx);
    let row = if n.is_multiple_of(20) { 20 } else { n };
    if row > 0 {
        let mut rows = Rows { data: vec![0xAA; n], row };
        let done = step.decode_rows(stream, n, 0, &mut rows, cx);
        if matches!(done, Ok(true)) {
            assert!(whole.as_ref() == Some(&rows.data), "{name}: rows differ");
        }
        drop(step.decode_rows(stream, n, 4, &mut Rows { data: vec![0; n], row }, cx));
    }
}

fn check_spans(name: &str, done: Option<bool>, whole: Option<&[u8]>, dst: &[u8], spans: &[(usize, usize)]) {
    let Some(whole) = whole else { return };
    assert!(done.is_some(), "{name}: spans fail where the whole does not");
    if done == Some(true) {
        for &(from, to) in spans {
            assert!(dst[from..to] == whole[from..to], "{name}: spans differ");
        }
    }
}

fn fetched(step: &dyn Step, stream: &[u8], n: usize, whole: Option<&[u8]>, cx: &mut Contexts) {
    if !step.fetches() || n < 8 {
        return;
    }
    let (from, to) = (n / 8, n / 4);
    let mut fetch = |at: usize, dst: &mut [u8]| {
        dst.copy_from_slice(&stream[at..at + dst.len()]);
        Ok(())
    };
    let mut source = Encoded { size: stream.len(), fetch: &mut fetch };
    let mut dst = vec![0xAA; to - from];
    let mut window = Window { dst: &mut dst, from, total: n };
    let done = step.fetch_spans(&mut source, &mut window, &[(from, to)], cx);
    if let (Ok(true), Some(whole)) = (done, whole) {
        assert!(dst == whole[from..to], "{}: what is fetched differs", step.name());
    }
}

fn one<S: Step + 'static>(made: Result<S, omnizarr_core::error::CodecError>) -> Arc<dyn Step> {
    Arc::new(made.unwrap())
}

fn run_steps(steps: &[Arc<dyn Step>], input: &[u8]) {
    let Some((variant, n, stream)) = steered(input) else { return };
    let step = &*steps[variant % steps.len()];
    with_contexts(|cx| attempt(step, stream, n, cx));
}

/// Series of steps hand their buffers on, which may have had room for what is between two of them.
fn run_series(steps: &[Arc<dyn Step>], input: &[u8]) {
    let Some((variant, n, stream)) = steered(input) else { return };
    let step = &*steps[variant % steps.len()];
    with_contexts(|cx| attempt_within(step, stream, n, step.bound(n).max(stream.len()), cx));
}

fn seeds_of(steps: &[Arc<dyn Step>]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut dst = Buffer::default();
    for (variant, step) in steps.iter().enumerate() {
        for sample in samples() {
            let made = with_contexts(|cx| step.encode(&sample, &mut dst, cx));
            match made {
                Ok(()) => seeds.push(steering(variant, sample.len(), dst.as_slice())),
                // Codecs for reading only: anything may be a stream.
                Err(_) => seeds.push(steering(variant, sample.len(), &sample)),
            }
        }
    }
    seeds
}

macro_rules! steps {
    ($($name:literal: $make:ident $run:ident),* $(,)?) => {
        /// The targets.
        pub(crate) fn targets() -> Vec<Target> {
            vec![$(Target {
                name: $name,
                run: |input| {
                    thread_local!(static STEPS: Steps = $make());
                    STEPS.with(|steps| $run(steps, input));
                },
                seeds: || seeds_of(&$make()),
            }),*]
        }
    };
}

steps! {
    "zstd": zstd run_steps,
    "gzip": gzip run_steps,
    "zlib": zlib run_steps,
    "lz4": lz4 run_steps,
    "bz2": bz2 run_steps,
    "lzma": lzma run_steps,
    "blosc": blosc run_steps,
    "bitshuffle": bitshuffle run_steps,
    "lzf": lzf run_steps,
    "szip": szip run_steps,
    "rice": rice run_steps,
    "tiff": tiff run_steps,
    "checksums": checksums run_steps,
    "base64": base64 run_steps,
    "units": units run_steps,
    "composite": composite run_series,
}

fn zstd() -> Steps {
    vec![one(Zstd::new(3, false)), one(Zstd::new(-5, true)), one(Zstd::new(19, false))]
}

fn gzip() -> Steps {
    vec![one(Gzip::new(5)), one(Gzip::new(0))]
}

fn zlib() -> Steps {
    vec![one(Zlib::new(1)), one(Zlib::new(9))]
}

fn lz4() -> Steps {
    vec![
        one(Lz4::new(1)),
        one(Hdf5Lz4::new(64)),
        one(Hdf5Lz4::new(1 << 20)),
        one(N5Lz4::new(1 << 16)),
        one(N5Lz4::new(100)),
    ]
}

fn bz2() -> Steps {
    vec![one(Bz2::new(1)), one(Bz2::new(9))]
}

fn lzma() -> Steps {
    let delta = || {
        vec![
            LzmaFilter { id: 3, options: vec![("dist".into(), 4)] },
            LzmaFilter { id: 0x21, options: vec![("dict_size".into(), 1 << 16)] },
        ]
    };
    let raw1 = vec![LzmaFilter { id: 0x4000_0000_0000_0001, options: vec![("dict_size".into(), 1 << 16)] }];
    vec![
        one(Lzma::new(1, -1, Some(1), None)),
        one(Lzma::new(1, 0, None, Some(delta()))),
        one(Lzma::new(2, -1, Some(0), None)),
        one(Lzma::new(3, -1, None, Some(delta()))),
        one(Lzma::new(3, -1, None, Some(raw1))),
    ]
}

fn blosc() -> Steps {
    let mut made = Vec::new();
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for (clevel, shuffle, typesize, blocksize) in
            [(5, 0, 4, 0), (5, 1, 4, 128), (5, 2, 4, 128), (0, 1, 4, 0), (9, 1, 3, 256)]
        {
            made.push(one(Blosc::new(cname, clevel, shuffle, typesize, blocksize)));
        }
    }
    made
}

fn bitshuffle() -> Steps {
    use BitshuffleCompressor::{Lz4, None, Zstd};
    vec![
        one(Bitshuffle::new(4, 0, Lz4)),
        one(Bitshuffle::new(2, 8, Lz4)),
        one(Bitshuffle::new(4, 16, Zstd(1))),
        one(Bitshuffle::new(3, 0, None)),
    ]
}

fn lzf() -> Steps {
    vec![one(Ok(Lzf))]
}

fn szip() -> Steps {
    // Nearest neighbour, least or most significant byte first, with and without a header of its own.
    [(0x20, 8, 16, 8), (0x04, 16, 64, 16), (0x24, 32, 128, 32), (0xAC, 2, 5, 12), (0x20, 64, 64, 64), (0x80, 10, 33, 1)]
        .map(|(mask, block, line, bits)| one(Szip::new(SzipOptions { mask, block, line, bits })))
        .to_vec()
}

fn rice() -> Steps {
    vec![one(Rice::new((1, false), 32)), one(Rice::new((2, true), 16)), one(Rice::new((4, true), 32))]
}

fn tiff() -> Steps {
    vec![one(Ok(TiffLzw)), one(Ok(TiffPackBits)), one(Ok(BitOrder))]
}

fn checksums() -> Steps {
    vec![
        one(Ok(Crc32c::new())),
        one(Ok(Checksum::new(Sum::Crc32, true))),
        one(Ok(Checksum::new(Sum::Adler32, false))),
        one(Ok(Checksum::new(Sum::Fletcher32, false))),
        one(Ok(Checksum::new(Sum::JenkinsLookup3 { initial: 7, prefix: b"abc".to_vec() }, false))),
    ]
}

fn base64() -> Steps {
    vec![one(Ok(Base64))]
}

fn units() -> Steps {
    vec![
        one(Shuffle::new(4)),
        one(Shuffle::new(7).map(Shuffle::with_rest)),
        one(Delta::new("<i4", "<i2")),
        one(Delta::new(">f8", "<f4")),
        one(Arithmetic::cast("<f8", "<i2")),
        one(Arithmetic::quantize("<f8", "<f4", 8.0)),
    ]
}

fn composite() -> Steps {
    let inner = || -> Steps { vec![one(Shuffle::new(4)), one(Zlib::new(6)), one(Ok(Crc32c::new()))] };
    vec![one(Ok(Series::new(inner()))), one(Conditional::new(inner(), 16))]
}
