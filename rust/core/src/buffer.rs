//! A byte buffer that is zeroed once and then reused: decoding a thousand chunks clears no memory.

/// A growable buffer whose spare bytes keep old contents instead of being cleared on each use.
#[derive(Debug, Default)]
pub struct Buffer {
    data: Vec<u8>,
    len: usize,
}

/// Buffers past this are given back to the system rather than kept for the next chunk.
const KEEP: usize = 64 << 20;

impl Buffer {
    /// Make the buffer `n` bytes long and hand it out for overwriting; its contents are unspecified.
    pub fn space(&mut self, n: usize) -> &mut [u8] {
        if self.data.len() < n {
            // A fresh zeroed allocation costs page faults only; growing in place would copy stale bytes.
            self.data = vec![0; n];
        }
        self.len = n;
        self.data.get_mut(..n).unwrap_or_default()
    }

    /// Lengthen or shorten to `n` bytes, keeping the contents that are there.
    pub fn set_len(&mut self, n: usize) {
        if self.data.len() < n {
            self.data.resize(n.max(self.data.len().saturating_mul(2)), 0);
        }
        self.len = n;
    }

    /// As [`Self::set_len`], where so much may be more than there is memory; whether it is not.
    pub fn try_set_len(&mut self, n: usize) -> bool {
        if self.data.len() < n && self.data.try_reserve_exact(n.saturating_sub(self.data.len())).is_err() {
            return false;
        }
        if self.data.len() < n {
            self.data.resize(n, 0);
        }
        self.len = n;
        true
    }

    /// The bytes in use.
    pub fn as_slice(&self) -> &[u8] {
        self.data.get(..self.len).unwrap_or_default()
    }

    /// The bytes in use, for overwriting.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        self.data.get_mut(..self.len).unwrap_or_default()
    }

    /// Number of bytes in use.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether no byte is in use.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of bytes that can be used without a new allocation.
    pub fn capacity(&self) -> usize {
        self.data.len()
    }

    /// Replace the contents.
    pub fn assign(&mut self, bytes: &[u8]) {
        self.space(bytes.len()).copy_from_slice(bytes);
    }

    /// Add bytes at the end.
    pub fn extend(&mut self, bytes: &[u8]) {
        let at = self.len;
        self.set_len(at.saturating_add(bytes.len()));
        if let Some(tail) = self.as_mut_slice().get_mut(at..) {
            tail.copy_from_slice(bytes);
        }
    }

    /// Forget the contents, and the memory if it is large.
    pub fn reset(&mut self) {
        self.len = 0;
        if self.data.len() > KEEP {
            self.data = Vec::new();
        }
    }
}
