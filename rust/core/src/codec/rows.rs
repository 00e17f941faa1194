//! Decoded bytes on their way to rows.

use super::{RowSink, div_rem};

/// Cut `size` bytes from `at` on into the pieces of rows they belong to: `put` gets each piece and its offset.
pub(super) fn scatter(rows: &mut dyn RowSink, at: usize, size: usize, mut put: impl FnMut(usize, &mut [u8])) {
    let ((mut row, mut skip), mut done) = (div_rem(at, rows.row_bytes()), 0_usize);
    while done < size {
        let left = size.saturating_sub(done);
        let piece = rows.row(row).get_mut(skip..).unwrap_or_default();
        let n = piece.len().min(left);
        if n == 0 {
            return;
        }
        put(done, piece.get_mut(..n).unwrap_or_default());
        done = done.saturating_add(n);
        (row, skip) = (row.saturating_add(1), 0);
    }
}

/// Copy from `src` at `from` on, as much as `dst` takes.
pub(super) fn fill_from(src: &[u8], from: usize, dst: &mut [u8]) {
    if let Some(bytes) = src.get(from..).and_then(|rest| rest.get(..dst.len())) {
        dst.copy_from_slice(bytes);
    }
}
