//! Values in rows and lines: where a line ends, what stands between rows, and what is said about them.
//!
//! A value that would make a line too long begins a new one. A row is what lies along the last dimension, and begins a new
//! line, too. Records along unlimited dimensions, other than the first, stand in braces.

use crate::cdl::numbers::Tokens;

/// How indices are told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// From 0, the last dimension varies fastest.
    C,
    /// From 1, the first dimension varies fastest.
    Fortran,
}

/// What is said about values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notes {
    /// Nothing.
    None,
    /// Indices of each row.
    Rows(Order),
    /// Indices of each value.
    Values(Order),
}

/// What is the same for all values of a variable.
pub struct Layout {
    /// Length of each dimension; none for a scalar.
    pub shape: Vec<u64>,
    /// Whether each dimension is unlimited.
    pub unlimited: Vec<bool>,
    /// Where along each dimension values begin that are part of a variable, and the step between them; 0 and 1 if absent.
    pub part: Vec<(u64, u64)>,
    /// Where lines end.
    pub width: usize,
    /// Blanks in front of lines, by the depth of the group.
    pub indent: usize,
    /// Name of the variable, for notes.
    pub name: Vec<u8>,
    /// What is said about values.
    pub notes: Notes,
    /// Whether each token is a whole row, which has no part in the counting of columns: text.
    pub whole_rows: bool,
}

/// The place that the next value has.
pub struct Rows {
    layout: Layout,
    /// Characters in the line so far.
    line: usize,
    /// Place of the row along all dimensions but the last.
    corner: Vec<u64>,
    /// Which token of the row is next, and how many there are.
    column: u64,
    columns: u64,
}

impl Rows {
    /// Begin a variable whose first line has `line` characters already.
    pub fn new(layout: Layout, line: usize) -> Self {
        let outer = layout.shape.len().saturating_sub(1);
        let columns = if layout.whole_rows { 1 } else { layout.shape.last().copied().unwrap_or(1) };
        Self { layout, line, corner: vec![0; outer], column: 0, columns: columns.max(1) }
    }

    /// Characters in the line so far.
    pub fn line(&self) -> usize {
        self.line
    }

    /// Put numbers.
    pub fn numbers(&mut self, tokens: &Tokens, out: &mut Vec<u8>) {
        if matches!(self.layout.notes, Notes::Values(_)) {
            let mut at = 0_usize;
            for &length in &tokens.lengths {
                let end = at.saturating_add(usize::from(length));
                let text = tokens.text.get(at..end.saturating_sub(2)).unwrap_or_default();
                self.token(text, out);
                at = end;
            }
            return;
        }
        // What goes into one line is copied at once.
        let (mut from, mut at) = (0_usize, 0_usize);
        let copy = |from: usize, to: usize, out: &mut Vec<u8>| {
            out.extend_from_slice(tokens.text.get(from..to).unwrap_or_default());
        };
        let mut left = tokens.lengths.as_slice();
        while !left.is_empty() {
            if self.column == 0 {
                self.begin(out);
            }
            let before_last = self.columns.saturating_sub(self.column).saturating_sub(1);
            let run = usize::try_from(before_last).unwrap_or(usize::MAX).min(left.len());
            let (now, later) = left.split_at(run);
            for &length in now {
                let length = usize::from(length);
                if self.is_full(length) {
                    copy(from, at, out);
                    from = at;
                    self.break_line(out);
                }
                self.line = self.line.saturating_add(length);
                at = at.saturating_add(length);
            }
            self.column = self.column.saturating_add(run as u64);
            copy(from, at, out);
            let Some((&last, rest)) = later.split_first() else { break };
            let end = at.saturating_add(usize::from(last));
            self.end(tokens.text.get(at..end.saturating_sub(2)).unwrap_or_default(), out);
            (from, at, left) = (end, end, rest);
        }
    }

