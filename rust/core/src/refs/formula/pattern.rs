//! The text of a key, matched against keys to find what values the dimensions have.

use super::display::show;
use super::node::{Linear, Node, Value};

/// Steps that matching one key may take: more only where fields stand side by side.
const MOST_STEPS: usize = 20_000;

/// Digits of a number, with its sign.
const MOST_DIGITS: usize = 40;

/// A piece of the text.
#[derive(Debug)]
enum Piece {
    /// As it stands.
    Plain(String),
    /// A number that tells the value of a variable.
    Number(Linear),
    /// Text that tells nothing, but is known once all variables are.
    Any,
}

/// What keys look like.
#[derive(Debug)]
pub struct Pattern {
    pieces: Vec<Piece>,
    /// Whether a match tells the values of all variables that are in the text.
    pub solvable: bool,
}

impl Pattern {
    /// The pattern of a text.
    pub fn new(node: &Node) -> Self {
        let mut made = Self { pieces: Vec::new(), solvable: true };
        let mut loose = Vec::new();
        made.add(node, &mut loose);
        let told = |at: &usize| {
            made.pieces.iter().any(|piece| matches!(piece, Piece::Number(found) if found.var == Some(*at)))
        };
        made.solvable = loose.iter().all(told);
        made
    }

    /// What all keys begin with.
    pub fn start(&self) -> &str {
        match self.pieces.first() {
            Some(Piece::Plain(text)) => text,
            _ => "",
        }
    }

    fn add(&mut self, node: &Node, loose: &mut Vec<usize>) {
        match node {
            Node::Join(parts) => parts.iter().for_each(|part| self.add(part, loose)),
            Node::Const(value) => {
                let mut text = String::new();
                show(value, &mut text);
                self.plain(&text);
            }
            Node::Format(pattern, values) if self.add_format(pattern, values) => {}
            other => match other.linear() {
                Some(found) if found.var.is_some() => self.pieces.push(Piece::Number(found)),
                _ => {
                    other.variables(loose);
                    self.pieces.push(Piece::Any);
                }
            },
        }
    }

    fn plain(&mut self, text: &str) {
        match self.pieces.last_mut() {
            Some(Piece::Plain(before)) => before.push_str(text),
            _ => self.pieces.push(Piece::Plain(text.into())),
        }
    }

    /// Take a format apart whose fields are all whole numbers, with zeros before them or without.
    fn add_format(&mut self, pattern: &Node, values: &[Node]) -> bool {
        let Node::Const(Value::Text(pattern)) = pattern else { return false };
        let mut found = Vec::new();
        let mut values = values.iter();
        let mut rest = pattern.as_str();
        while let Some((text, field)) = rest.split_once('%') {
            found.push(Piece::Plain(text.into()));
            let digits = field.trim_start_matches(|letter: char| letter.is_ascii_digit());
            let Some(after) = digits.strip_prefix('d') else { return false };
            // Spaces before a number would have to be gone over.
            let zeros = field.starts_with('0') || field.starts_with('d');
            match values.next().and_then(Node::linear) {
                Some(linear) if linear.var.is_some() && zeros => found.push(Piece::Number(linear)),
                _ => return false,
            }
            rest = after;
        }
        found.push(Piece::Plain(rest.into()));
        for piece in found {
            match piece {
                Piece::Plain(text) => self.plain(&text),
                other => self.pieces.push(other),
            }
        }
        true
    }

    /// Call `each` with what every match says of the variables (`None`: nothing); false if there are too many ways.
    pub fn matches(&self, key: &str, count: usize, each: &mut dyn FnMut(&[Option<i128>])) -> bool {
        let mut values = vec![None; count];
        let mut steps = MOST_STEPS;
        self.step(0, key, &mut values, &mut steps, each);
        steps > 0
    }

    fn step(
        &self,
        at: usize,
        rest: &str,
        values: &mut Vec<Option<i128>>,
        steps: &mut usize,
        each: &mut dyn FnMut(&[Option<i128>]),
    ) {
        *steps = steps.saturating_sub(1);
        if *steps == 0 {
            return;
        }
        let next = at.saturating_add(1);
        match self.pieces.get(at) {
            None if rest.is_empty() => each(values),
            None => {}
            Some(Piece::Plain(text)) => {
                if let Some(rest) = rest.strip_prefix(text.as_str()) {
                    self.step(next, rest, values, steps, each);
                }
            }
            Some(Piece::Any) => {
                let ends = rest.char_indices().map(|(end, _)| end).chain([rest.len()]);
                for after in ends.filter_map(|end| rest.get(end..)) {
                    self.step(next, after, values, steps, each);
                }
            }
            Some(Piece::Number(linear)) => {
                let sign = usize::from(rest.starts_with('-'));
                let digits = rest.bytes().skip(sign).take_while(u8::is_ascii_digit).take(MOST_DIGITS).count();
                for n in (1..=digits).rev() {
                    let Some((number, after)) = rest.split_at_checked(sign.saturating_add(n)) else { continue };
                    let Some((var, value)) = solve(linear, number) else { continue };
                    let Some(slot) = values.get(var).copied() else { continue };
                    if slot.is_some_and(|known| known != value) {
                        continue;
                    }
                    set(values, var, Some(value));
                    self.step(next, after, values, steps, each);
                    set(values, var, slot);
                }
            }
        }
    }
}

fn set(values: &mut [Option<i128>], at: usize, value: Option<i128>) {
    if let Some(slot) = values.get_mut(at) {
        *slot = value;
    }
}

/// The variable of an expression, and the value for which it gives a number.
fn solve(linear: &Linear, number: &str) -> Option<(usize, i128)> {
    let value = number.parse::<i128>().ok()?.checked_sub(linear.plus)?;
    let exact = value.checked_rem(linear.factor)? == 0;
    if exact { Some((linear.var?, value.checked_div(linear.factor)?)) } else { None }
}
