//! How decoded bytes are stored: through the caches, or around them.
#![allow(unsafe_code)]

/// Whether stores may go around the caches; whatever did so is seen by all once this is dropped.
///
/// A result that is larger than the caches is in none of them by the time that somebody reads it. What goes around them
/// is not fetched from memory before it is written, and leaves what they hold in place.
pub struct Stores {
    around: bool,
}

/// Bytes of a line.
const LINE: usize = Stores::LINE;

impl Stores {
    /// Bytes of a line of the cache: stores around the cache write whole ones.
    pub const LINE: usize = 64;

    /// Through the caches.
    pub const NEAR: Self = Self { around: false };

    /// Around the caches, if so; only where the processor has a way to do it.
    pub fn new(around: bool) -> Self {
        Self { around: around && cfg!(target_arch = "x86_64") }
    }

    /// Whether they go around the caches.
    pub fn around(&self) -> bool {
        self.around
    }

    /// Write a slice around the caches, by lines or less: `make` is told which byte comes first. Pieces begin at multiples
    /// of `unit` bytes. `false`, and nothing is written, where it goes through the caches.
    #[inline]
    pub fn lines(&self, unit: usize, to: &mut [u8], make: impl Fn(usize, &mut [u8])) -> bool {
        let mut at = to.as_ptr().align_offset(LINE);
        if !self.around || to.len() < WORTH || at.checked_rem(unit) != Some(0) || LINE.checked_rem(unit) != Some(0) {
            return false;
        }
        let Some((head, rest)) = to.split_at_mut_checked(at) else { return false };
        make(0, head);
        let (lines, tail) = rest.as_chunks_mut::<LINE>();
        for to in lines {
            let mut line = [0; LINE];
            make(at, &mut line);
            put(&line, to);
            at = at.wrapping_add(LINE);
        }
        make(at, tail);
        true
    }
}

/// Fewer bytes than this go through the caches.
const WORTH: usize = 2 * LINE;

/// Write one whole line around the cache.
#[inline]
fn put(line: &[u8; LINE], to: &mut [u8; LINE]) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{__m128i, _mm_loadu_si128, _mm_stream_si128};
        let (from, to) = (line.as_ptr().cast::<__m128i>(), to.as_mut_ptr().cast::<__m128i>());
        for i in 0..4 {
            // SAFETY: within both; `to` is the start of a line, and whoever has the `Stores` puts a fence behind it.
            unsafe { _mm_stream_si128(to.wrapping_add(i), _mm_loadu_si128(from.wrapping_add(i))) };
        }
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    {
        *to = *line;
    }
}

impl Drop for Stores {
    fn drop(&mut self) {
        #[cfg(target_arch = "x86_64")]
        if self.around && !cfg!(miri) {
            // SAFETY: every processor of this architecture has it. No lock or flag orders stores that go around caches.
            unsafe { std::arch::x86_64::_mm_sfence() };
        }
    }
}