    /// Put one value, whatever it is.
    pub fn token(&mut self, text: &[u8], out: &mut Vec<u8>) {
        if self.column == 0 {
            self.begin(out);
        }
        if self.column.saturating_add(1) == self.columns {
            return self.end(text, out);
        }
        if let Notes::Values(order) = self.layout.notes {
            out.extend_from_slice(text);
            out.extend_from_slice(b", ");
            self.note_value(order, self.column, out);
        } else {
            let length = text.len().saturating_add(2);
            self.make_room(length, out);
            out.extend_from_slice(text);
            out.extend_from_slice(b", ");
            self.line = self.line.saturating_add(length);
        }
        self.column = self.column.saturating_add(1);
    }

    fn is_full(&self, length: usize) -> bool {
        length > 2 && self.line.saturating_add(length) > self.layout.width
    }

    fn make_room(&mut self, length: usize, out: &mut Vec<u8>) {
        if self.is_full(length) {
            self.break_line(out);
        }
    }

    fn break_line(&mut self, out: &mut Vec<u8>) {
        out.push(b'\n');
        blanks(self.layout.indent.saturating_add(4), out);
        self.line = self.layout.indent.saturating_add(4);
    }

    /// Begin a row: braces of the records that begin with it, and its note.
    fn begin(&mut self, out: &mut Vec<u8>) {
        for _ in 0..self.braces(|_, at| at == 0) {
            out.push(b'{');
            self.line = self.line.saturating_add(1);
        }
        let Notes::Rows(order) = self.layout.notes else { return };
        if self.layout.shape.len() < 2 {
            return;
        }
        let columns = self.layout.shape.last().copied().unwrap_or(1);
        out.extend_from_slice(b"// ");
        out.extend_from_slice(&self.layout.name);
        out.push(b'(');
        let (first, last) =
            (self.index(self.corner.len(), 0), self.index(self.corner.len(), columns.saturating_sub(1)));
        match order {
            Order::C => {
                for (i, &at) in self.corner.iter().enumerate() {
                    out.extend_from_slice(format!("{},", self.index(i, at)).as_bytes());
                }
                let all = if columns == 1 { format!("{first}") } else { format!(" {first}-{last}") };
                out.extend_from_slice(all.as_bytes());
            }
            Order::Fortran => {
                let (first, last) = (first.saturating_add(1), last.saturating_add(1));
                let all = if columns == 1 { format!("{first}") } else { format!("{first}-{last} ") };
                out.extend_from_slice(all.as_bytes());
                self.fortran_corner(out);
            }
        }
        out.extend_from_slice(b")\n");
        blanks(self.layout.indent.saturating_add(4), out);
        self.line = self.layout.indent.saturating_add(4);
    }

    /// End a row with its last value, and go to the next.
    fn end(&mut self, text: &[u8], out: &mut Vec<u8>) {
        let sizes = &self.layout.shape;
        let braces = self.braces(|i, at| sizes.get(i).is_some_and(|&n| at.saturating_add(1) >= n));
        let last = self.corner.iter().zip(sizes).all(|(&at, &n)| at.saturating_add(1) >= n);
        let notes = self.layout.notes;
        // Text is put as it is; only the braces behind it are counted.
        let counted = if self.layout.whole_rows { braces } else { text.len().saturating_add(braces) };
        if self.layout.whole_rows {
            out.extend_from_slice(text);
        }
        if !matches!(notes, Notes::Values(_)) {
            self.make_room(counted, out);
        }
        if !self.layout.whole_rows {
            out.extend_from_slice(text);
        }
        out.resize(out.len().saturating_add(braces), b'}');
        if let Notes::Values(order) = notes {
            out.push(if last { b';' } else { b',' });
            let column = self.layout.shape.last().copied().unwrap_or(1).saturating_sub(1);
            self.note_value(order, column, out);
        } else if last {
            out.extend_from_slice(b" ;\n");
            self.line = self.layout.indent;
        } else {
            out.extend_from_slice(b",\n  ");
            self.line = self.layout.indent.saturating_add(2);
        }
        self.column = 0;
        for (at, &n) in self.corner.iter_mut().zip(&self.layout.shape).rev() {
            *at = at.saturating_add(1);
            if *at < n {
                return;
            }
            *at = 0;
        }
    }

