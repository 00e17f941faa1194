//! Expressions of templates: checked trees of constants, variables and operators.

use super::Bounds;
use super::display::{format, show};

/// A value on the way.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number.
    Int(i128),
    /// Another number.
    Float(f64),
    /// What a comparison gives.
    Bool(bool),
    /// Text.
    Text(String),
}

/// An operator of two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "named as in Python's module operator")]
pub enum Op {
    Add,
    Sub,
    Mul,
    Div,
    FloorDiv,
    Mod,
    Pow,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// An expression.
#[derive(Debug, Clone)]
pub enum Node {
    /// A constant.
    Const(Value),
    /// The value of a dimension, by its place.
    Var(usize),
    /// An operator of two values.
    Binary(Op, Box<Node>, Box<Node>),
    /// The number with the other sign.
    Neg(Box<Node>),
    /// The contrary.
    Not(Box<Node>),
    /// The second if the first is true, else the third.
    If(Box<Node>, Box<Node>, Box<Node>),
    /// The texts of several, one behind the other.
    Join(Vec<Node>),
    /// Values in a text that has a field for each.
    Format(Box<Node>, Vec<Node>),
}

/// Why an expression has no value.
pub type Fault = &'static str;

const OVERFLOW: Fault = "a number gets too large";
const LONG: Fault = "a text gets too long";

impl Value {
    fn is_true(&self) -> bool {
        match self {
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Bool(value) => *value,
            Self::Text(text) => !text.is_empty(),
        }
    }

    /// As a number: Python takes truth for 1.
    fn number(&self) -> Option<Number> {
        match self {
            Self::Int(value) => Some(Number::Int(*value)),
            Self::Bool(value) => Some(Number::Int(i128::from(*value))),
            Self::Float(value) => Some(Number::Float(*value)),
            Self::Text(_) => None,
        }
    }
}

#[derive(Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

impl Number {
    fn float(self) -> f64 {
        match self {
            // No number here is near the end of what a double holds.
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }
}

impl Node {
    /// The value for these values of the dimensions.
    pub fn value(&self, vars: &[i64], bounds: &Bounds) -> Result<Value, Fault> {
        match self {
            Self::Const(value) => Ok(value.clone()),
            Self::Var(at) => vars.get(*at).map(|&value| Value::Int(value.into())).ok_or("a variable has no value"),
            Self::Binary(op, one, other) => binary(*op, one.value(vars, bounds)?, other.value(vars, bounds)?, bounds),
            Self::Neg(one) => match one.value(vars, bounds)?.number() {
                Some(Number::Int(value)) => Ok(Value::Int(value.checked_neg().ok_or(OVERFLOW)?)),
                Some(Number::Float(value)) => Ok(Value::Float(-value)),
                None => Err("text has no sign"),
            },
            Self::Not(one) => Ok(Value::Bool(!one.value(vars, bounds)?.is_true())),
            Self::If(test, yes, no) => {
                let chosen = if test.value(vars, bounds)?.is_true() { yes } else { no };
                chosen.value(vars, bounds)
            }
            Self::Join(_) => {
                let mut out = String::new();
                self.write(vars, bounds, &mut out)?;
                Ok(Value::Text(out))
            }
            Self::Format(pattern, values) => {
                let Value::Text(pattern) = pattern.value(vars, bounds)? else { return Err("a format is no text") };
                let values: Result<Vec<Value>, Fault> = values.iter().map(|one| one.value(vars, bounds)).collect();
                format(&pattern, &values?, bounds.text).map(Value::Text)
            }
        }
    }

    /// Add the text for these values of the dimensions to `out`.
    pub fn write(&self, vars: &[i64], bounds: &Bounds, out: &mut String) -> Result<(), Fault> {
        match self {
            Self::Const(value) => show(value, out),
            Self::Join(parts) => {
                for part in parts {
                    part.write(vars, bounds, out)?;
                }
            }
            other => show(&other.value(vars, bounds)?, out),
        }
        if out.len() > bounds.text { Err(LONG) } else { Ok(()) }
    }

    /// Add the places of the variables in it to `out`.
    pub fn variables(&self, out: &mut Vec<usize>) {
        match self {
            Self::Const(_) => {}
            Self::Var(at) => out.push(*at),
            Self::Binary(_, one, other) => [one, other].iter().for_each(|node| node.variables(out)),
            Self::Neg(one) | Self::Not(one) => one.variables(out),
            Self::If(test, yes, no) => [test, yes, no].iter().for_each(|node| node.variables(out)),
            Self::Join(parts) => parts.iter().for_each(|node| node.variables(out)),
            Self::Format(pattern, values) => {
                pattern.variables(out);
                values.iter().for_each(|node| node.variables(out));
            }
        }
    }

