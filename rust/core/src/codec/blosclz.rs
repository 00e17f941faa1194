//! The decoder of BloscLZ, the LZ77 variant inside Blosc containers that name no other compressor.
//!
//! Written in safe code because the C decoder adds up match lengths in 32 bits and trusts the sum.

/// The distance from which offsets take two more bytes.
const FAR: usize = 8191;

/// Decode `src` so that it fills `dst`; `None` if it is malformed, too short or too long.
pub(super) fn decompress(src: &[u8], dst: &mut [u8]) -> Option<()> {
    let mut input = src.iter();
    let mut at = 0_usize;
    // The first instruction is always a run of literals, whatever its upper bits say.
    let mut control = *input.next()? & 31;
    loop {
        if control < 32 {
            let run = usize::from(control).checked_add(1)?;
            let end = at.checked_add(run)?;
            let literals = input.as_slice().get(..run)?;
            dst.get_mut(at..end)?.copy_from_slice(literals);
            input = input.as_slice().get(run..)?.iter();
            at = end;
        } else {
            let (length, distance) = match_of(control, &mut input)?;
            at = copy_match(dst, at, length, distance)?;
        }
        match input.next() {
            Some(&next) => control = next,
            None => return (at == dst.len()).then_some(()),
        }
    }
}

/// The length and distance of a match.
fn match_of(control: u8, input: &mut std::slice::Iter<'_, u8>) -> Option<(usize, usize)> {
    let mut length = usize::from(control >> 5).checked_add(2)?;
    if control >> 5 == 7 {
        loop {
            let more = *input.next()?;
            length = length.checked_add(usize::from(more))?;
            if more != 255 {
                break;
            }
        }
    }
    let (high, low) = (control & 31, *input.next()?);
    if (high, low) == (31, 255) {
        let far = u16::from_be_bytes([*input.next()?, *input.next()?]);
        return Some((length, usize::from(far).checked_add(FAR)?.checked_add(1)?));
    }
    Some((length, usize::from(u16::from_be_bytes([high, low])).checked_add(1)?))
}

/// Repeat `length` bytes from `distance` back; the new end of the output.
fn copy_match(dst: &mut [u8], at: usize, length: usize, distance: usize) -> Option<usize> {
    let (from, end) = (at.checked_sub(distance)?, at.checked_add(length)?);
    if end > dst.len() {
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