    fn note_value(&self, order: Order, column: u64, out: &mut Vec<u8>) {
        out.extend_from_slice(b"  // ");
        out.extend_from_slice(&self.layout.name);
        out.push(b'(');
        match order {
            Order::C => {
                for (i, &at) in self.corner.iter().enumerate() {
                    out.extend_from_slice(format!("{},", self.index(i, at)).as_bytes());
                }
                out.extend_from_slice(self.index(self.corner.len(), column).to_string().as_bytes());
            }
            Order::Fortran => {
                let column = self.index(self.corner.len(), column).saturating_add(1);
                out.extend_from_slice(column.to_string().as_bytes());
                self.fortran_corner(out);
            }
        }
        out.extend_from_slice(b")\n    ");
    }

    fn fortran_corner(&self, out: &mut Vec<u8>) {
        for (i, &at) in self.corner.iter().enumerate().rev() {
            out.extend_from_slice(format!(",{}", self.index(i, at).saturating_add(1)).as_bytes());
        }
    }

    /// The index in the whole variable of a place along a dimension.
    fn index(&self, dimension: usize, at: u64) -> u64 {
        let (start, step) = self.layout.part.get(dimension).copied().unwrap_or((0, 1));
        at.saturating_mul(step).saturating_add(start)
    }

    /// How many records along unlimited dimensions begin or end with this row: those inside which it is at the edge.
    fn braces(&self, at_edge: impl Fn(usize, u64) -> bool) -> usize {
        let mut count = 0_usize;
        for (level, &unlimited) in self.layout.unlimited.iter().enumerate().skip(1).rev() {
            // The last dimension is the row itself, which both begins and ends here.
            if let Some(&at) = self.corner.get(level)
                && !at_edge(level, at)
            {
                break;
            }
            count = count.saturating_add(usize::from(unlimited));
        }
        count
    }
}

fn blanks(count: usize, out: &mut Vec<u8>) {
    out.resize(out.len().saturating_add(count), b' ');
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::cdl::numbers::{Kind, tokens};

    fn laid_out(count: u32, shape: &[u64], unlimited: &[bool], width: usize, notes: Notes) -> String {
        let layout = Layout {
            shape: shape.to_vec(),
            unlimited: unlimited.to_vec(),
            part: Vec::new(),
            width,
            indent: 0,
            name: b"x".to_vec(),
            notes,
            whole_rows: false,
        };
        let bytes: Vec<u8> = (0..count).flat_map(u32::to_ne_bytes).collect();
        let mut rows = Rows::new(layout, 2);
        let mut out = Vec::new();
        // In two parts, as large variables are.
        for part in bytes.chunks(20) {
            for piece in tokens(part, Kind::U32, None, 7, &|| false).unwrap() {
                rows.numbers(&piece, &mut out);
            }
        }
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn lines_end_where_they_are_full() {
        assert_eq!(laid_out(8, &[8], &[false], 14, Notes::None), "0, 1, 2, 3, \n    4, 5, 6, 7 ;\n");
    }

    #[test]
    fn rows_begin_lines() {
        assert_eq!(laid_out(6, &[2, 3], &[true, false], 78, Notes::None), "0, 1, 2,\n  3, 4, 5 ;\n");
    }

    #[test]
    fn records_stand_in_braces() {
        let text = laid_out(8, &[2, 2, 2], &[false, true, true], 78, Notes::None);
        assert_eq!(text, "{{0, 1},\n  {2, 3}},\n  {{4, 5},\n  {6, 7}} ;\n");
    }

    #[test]
    fn notes() {
        let text = laid_out(4, &[2, 2], &[false, false], 78, Notes::Rows(Order::C));
        assert_eq!(text, "// x(0, 0-1)\n    0, 1,\n  // x(1, 0-1)\n    2, 3 ;\n");
        let text = laid_out(2, &[1, 2], &[false, false], 78, Notes::Values(Order::Fortran));
        assert_eq!(text, "0,   // x(1,1)\n    1;  // x(2,1)\n    ");
        let text = laid_out(1, &[], &[], 78, Notes::Values(Order::C));
        assert_eq!(text, "0;  // x(0)\n    ");
    }
}
