//! What the decoders of LZ77 formats in safe code share.

/// Append `run` bytes of `input` to the output, whose end is `at`; the new end and what is left of the input.
pub(super) fn copy_literals<'a>(dst: &mut [u8], at: usize, input: &'a [u8], run: usize) -> Option<(usize, &'a [u8])> {
    let (literals, rest) = input.split_at_checked(run)?;
    let end = at.checked_add(run)?;
    dst.get_mut(at..end)?.copy_from_slice(literals);
    Some((end, rest))
}

/// Append `length` bytes of the output that begin `distance` before its end `at`; the new end.
pub(super) fn copy_match(dst: &mut [u8], at: usize, length: usize, distance: usize) -> Option<usize> {
    let (from, end) = (at.checked_sub(distance)?, at.checked_add(length)?);
    if end > dst.len() || distance == 0 {
        return None;
    }
    if distance == 1 {
        let byte = *dst.get(from)?;
        dst.get_mut(at..end)?.fill(byte);
        return Some(end);
    }
    // A match may overlap its own output: copy what is there, which doubles each time.
    let mut done = at;
    while done < end {
        let step = done.checked_sub(from)?.min(end.checked_sub(done)?);
        dst.copy_within(from..from.checked_add(step)?, done);
        done = done.checked_add(step)?;
    }
    Some(end)
}
