//! Codecs that know the shape of what they decode.

use std::sync::Arc;

use omnizarr_core::buffer::Buffer;
use omnizarr_core::cell::Dims;
use omnizarr_core::codec::{
    Along, BoolBits, Filter, N5, NumberKind, PackBits, Padding, Pcodec, PcodecOptions, Series, Step, TiffBits,
    TiffDelta, TiffFloats, Want, Zfp, ZfpMode, ZfpType, Zlib,
};

use crate::steps::with_contexts;
use crate::{Target, samples, steered, steering};

/// A filter, and the bytes of an element.
type Known = (Arc<dyn Filter>, usize);

fn shape(n: usize) -> Vec<usize> {
    let width = 1 + n % 7;
    vec![n / width, width]
}

fn run_filters(filters: &[Known], input: &[u8]) {
    let Some((variant, n, stream)) = steered(input) else { return };
    let (filter, item) = &filters[variant % filters.len()];
    // Bits unpack to bytes, so that a short stream makes a large array.
    let shape = shape(n % 4096);
    let expected = shape.iter().product::<usize>() * item;
    with_contexts(|cx| {
        let mut results = Vec::new();
        for before in [0, 0xFF] {
            let mut dst = Buffer::default();
            dst.assign(&vec![before; expected]);
            let done = filter.decode(stream, &mut dst, &shape, Want::Exact(expected), cx).is_ok();
            assert!(dst.capacity() <= expected, "{}: room for {} of {expected}", filter.name(), dst.capacity());
            // The chain checks the size of what filters make, so that it may be another here.
            results.push(done.then(|| dst.as_slice().to_vec()));
        }
        assert!(results[0] == results[1], "{}: bytes that were there before", filter.name());
    });
}

fn seeds_of(filters: &[Known]) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    let mut dst = Buffer::default();
    for (variant, (filter, item)) in filters.iter().enumerate() {
        for sample in samples() {
            let elements = sample.len() / item;
            let shape = shape(elements);
            let used = shape.iter().product::<usize>();
            let made = with_contexts(|cx| filter.encode(&sample[..used * item], &mut dst, &shape, cx));
            let stream = if made.is_ok() { dst.as_slice() } else { &sample };
            seeds.push(steering(variant, elements, stream));
        }
    }
    seeds
}

macro_rules! filters {
    ($($name:literal: $make:ident),* $(,)?) => {
        /// The targets.
        pub(crate) fn targets() -> Vec<Target> {
            vec![$(Target {
                name: $name,
                run: |input| {
                    thread_local!(static FILTERS: Vec<Known> = $make());
                    FILTERS.with(|filters| run_filters(filters, input));
                },
                seeds: || seeds_of(&$make()),
            }),*]
        }
    };
}

filters! { "zfp": zfp, "pcodec": pcodec, "bits": bits, "n5": n5, "predictors": predictors }

fn zfp() -> Vec<Known> {
    let modes = [
        (ZfpMode::Reversible, ZfpType::Float32, 4),
        (ZfpMode::Reversible, ZfpType::Int64, 8),
        (ZfpMode::Accuracy(0.01), ZfpType::Float64, 8),
        (ZfpMode::Rate(16.0), ZfpType::Float32, 4),
        (ZfpMode::Precision(12), ZfpType::Int16, 2),
    ];
    let mut made: Vec<Known> = Vec::new();
    for (mode, kind, item) in modes {
        for header in [false, true] {
            if let Ok(codec) = Zfp::new(mode, kind, false, header) {
                made.push((Arc::new(codec), item));
            }
        }
    }
    made
}

fn pcodec() -> Vec<Known> {
    let kinds = [(NumberKind::Float, 4), (NumberKind::Signed, 8), (NumberKind::Unsigned, 2), (NumberKind::Float, 8)];
    let mut made: Vec<Known> = Vec::new();
    for (kind, size) in kinds {
        for delta in ["auto", "none", "try_lookback"] {
            let options = PcodecOptions { level: 4, find_mode: true, delta: delta.into(), delta_order: 2, page: 64 };
            made.push((Arc::new(Pcodec::new(kind, (size, false), 1, &options).unwrap()), size));
        }
    }
    made
}

fn bits() -> Vec<Known> {
    vec![
        (Arc::new(PackBits::new((1, false), 1, (0, 2), Some(8), Padding::First).unwrap()), 1),
        (Arc::new(PackBits::new((4, true), 2, (3, 20), None, Padding::Last).unwrap()), 8),
        (Arc::new(BoolBits), 1),
        (Arc::new(TiffBits::new((2, false), 12, 7).unwrap()), 2),
        (Arc::new(TiffBits::new((1, false), 1, 0).unwrap()), 1),
    ]
}

fn n5() -> Vec<Known> {
    let zlib: Arc<dyn Step> = Arc::new(Zlib::new(1).unwrap());
    let most = || Dims::from_slice(&[40, 40]);
    vec![
        (Arc::new(N5::new(2, 2, most(), Series::new(vec![zlib]))), 2),
        (Arc::new(N5::new(4, 0, most(), Series::new(vec![]))), 4),
    ]
}

fn predictors() -> Vec<Known> {
    let along = Along { from_last: 0, distance: 1 };
    let apart = Along { from_last: 1, distance: 3 };
    vec![
        (Arc::new(TiffDelta::new((2, false), along).unwrap()), 2),
        (Arc::new(TiffDelta::new((8, true), apart).unwrap()), 8),
        (Arc::new(TiffFloats::new((4, false), along).unwrap()), 4),
    ]
}
