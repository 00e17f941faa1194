//! Boolean masks as lists of coordinates.

/// The coordinates of the true bytes of a C-order mask, dimension by dimension, in C order.
#[allow(clippy::arithmetic_side_effects, clippy::indexing_slicing, reason = "positions inside the mask's own shape")]
pub fn coordinates(mask: &[u8], shape: &[usize]) -> Vec<Vec<i64>> {
    let row = shape.last().copied().unwrap_or(1);
    let mut found: Vec<Vec<i64>> = vec![Vec::new(); shape.len()];
    if row == 0 || mask.is_empty() {
        return found;
    }
    let mut index = vec![0i64; shape.len()];
    for line in mask.chunks_exact(row) {
        let (words, tail) = line.as_chunks::<8>();
        let mut hit = |at: usize| {
            for (d, list) in found.iter_mut().enumerate() {
                list.push(if d + 1 == shape.len() { at as i64 } else { index[d] });
            }
        };
        for (w, word) in words.iter().enumerate() {
            // Most of a sparse mask is skipped eight elements at a time.
            if u64::from_ne_bytes(*word) != 0 {
                word.iter().enumerate().filter(|(_, b)| **b != 0).for_each(|(i, _)| hit(w * 8 + i));
            }
        }
        tail.iter().enumerate().filter(|(_, b)| **b != 0).for_each(|(i, _)| hit(words.len() * 8 + i));
        for d in (0..shape.len().saturating_sub(1)).rev() {
            index[d] += 1;
            if index[d] < shape[d] as i64 {
                break;
            }
            index[d] = 0;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::coordinates;

    #[test]
    fn finds_every_true_element() {
        let mut mask = vec![0u8; 3 * 2 * 21];
        for i in [0, 20, 21, 63, 64, 125] {
            mask[i] = 1;
        }
        let found = coordinates(&mask, &[3, 2, 21]);
        assert_eq!(found[0], [0, 0, 0, 1, 1, 2]);
        assert_eq!(found[1], [0, 0, 1, 1, 1, 1]);
        assert_eq!(found[2], [0, 20, 0, 0, 1, 20]);
        assert_eq!(coordinates(&[1], &[]).len(), 0);
    }
}
