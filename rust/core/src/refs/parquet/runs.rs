//! Small numbers, written as runs and packed bits: the levels and indices of pages.

fn varint(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Write small numbers as runs and packed bits.
pub fn hybrid(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let run_at = |at: usize| {
        let rest = values.get(at..).unwrap_or_default();
        rest.first().map_or(0, |first| rest.iter().take_while(|value| *value == first).count())
    };
    let mut at = 0;
    while at < values.len() {
        let run = run_at(at);
        if run >= 8 || at.saturating_add(run) == values.len() {
            varint((run as u64).wrapping_shl(1), out);
            let bytes = values.get(at).copied().unwrap_or(0).to_le_bytes();
            out.extend(bytes.iter().take(width.div_ceil(8) as usize));
            at = at.saturating_add(run);
            continue;
        }
        let first = at;
        // Groups of eight until a long run begins.
        while at < values.len() {
            at = at.saturating_add(8).min(values.len());
            if run_at(at) >= 8 {
                break;
            }
        }
        pack(values.get(first..at).unwrap_or_default(), width, out);
    }
}

fn pack(values: &[u32], width: u32, out: &mut Vec<u8>) {
    let groups = values.len().div_ceil(8);
    varint((groups as u64).wrapping_shl(1) | 1, out);
    let (mut held, mut bits) = (0u64, 0u32);
    let padding = std::iter::repeat_n(&0, groups.saturating_mul(8).saturating_sub(values.len()));
    for &value in values.iter().chain(padding) {
        held |= u64::from(value).wrapping_shl(bits);
        bits = bits.saturating_add(width);
        while bits >= 8 {
            out.push(held.to_le_bytes()[0]);
            held >>= 8;
            bits = bits.saturating_sub(8);
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::refs::parquet::values::Hybrid;

    #[test]
    fn small_numbers_come_back() {
        let patterns: [fn(u32) -> u32; 5] = [|_| 1, |i| i % 2, |i| i / 9, |i| u32::from(i > 20), |i| i * i % 7];
        for pattern in patterns {
            for n in [0, 1, 7, 8, 9, 16, 63, 64, 65, 300] {
                let values: Vec<u32> = (0..n).map(pattern).collect();
                let most = values.iter().copied().max().unwrap_or(0);
                let width = most.checked_ilog2().map_or(1, |bits| bits + 1);
                for (width, write) in
                    [(width, hybrid as fn(&[u32], u32, &mut Vec<u8>)), (width, pack), (12, hybrid), (32, pack)]
                {
                    let mut data = Vec::new();
                    write(&values, width, &mut data);
                    let mut reader = Hybrid::new(&data, width).unwrap();
                    let found: Vec<u32> =
                        values.iter().map(|_| u32::try_from(reader.next().unwrap()).unwrap()).collect();
                    assert_eq!(found, values);
                    let (mut reader, mut found) = (Hybrid::new(&data, width).unwrap(), Vec::new());
                    while found.len() < values.len() {
                        let (value, count) = reader.run(values.len() - found.len()).unwrap();
                        found.extend(std::iter::repeat_n(u32::try_from(value).unwrap(), count));
                    }
                    assert_eq!(found, values);
                    for block in [1, 5, 8, 100] {
                        let (mut reader, mut found) = (Hybrid::new(&data, width).unwrap(), Vec::new());
                        while found.len() < values.len() {
                            reader.take(block.min(values.len() - found.len()), &mut found).unwrap();
                        }
                        assert_eq!(found, values);
                    }
                }
            }
        }
    }
}
