//! Filters of HDF5 whose parameters come from the file as well.

use std::sync::Arc;

use omnizarr_core::codec::{Hdf5Zfp, NBit, ScaleOffset, Step};
use omnizarr_core::error::CodecError;

use crate::steps::{attempt, with_contexts};
use crate::{Target, samples, steered, steering};

/// Makes a codec of its parameters.
type Make = fn(&[u32]) -> Result<Arc<dyn Step>, CodecError>;

/// So many words of parameters stand before the stream.
fn run_with(make: Make, input: &[u8]) {
    let Some((words, n, rest)) = steered(input) else { return };
    let Some((parameters, stream)) = rest.split_at_checked((words % 32) * 4) else { return };
    let parameters: Vec<u32> = parameters.as_chunks::<4>().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
    if let Ok(step) = make(&parameters) {
        with_contexts(|cx| attempt(&*step, stream, n, cx));
    }
}

fn seeds_of(parameters: &[&[u32]], n: usize) -> Vec<Vec<u8>> {
    let mut seeds = Vec::new();
    for words in parameters {
        let front: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        for sample in samples() {
            seeds.push(steering(words.len(), n, &[front.as_slice(), &sample].concat()));
        }
    }
    seeds
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target {
            name: "nbit",
            run: |input| run_with(|words| NBit::new(words, None).map(|step| Arc::new(step) as Arc<dyn Step>), input),
            // One number of 4 bytes, 13 bits of it from the third on; a structure of two; an array of bytes.
            seeds: || {
                seeds_of(
                    &[
                        &[8, 0, 16, 1, 4, 0, 13, 3],
                        &[16, 0, 8, 3, 8, 2, 0, 1, 4, 0, 13, 3, 4, 1, 4, 1, 20, 0],
                        &[10, 0, 8, 2, 8, 1, 2, 0, 11, 2],
                        &[6, 0, 16, 4, 4],
                    ],
                    64,
                )
            },
        },
        Target {
            name: "scaleoffset",
            run: |input| run_with(|words| ScaleOffset::new(words).map(|step| Arc::new(step) as Arc<dyn Step>), input),
            seeds: || {
                seeds_of(
                    &[
                        &[2, 0, 16, 0, 4, 1, 0, 1, 7, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                        &[0, 3, 16, 1, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                        &[0, 2, 8, 1, 8, 1, 1, 1, 9, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                    ],
                    64,
                )
            },
        },
        Target {
            name: "zfp_hdf5",
            run: |input| run_with(|words| Hdf5Zfp::new(words).map(|step| Arc::new(step) as Arc<dyn Step>), input),
            // Headers of zfp: floats, 8 by 8, in short and in long.
            seeds: || {
                seeds_of(
                    &[
                        &[0x5000_5001, 0x0570_667A, 0x0007_0007 << 5 | 6, 0x0000_FF00],
                        &[0x5000_5001, 0x0570_667A, 0x0000_003B, 0x0001_0000, 0xFFF0_0000, 0xFFFF_FFFF],
                    ],
                    256,
                )
            },
        },
    ]
}
