//! What is fuzzed of the kernel.
//!
//! A [`Target`] is a function that takes any bytes, and seeds: good inputs that the kernel's own encoders have made. The
//! function panics where the kernel breaks a promise: no panic, no more room than is allowed, the same values whichever
//! way they are asked for, and never bytes that were left in a buffer by something else.
//!
//! `cargo test` gives each target its seeds and a few thousand mutations of them; the crate in `fuzz/` gives them to
//! libFuzzer, with the sanitizer of addresses.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod archives;
mod documents;
mod engines;
mod filters;
mod hdf5;
mod mutating;
mod parameters;
mod records;
mod steps;

pub use mutating::Noise;

/// Something that takes bytes of anyone's making.
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Tries one input; panics if a promise is broken.
    pub run: fn(&[u8]),
    /// Good inputs.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub fn targets() -> Vec<Target> {
    let mut all = Vec::new();
    all.extend(steps::targets());
    all.extend(filters::targets());
    all.extend(parameters::targets());
    all.extend(engines::targets());
    all.extend(archives::targets());
    all.extend(documents::targets());
    all.extend(records::targets());
    all.extend(hdf5::targets());
    all
}

/// The target of a name.
pub fn target(name: &str) -> Option<Target> {
    targets().into_iter().find(|target| target.name == name)
}

/// Three bytes of steering, then the payload: which variant, and how many bytes are expected.
fn steered(input: &[u8]) -> Option<(usize, usize, &[u8])> {
    let (&[variant, low, high], payload) = input.split_first_chunk::<3>()?;
    Some((usize::from(variant), usize::from(u16::from_le_bytes([low, high])), payload))
}

/// The inverse of [`steered`].
fn steering(variant: usize, expected: usize, payload: &[u8]) -> Vec<u8> {
    let [low, high] = u16::try_from(expected).unwrap_or(u16::MAX).to_le_bytes();
    [&[u8::try_from(variant).unwrap_or(u8::MAX), low, high], payload].concat()
}

/// Data of several kinds and lengths, for encoders to make seeds of.
fn samples() -> Vec<Vec<u8>> {
    let mut noise = Noise::new(1);
    let smooth = (0..96_u16).flat_map(|i| (280.0 + 10.0 * (f32::from(i) * 0.1).sin()).to_le_bytes()).collect();
    let counting = (0..200_u32).flat_map(u32::to_le_bytes).collect();
    let random = (0..64).map(|_| noise.byte()).collect();
    vec![vec![], vec![7; 8], vec![0; 512], smooth, counting, random]
}
