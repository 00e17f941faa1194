//! Tests of all codecs: what every codec must do, and in the submodules what only some do.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

mod blosc;
mod checksums;
mod composite;
mod damage;
mod deflate;
mod delta;
mod filters;
mod golden;
mod limits;
mod lz4;
mod numbers;
mod speed;
mod zstd;

use super::*;

fn boxed<S: Step + 'static>(made: Result<S, CodecError>) -> Box<dyn Step> {
    Box::new(made.unwrap())
}

fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.chars().filter_map(|c| c.to_digit(16)).map(|d| d as u8).collect();
    digits.chunks(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn encode(step: &dyn Step, src: &[u8]) -> Vec<u8> {
    let mut dst = Buffer::default();
    step.encode(src, &mut dst, &mut Contexts::default()).unwrap();
    dst.as_slice().to_vec()
}

fn decode(step: &dyn Step, src: &[u8], want: Want) -> Result<Vec<u8>, CodecError> {
    let mut dst = Buffer::default();
    let result = step.decode(src, &mut dst, want, &mut Contexts::default());
    assert!(dst.capacity() <= want.max(), "{} made room for {}, wanted {want:?}", step.name(), dst.capacity());
    result.map(|()| dst.as_slice().to_vec())
}

/// A filter chain as in Python: `[{"id": FILTER_DELTA, "dist": 4}, {"id": FILTER_LZMA2, "preset": 1}]`.
fn delta_chain() -> Vec<LzmaFilter> {
    vec![
        LzmaFilter { id: 3, options: vec![("dist".into(), 4)] },
        LzmaFilter { id: 0x21, options: vec![("preset".into(), 1)] },
    ]
}

/// One of each codec and of each of their formats.
fn all() -> Vec<Box<dyn Step>> {
    let lzma1 = vec![LzmaFilter { id: 0x4000_0000_0000_0001, options: vec![("dict_size".into(), 1 << 16)] }];
    let mut steps = vec![
        boxed(Zstd::new(3, false)),
        boxed(Zstd::new(-5, true)),
        boxed(Zstd::new(22, true)),
        boxed(Gzip::new(5)),
        boxed(Gzip::new(0)),
        boxed(Zlib::new(1)),
        boxed(Zlib::new(9)),
        boxed(Lz4::new(1)),
        boxed(Lz4::new(50)),
        boxed(Bz2::new(1)),
        boxed(Bz2::new(9)),
        boxed(Lzma::new(1, -1, Some(1), None)),
        boxed(Lzma::new(1, 0, None, Some(delta_chain()))),
        boxed(Lzma::new(2, -1, Some(0), None)),
        boxed(Lzma::new(3, -1, None, Some(delta_chain()))),
        boxed(Lzma::new(3, -1, None, Some(lzma1))),
        boxed(Ok(Crc32c::new())),
        boxed(Shuffle::new(1)),
        boxed(N5Lz4::new(1 << 16)),
        boxed(N5Lz4::new(100)),
        boxed(Ok(Base64)),
        boxed(Ok(Checksum::new(Sum::Crc32, true))),
        boxed(Ok(Checksum::new(Sum::Adler32, false))),
        boxed(Ok(Checksum::new(Sum::Crc32c, true))),
        boxed(Ok(Checksum::new(Sum::Fletcher32, false))),
        boxed(Ok(Checksum::new(Sum::JenkinsLookup3 { initial: 7, prefix: b"abc".to_vec() }, false))),
    ];
    for cname in ["blosclz", "lz4", "lz4hc", "snappy", "zlib", "zstd"] {
        for (clevel, shuffle, typesize) in [(5, 0, 4), (5, 1, 4), (5, 2, 4), (0, 1, 4), (9, 1, 3)] {
            steps.push(boxed(Blosc::new(cname, clevel, shuffle, typesize, 0)));
        }
    }
    steps
}

/// Numbers without a pattern, always the same.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() >> 16) as usize % n
    }
}

/// `n` bytes of slowly changing 32-bit floats.
fn smooth(n: usize) -> Vec<u8> {
    let mut noise = Noise(88_172_645_463_325_252);
    let field = (0..).flat_map(|i| {
        let x = 280.0 + 10.0 * (f64::from(i) * 0.001).sin() + (noise.next() >> 54) as f64 * 1e-4;
        (x as f32).to_le_bytes()
    });
    field.take(n).collect()
}

/// `n` bytes that no codec makes smaller.
fn random(n: usize) -> Vec<u8> {
    let mut noise = Noise(0x9E37_79B9_7F4A_7C15);
    (0..n).map(|_| (noise.next() >> 32) as u8).collect()
}

