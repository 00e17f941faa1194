//! Speeds of one thread, for the eye only: `cargo test --release -p omnizarr-core speeds -- --ignored --nocapture`.

use super::blosc::Rows;
use super::{boxed, encode, smooth};
use crate::codec::*;
use std::time::Instant;

/// The best of some runs, in GB/s of decoded bytes.
fn best(n: usize, mut run: impl FnMut()) -> f64 {
    let times = (0..30).map(|_| {
        let start = Instant::now();
        run();
        start.elapsed().as_secs_f64()
    });
    n as f64 / times.fold(f64::MAX, f64::min) / 1e9
}

#[test]
#[ignore = "prints speeds"]
fn speeds() {
    let data = smooth(1 << 20);
    let n = data.len();
    let mut cx = Contexts::default();
    for (name, step) in [
        ("blosc lz4 shuffle", boxed(Blosc::new("lz4", 5, 1, 4, 0))),
        ("blosc lz4 bitshuffle", boxed(Blosc::new("lz4", 5, 2, 4, 0))),
        ("blosc zstd shuffle", boxed(Blosc::new("zstd", 5, 1, 4, 0))),
        ("zstd 3", boxed(Zstd::new(3, false))),
        ("gzip 5", boxed(Gzip::new(5))),
        ("lz4", boxed(Lz4::new(1))),
        ("crc32c", boxed(Ok(Crc32c::new()))),
        ("shuffle", boxed(Shuffle::new(4))),
        ("delta", boxed(Delta::new("<i4", "<i4"))),
    ] {
        let mut stream = Buffer::default();
        let encoding = best(n, || step.encode(&data, &mut stream, &mut cx).unwrap());
        let stream = encode(&*step, &data);
        let mut whole = vec![0; n];
        let decoding = best(n, || step.decode_exact(&stream, &mut whole, &mut cx).unwrap());
        let (mut rows, spans) = (Rows::new(n, 512), [(n / 2, n / 2 + 4)]);
        let ratio = n as f64 / stream.len() as f64;
        print!("{name:22} ratio {ratio:5.2}, GB/s: encode {encoding:5.2}, decode {decoding:5.2}");
        // Only Blosc has the other two ways.
        if step.decode_rows(&stream, n, 0, &mut rows, &mut cx).unwrap() {
            let in_rows = best(n, || _ = step.decode_rows(&stream, n, 0, &mut rows, &mut cx).unwrap());
            let part = best(n, || _ = step.decode_spans(&stream, &mut whole, &spans, &mut cx).unwrap());
            print!(", rows {in_rows:5.2}; one element in {:.1} us", n as f64 / part / 1e3);
        }
        println!();
    }
}
