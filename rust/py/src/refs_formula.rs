//! Formulas from Python: trees of tuples that were checked there.

use omnizarr_core::error::{Error, Result};
use omnizarr_core::refs::{Bounds, Dimension, Node, Op, Value};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyFloat, PyInt, PyString, PyTuple};

use crate::errors::raise;

/// Deepest nesting of a tree.
const MOST_LEVELS: usize = 1000;

/// Most nodes of a tree: templates that use templates can grow fast.
const MOST_NODES: usize = 10_000;

/// An expression.
pub struct Tree(pub Node);

impl<'a, 'py> FromPyObject<'a, 'py> for Tree {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        let mut left = MOST_NODES;
        node(&object.to_owned(), MOST_LEVELS, &mut left).map(Tree)
    }
}

fn wrong() -> PyErr {
    PyValueError::new_err("this is no tree of a formula")
}

fn many(py: Python<'_>) -> PyErr {
    raise(py, Error::Limit("a template has too many parts".into()), None)
}

fn node(object: &Bound<'_, PyAny>, levels: usize, left: &mut usize) -> PyResult<Node> {
    let levels = levels.checked_sub(1).ok_or_else(|| many(object.py()))?;
    *left = left.checked_sub(1).ok_or_else(|| many(object.py()))?;
    let Ok(tuple) = object.cast::<PyTuple>() else { return constant(object) };
    let kind: String = tuple.get_item(0)?.extract()?;
    let mut parts = Vec::new();
    let first = if kind == "var" { tuple.len() } else { 1 };
    for i in first..tuple.len() {
        parts.push(node(&tuple.get_item(i)?, levels, left)?);
    }
    let mut parts = parts.into_iter();
    let mut next = || parts.next().map(Box::new).ok_or_else(wrong);
    Ok(match kind.as_str() {
        "var" => Node::Var(tuple.get_item(1)?.extract()?),
        "neg" => Node::Neg(next()?),
        "not" => Node::Not(next()?),
        "if" => Node::If(next()?, next()?, next()?),
        "join" => Node::Join(parts.collect()),
        "format" => Node::Format(next()?, parts.collect()),
        other => Node::Binary(op(other).ok_or_else(wrong)?, next()?, next()?),
    })
}

fn constant(object: &Bound<'_, PyAny>) -> PyResult<Node> {
    let value = if object.is_instance_of::<PyBool>() {
        Value::Bool(object.extract()?)
    } else if object.is_instance_of::<PyInt>() {
        Value::Int(object.extract::<i64>()?.into())
    } else if object.is_instance_of::<PyFloat>() {
        Value::Float(object.extract()?)
    } else if object.is_instance_of::<PyString>() {
        Value::Text(object.extract()?)
    } else {
        return Err(wrong());
    };
    Ok(Node::Const(value))
}

fn op(name: &str) -> Option<Op> {
    Some(match name {
        "add" => Op::Add,
        "sub" => Op::Sub,
        "mul" => Op::Mul,
        "div" => Op::Div,
        "floordiv" => Op::FloorDiv,
        "mod" => Op::Mod,
        "pow" => Op::Pow,
        "eq" => Op::Eq,
        "ne" => Op::Ne,
        "lt" => Op::Lt,
        "lteq" => Op::Le,
        "gt" => Op::Gt,
        "gteq" => Op::Ge,
        _ => return None,
    })
}

/// What a variable goes through: start, stop and step, or a list.
#[derive(FromPyObject)]
enum Values {
    Range((i64, i64, i64)),
    List(Vec<i64>),
}

/// The variables of a formula.
#[derive(FromPyObject)]
#[pyo3(transparent)]
pub struct Dimensions(Vec<Values>);

impl Dimensions {
    /// As the kernel has them.
    pub fn made(self) -> Result<Vec<Dimension>> {
        let made = |values| match values {
            Values::Range((start, stop, step)) => Dimension::range(start, stop, step),
            Values::List(values) => Ok(Dimension::list(values)),
        };
        self.0.into_iter().map(made).collect()
    }
}

/// The text that a tree without variables stands for.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "it was made for this call")]
pub fn render_text(tree: Tree) -> PyResult<String> {
    let mut out = String::new();
    tree.0.write(&[], &Bounds::default(), &mut out).map_err(PyValueError::new_err)?;
    Ok(out)
}
