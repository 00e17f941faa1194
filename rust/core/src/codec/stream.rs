//! Driving of codecs that work in steps, each on some input and some room.

/// What one call did.
pub(super) struct Progress {
    pub(super) used: usize,
    pub(super) made: usize,
    pub(super) ended: bool,
}

/// Why a stream stopped before its end.
pub(super) enum Stop {
    /// It wants more room than there is.
    Full,
    /// It wants more input than there is, or a step failed.
    Bad(String),
}

/// Call `step` until the stream ends: the bytes read and the bytes made, no more than `dst` takes.
pub(super) fn pump(
    src: &[u8],
    dst: &mut [u8],
    mut step: impl FnMut(&[u8], &mut [u8]) -> Result<Progress, String>,
) -> Result<(usize, usize), Stop> {
    let (mut used, mut made, mut idle) = (0_usize, 0_usize, 0_u8);
    // Room for one byte past the end tells a stream that ends there from one that goes on.
    let mut spare = [0];
    loop {
        let input = src.get(used..).unwrap_or_default();
        let room = match dst.get_mut(made..) {
            Some(room) if !room.is_empty() => room,
            _ => &mut spare,
        };
        let progress = step(input, room).map_err(Stop::Bad)?;
        used = used.saturating_add(progress.used);
        made = made.saturating_add(progress.made);
        if made > dst.len() {
            return Err(Stop::Full);
        }
        if progress.ended {
            return Ok((used, made));
        }
        idle = if progress.used == 0 && progress.made == 0 { idle.saturating_add(1) } else { 0 };
        if idle > 1 {
            return Err(Stop::Bad(format!("the data ends too early, after {} bytes", src.len())));
        }
    }
}

/// How far two running totals of a library have moved.
pub(super) fn moved(before: u64, after: u64) -> usize {
    usize::try_from(after.saturating_sub(before)).unwrap_or(usize::MAX)
}