    /// If this is a variable times a number plus a number: the variable and the two numbers.
    pub fn linear(&self) -> Option<Linear> {
        match self {
            Self::Const(Value::Int(value)) => Some(Linear { var: None, factor: 0, plus: *value }),
            Self::Var(at) => Some(Linear { var: Some(*at), factor: 1, plus: 0 }),
            Self::Neg(one) => one.linear()?.times(-1),
            Self::Binary(Op::Add, one, other) => one.linear()?.and(&other.linear()?),
            Self::Binary(Op::Sub, one, other) => one.linear()?.and(&other.linear()?.times(-1)?),
            Self::Binary(Op::Mul, one, other) => match (one.linear()?, other.linear()?) {
                (Linear { var: None, plus, .. }, rest) | (rest, Linear { var: None, plus, .. }) => rest.times(plus),
                _ => None,
            },
            Self::Join(parts) => match parts.as_slice() {
                [only] => only.linear(),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A variable times a factor, plus a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Linear {
    /// The variable; none for a constant.
    pub var: Option<usize>,
    /// Never 0 if there is a variable.
    pub factor: i128,
    /// What is added.
    pub plus: i128,
}

impl Linear {
    fn times(self, by: i128) -> Option<Self> {
        let factor = self.factor.checked_mul(by)?;
        let var = self.var.filter(|_| factor != 0);
        Some(Self { var, factor, plus: self.plus.checked_mul(by)? })
    }

    fn and(self, other: &Self) -> Option<Self> {
        let var = match (self.var, other.var) {
            (Some(one), Some(other)) if one != other => return None,
            (one, other) => one.or(other),
        };
        let factor = self.factor.checked_add(other.factor)?;
        Some(Self { var: var.filter(|_| factor != 0), factor, plus: self.plus.checked_add(other.plus)? })
    }
}

fn binary(op: Op, one: Value, other: Value, bounds: &Bounds) -> Result<Value, Fault> {
    use std::cmp::Ordering;
    let order = match (&one, &other) {
        (Value::Text(one), Value::Text(other)) => Some(one.cmp(other)),
        _ => match (one.number(), other.number()) {
            (Some(Number::Int(one)), Some(Number::Int(other))) => Some(one.cmp(&other)),
            (Some(one), Some(other)) => one.float().partial_cmp(&other.float()),
            _ => None,
        },
    };
    let ordered = |wanted: &[Ordering]| match order {
        Some(found) => Ok(Value::Bool(wanted.contains(&found))),
        None => Err("text and numbers have no order"),
    };
    match op {
        Op::Eq => Ok(Value::Bool(order == Some(Ordering::Equal))),
        Op::Ne => Ok(Value::Bool(order != Some(Ordering::Equal))),
        Op::Lt => ordered(&[Ordering::Less]),
        Op::Le => ordered(&[Ordering::Less, Ordering::Equal]),
        Op::Gt => ordered(&[Ordering::Greater]),
        Op::Ge => ordered(&[Ordering::Greater, Ordering::Equal]),
        Op::Add if matches!((&one, &other), (Value::Text(_), Value::Text(_))) => match (one, other) {
            (Value::Text(one), Value::Text(other)) if one.len().saturating_add(other.len()) <= bounds.text => {
                Ok(Value::Text(one + &other))
            }
            _ => Err(LONG),
        },
        _ => match (one.number(), other.number()) {
            (Some(Number::Int(one)), Some(Number::Int(other))) => whole(op, one, other),
            (Some(one), Some(other)) => fraction(op, one.float(), other.float()),
            _ => Err("only numbers are calculated with"),
        },
    }
}

fn whole(op: Op, one: i128, other: i128) -> Result<Value, Fault> {
    let zero = "something is divided by 0";
    let value = match op {
        Op::Add => one.checked_add(other),
        Op::Sub => one.checked_sub(other),
        Op::Mul => one.checked_mul(other),
        Op::Div if other == 0 => return Err(zero),
        Op::Div => return Ok(Value::Float(one as f64 / other as f64)),
        Op::FloorDiv | Op::Mod if other == 0 => return Err(zero),
        // Down, as in Python, not towards zero.
        Op::FloorDiv => one.checked_div_euclid(other).and_then(|quotient| {
            let left = one.checked_rem_euclid(other)?;
            if other < 0 && left != 0 { quotient.checked_sub(1) } else { Some(quotient) }
        }),
        Op::Mod => one
            .checked_rem_euclid(other)
            .and_then(|left| if other < 0 && left != 0 { left.checked_add(other) } else { Some(left) }),
        Op::Pow if other < 0 => return fraction(op, one as f64, other as f64),
        Op::Pow => u32::try_from(other).ok().and_then(|other| one.checked_pow(other)),
        _ => None,
    };
    value.map(Value::Int).ok_or(OVERFLOW)
}

/// What is left of a division, of the sign of the divisor, as in Python: also a zero has it.
fn modulo(one: f64, other: f64) -> f64 {
    let left = one % other;
    if left == 0.0 {
        return 0.0f64.copysign(other);
    }
    if (left < 0.0) == (other < 0.0) { left } else { left + other }
}

fn fraction(op: Op, one: f64, other: f64) -> Result<Value, Fault> {
    if other == 0.0 && matches!(op, Op::Div | Op::FloorDiv | Op::Mod) {
        return Err("something is divided by 0");
    }
    let value = match op {
        Op::Add => one + other,
        Op::Sub => one - other,
        Op::Mul => one * other,
        Op::Div => one / other,
        Op::FloorDiv => (one / other).floor(),
        Op::Mod => modulo(one, other),
        Op::Pow => one.powf(other),
        _ => return Err("only numbers are calculated with"),
    };
    if value.is_finite() { Ok(Value::Float(value)) } else { Err(OVERFLOW) }
}
