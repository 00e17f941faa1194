//! Bob Jenkins' hash lookup3 ("hashlittle"), of bytes that may come in two pieces.

/// The hash of `prefix` followed by `bytes`.
pub(crate) fn lookup3(prefix: &[u8], bytes: &[u8], initial: u32) -> u32 {
    let length = prefix.len().wrapping_add(bytes.len());
    let start = 0xDEAD_BEEF_u32.wrapping_add(length as u32).wrapping_add(initial);
    let mut state = State { a: start, b: start, c: start };
    if length == 0 {
        return start;
    }
    // The prefix and what fills it up to whole blocks are gathered; the rest is hashed where it is.
    let head = prefix.len().next_multiple_of(12).saturating_sub(prefix.len()).min(bytes.len());
    let (joint, rest) = bytes.split_at_checked(head).unwrap_or((bytes, &[]));
    let mut first = prefix.to_vec();
    first.extend_from_slice(joint);
    let (blocks, tail) = first.as_chunks::<12>();
    if rest.is_empty() {
        return state.end(blocks, tail);
    }
    blocks.iter().for_each(|block| state.block(block));
    let (blocks, tail) = rest.as_chunks::<12>();
    state.end(blocks, tail)
}

struct State {
    a: u32,
    b: u32,
    c: u32,
}

impl State {
    fn add(&mut self, block: &[u8; 12]) {
        let [a0, a1, a2, a3, b0, b1, b2, b3, c0, c1, c2, c3] = *block;
        self.a = self.a.wrapping_add(u32::from_le_bytes([a0, a1, a2, a3]));
        self.b = self.b.wrapping_add(u32::from_le_bytes([b0, b1, b2, b3]));
        self.c = self.c.wrapping_add(u32::from_le_bytes([c0, c1, c2, c3]));
    }

    fn block(&mut self, block: &[u8; 12]) {
        self.add(block);
        let Self { a, b, c } = self;
        for (shift_a, shift_b, shift_c) in [(4, 6, 8), (16, 19, 4)] {
            *a = a.wrapping_sub(*c) ^ c.rotate_left(shift_a);
            *c = c.wrapping_add(*b);
            *b = b.wrapping_sub(*a) ^ a.rotate_left(shift_b);
            *a = a.wrapping_add(*c);
            *c = c.wrapping_sub(*b) ^ b.rotate_left(shift_c);
            *b = b.wrapping_add(*a);
        }
    }

    /// Hash the last blocks; the very last, whole or not, is mixed in another way.
    fn end(mut self, blocks: &[[u8; 12]], tail: &[u8]) -> u32 {
        let (blocks, last) = match (tail.is_empty(), blocks.split_last()) {
            (true, Some((last, blocks))) => (blocks, *last),
            _ => {
                let mut last = [0; 12];
                last.iter_mut().zip(tail).for_each(|(to, from)| *to = *from);
                (blocks, last)
            }
        };
        blocks.iter().for_each(|block| self.block(block));
        self.add(&last);
        let Self { mut a, mut b, mut c } = self;
        let step = |x: &mut u32, y: u32, shift| *x = (*x ^ y).wrapping_sub(y.rotate_left(shift));
        step(&mut c, b, 14);
        step(&mut a, c, 11);
        step(&mut b, a, 25);
        step(&mut c, b, 16);
        step(&mut a, c, 4);
        step(&mut b, a, 14);
        step(&mut c, b, 24);
        c
    }
}
