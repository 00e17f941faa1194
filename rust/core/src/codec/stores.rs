//! How decoded bytes are stored: through the caches, or around them.
#![allow(unsafe_code)]

/// Whether stores may go around the caches; whatever did so is seen by all once this is dropped.
///
/// A result that is larger than the caches is in none of them by the time that somebody reads it. What goes around them
/// is not fetched from memory before it is written, and leaves what they hold in place.
pub(super) struct Stores {
    around: bool,
}

impl Stores {
    /// Through the caches.
    pub(super) const NEAR: Self = Self { around: false };

    /// Around the caches, if so; only where the processor has a way to do it.
    pub(super) fn new(around: bool) -> Self {
        Self { around: around && cfg!(target_arch = "x86_64") }
    }

    /// Whether they go around the caches.
    pub(super) fn around(&self) -> bool {
        self.around
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
