//! Damaged streams: cut short, with bits turned, or nonsense altogether. They may fail or decode to bytes of the
//! right number, but never panic and never ask for more memory than the array allows.

use super::{Noise, all, decode, random, smooth};
use crate::buffer::Buffer;
use crate::codec::*;

/// Try every way of decoding a stream that may be broken.
fn attempt(step: &dyn Step, stream: &[u8], n: usize, cx: &mut Contexts, dst: &mut Buffer) {
    for want in [Want::Exact(n), Want::AtMost(n)] {
        if step.decode(stream, dst, want, cx).is_ok() {
            assert!(dst.len() <= n);
        }
    }
    let mut exact = vec![0; n];
    drop(step.decode_exact(stream, &mut exact, cx));
    drop(step.decode_spans(stream, &mut exact, &[(0, n.min(1)), (n / 2, n)], cx));
    let mut rows = super::blosc::Rows::new(n, 20);
    drop(step.decode_rows(stream, n, 4, &mut rows, cx));
    drop(step.decode_rows(stream, n, 0, &mut rows, cx));
}

#[test]
fn truncation_at_every_byte() {
    let (mut cx, mut dst) = (Contexts::default(), Buffer::default());
    for step in all() {
        let data = smooth(600);
        let encoded = super::encode(&*step, &data);
        for cut in 0..encoded.len() {
            let short = &encoded[..cut];
            attempt(&*step, short, 600, &mut cx, &mut dst);
            assert!(step.decode(short, &mut dst, Want::Exact(600), &mut cx).is_err(), "{} at {cut}", step.name());
        }
    }
}

#[test]
fn every_bit_turned() {
    let (mut cx, mut dst) = (Contexts::default(), Buffer::default());
    for step in all() {
        let data = smooth(300);
        let mut encoded = super::encode(&*step, &data);
        for bit in 0..encoded.len() * 8 {
            encoded[bit / 8] ^= 1 << (bit % 8);
            attempt(&*step, &encoded, 300, &mut cx, &mut dst);
            encoded[bit / 8] ^= 1 << (bit % 8);
        }
    }
}

#[test]
fn nonsense_and_nothing() {
    let (mut cx, mut dst) = (Contexts::default(), Buffer::default());
    for step in all() {
        for stream in [vec![], vec![0; 1], vec![0; 16], vec![0; 1000], vec![255; 1000], random(1000)] {
            attempt(&*step, &stream, 4000, &mut cx, &mut dst);
        }
        if !["shuffle", "base64"].contains(&step.name()) {
            assert!(decode(&*step, &[], Want::AtMost(100)).is_err(), "{}", step.name());
        }
    }
}

#[test]
fn random_damage_to_longer_streams() {
    let (mut cx, mut dst, mut noise) = (Contexts::default(), Buffer::default(), Noise(42));
    for step in all() {
        let data = smooth(20_000);
        let encoded = super::encode(&*step, &data);
        for _ in 0..60 {
            let mut broken = encoded.clone();
            for _ in 0..=noise.below(4) {
                // Most fields that steer a decoder are near the front.
                let span = if noise.below(2) == 0 { broken.len().min(64) } else { broken.len() };
                broken[noise.below(span)] = noise.next() as u8;
            }
            attempt(&*step, &broken, 20_000, &mut cx, &mut dst);
        }
    }
}