const SIZES: &[usize] = &[0, 1, 3, 4, 16, 127, 128, 129, 1000, 4099, 65_536, 1 << 20];

#[test]
fn round_trips() {
    let mut cx = Contexts::default();
    let (mut encoded, mut decoded) = (Buffer::default(), Buffer::default());
    for step in all() {
        for &n in SIZES {
            for data in [vec![0; n], smooth(n), random(n)] {
                // The slow encoders need not show at full length what they show at 64 KiB.
                if n > 65_536 && ["bz2", "lzma"].contains(&step.name()) {
                    continue;
                }
                step.encode(&data, &mut encoded, &mut cx).unwrap();
                assert!(encoded.len() <= step.bound(n), "{} {n}", step.name());
                if let Some(size) = step.decoded_size(encoded.len()) {
                    assert_eq!(size, n);
                }
                for want in [Want::Exact(n), Want::AtMost(n), Want::AtMost(n * 3 + 100_000)] {
                    step.decode(encoded.as_slice(), &mut decoded, want, &mut cx).unwrap();
                    assert!(decoded.as_slice() == data, "{} {n} {want:?}", step.name());
                }
                let mut exact = vec![1; n];
                step.decode_exact(encoded.as_slice(), &mut exact, &mut cx).unwrap();
                assert!(exact == data, "{} {n}", step.name());
            }
        }
    }
}

#[test]
fn wrong_sizes_are_errors() {
    let data = smooth(5000);
    for step in all() {
        let encoded = encode(&*step, &data);
        let fault = |want| decode(&*step, &encoded, want).unwrap_err().fault;
        assert_eq!(fault(Want::Exact(5001)), Fault::Corrupt, "{}", step.name());
        assert_eq!(fault(Want::Exact(4999)), Fault::TooLarge, "{}", step.name());
        assert_eq!(fault(Want::AtMost(4999)), Fault::TooLarge, "{}", step.name());
        assert_eq!(fault(Want::AtMost(0)), Fault::TooLarge, "{}", step.name());
        for n in [4999, 5001, 0] {
            let mut dst = vec![0; n];
            step.decode_exact(&encoded, &mut dst, &mut Contexts::default()).unwrap_err();
        }
    }
}

#[test]
fn settings_out_of_range_are_errors() {
    let wrong = |made: Result<(), CodecError>| assert_eq!(made.unwrap_err().fault, Fault::Config);
    wrong(Zstd::new(23, false).map(drop));
    wrong(Zstd::new(-131_073, false).map(drop));
    wrong(Gzip::new(10).map(drop));
    wrong(Zlib::new(-2).map(drop));
    wrong(Bz2::new(0).map(drop));
    wrong(Blosc::new("lz5", 5, 1, 4, 0).map(drop));
    wrong(Blosc::new("lz4", 10, 1, 4, 0).map(drop));
    wrong(Blosc::new("lz4", 5, -1, 4, 0).map(drop));
    wrong(N5Lz4::new(63).map(drop));
    wrong(Conditional::new(vec![], 4).map(drop));
    wrong(BitRound::new((3, false), Rounded::Integer { signed: false }, 1).map(drop));
    wrong(BitRound::new((4, false), Rounded::Float(32), 1).map(drop));
    wrong(PackBits::new((1, false), 1, (0, 8), None, Padding::None).map(drop));
    wrong(PackBits::new((8, false), 1, (3, 2), None, Padding::None).map(drop));
    wrong(Delta::new("<c8", "<i4").map(drop));
    wrong(Delta::new("<i4", "|O").map(drop));
    wrong(Lzma::new(4, -1, None, None).map(drop));
    wrong(Lzma::new(1, 2, None, None).map(drop));
    wrong(Lzma::new(1, -1, Some(10), None).map(drop));
    wrong(Lzma::new(3, -1, None, None).map(drop));
    wrong(Lzma::new(1, -1, Some(6), Some(delta_chain())).map(drop));
    wrong(Lzma::new(2, -1, None, Some(delta_chain())).map(drop));
    let unknown = LzmaFilter { id: 0x21, options: vec![("speed".into(), 1)] };
    wrong(Lzma::new(3, -1, None, Some(vec![unknown])).map(drop));
    wrong(Lzma::new(3, -1, None, Some(vec![LzmaFilter { id: 77, options: vec![] }])).map(drop));
}

#[test]
fn contexts_may_move_to_another_thread() {
    fn sendable<T: Send>(_: &T) {}
    sendable(&Contexts::default());
}
