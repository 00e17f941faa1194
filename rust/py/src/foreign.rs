//! Python stores and codecs as the kernel's own: called with the GIL from the worker threads.

use omnizarr_core::buffer::Buffer;
use omnizarr_core::codec::{Contexts, Filter, Step, Want, after};
use omnizarr_core::error::{CodecError, Error, Fault, Result};
use omnizarr_core::store::{Listing, Object, Store, Token, place_of};
use pyo3::buffer::PyBuffer;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyTuple};

/// The bytes of any object with a contiguous buffer.
fn bytes_of<T>(value: &Bound<'_, PyAny>, f: impl FnOnce(&[u8]) -> T) -> PyResult<T> {
    if let Ok(bytes) = value.cast::<PyBytes>() {
        return Ok(f(bytes.as_bytes()));
    }
    let py = value.py();
    // Arrays of any type are taken as bytes, as `memoryview(x).cast("B")` does.
    let view = PyMemoryView::from(value)?;
    let view = if view.getattr("c_contiguous")?.is_truthy()? && view.getattr("nbytes")?.extract::<usize>()? > 0 {
        view.call_method1("cast", ("B",)).or_else(|_| view.call_method0("tobytes"))?
    } else {
        view.call_method0("tobytes")?
    };
    if let Ok(bytes) = view.cast::<PyBytes>() {
        return Ok(f(bytes.as_bytes()));
    }
    let buffer = PyBuffer::<u8>::get(&view)?;
    Ok(f(&buffer.to_vec(py)?))
}

/// A copy of the bytes of any object with a contiguous buffer.
pub fn owned_bytes(value: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    bytes_of(value, <[u8]>::to_vec)
}

/// A store written in Python.
pub struct PythonStore {
    store: Py<PyAny>,
    /// What tells the store's values from those of others: its own word, or where it is in memory.
    identity: u64,
}

impl PythonStore {
    pub fn new(store: &Bound<'_, PyAny>) -> Self {
        let own = store.getattr("identity").and_then(|number| number.extract::<u64>());
        Self { identity: own.unwrap_or(store.as_ptr().addr() as u64), store: store.clone().unbind() }
    }

    fn call<T>(&self, key: &str, f: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T>) -> Result<T> {
        let foreign = |error: PyErr| Error::Foreign { key: key.into(), source: Box::new(error) };
        Python::attach(|py| f(self.store.bind(py))).map_err(foreign)
    }
}

struct PythonObject<'a> {
    store: &'a PythonStore,
    key: String,
    size: u64,
}

impl Object for PythonObject<'_> {
    fn size(&self) -> u64 {
        self.size
    }

    fn token(&self) -> Option<Token> {
        None
    }

    fn read_at(&self, offset: u64, dst: &mut [u8]) -> Result<()> {
        let got = self.store.call(&self.key, |store| {
            let part = store.call_method1("get_range", (&self.key, offset, dst.len()))?;
            if part.is_none() {
                return Ok(None);
            }
            bytes_of(&part, |bytes| {
                let fits = bytes.len() == dst.len();
                if fits {
                    dst.copy_from_slice(bytes);
                }
                (fits, bytes.len())
            })
            .map(Some)
        })?;
        let message = match got {
            Some((true, _)) => return Ok(()),
            Some((false, n)) => format!("the store gave {n} bytes where {} were asked for", dst.len()),
            None => "the value vanished while it was read".into(),
        };
        Err(Error::Store { key: self.key.clone(), op: "get", message, errno: None })
    }
}

impl Store for PythonStore {
    fn place(&self, key: &str) -> u64 {
        place_of(&[&self.identity.to_ne_bytes(), key.as_bytes()])
    }

    fn get(&self, key: &str, dst: &mut Buffer, most: usize) -> Result<bool> {
        self.call(key, |store| {
            let value = store.call_method1("get", (key,))?;
            if value.is_none() {
                return Ok(false);
            }
            bytes_of(&value, |bytes| {
                let n = bytes.len().min(most.saturating_add(1));
                dst.assign(bytes.get(..n).unwrap_or_default());
                true
            })
        })
    }

    fn open(&self, key: &str) -> Result<Option<Box<dyn Object + '_>>> {
        let size: Option<u64> = self.call(key, |store| store.call_method1("size", (key,))?.extract())?;
        Ok(size.map(|size| Box::new(PythonObject { store: self, key: key.into(), size }) as Box<dyn Object>))
    }

    fn put(&self, key: &str, parts: &[&[u8]]) -> Result<()> {
        self.call(key, |store| {
            let value = PyBytes::new_with(store.py(), parts.iter().map(|p| p.len()).sum(), |mut place| {
                for part in parts {
                    let (head, tail) = place.split_at_mut(part.len());
                    head.copy_from_slice(part);
                    place = tail;
                }
                Ok(())
            })?;
            store.call_method1("put", (key, value)).map(drop)
        })
    }

    fn erase(&self, key: &str) -> Result<bool> {
        self.call(key, |store| store.call_method1("erase", (key,))?.is_truthy())
    }

    fn erase_prefix(&self, prefix: &str) -> Result<()> {
        self.call(prefix, |store| store.call_method1("erase_prefix", (prefix,)).map(drop))
    }

    fn list_prefix(&self, prefix: &str) -> Result<Vec<String>> {
        self.call(prefix, |store| {
            store.call_method1("list_prefix", (prefix,))?.try_iter()?.map(|key| key?.extract()).collect()
        })
    }

    fn list_dir(&self, prefix: &str) -> Result<Listing> {
        self.call(prefix, |store| store.call_method1("list_dir", (prefix,))?.extract())
    }

    fn size(&self, key: &str) -> Result<Option<u64>> {
        self.call(key, |store| store.call_method1("size", (key,))?.extract())
    }
}

/// A codec of bytes written in Python: `encode(memoryview)` and `decode(memoryview, size)`.
pub struct PythonStep {
    pub codec: Py<PyAny>,
    pub name: String,
    /// Encoded and decoded sizes, where the encoded size is fixed.
    pub sizes: Option<(usize, usize)>,
}

impl PythonStep {
    fn call(
        &self,
        method: &str,
        src: &[u8],
        size: Option<usize>,
        shape: Option<&[usize]>,
        f: &mut dyn FnMut(&[u8]),
    ) -> std::result::Result<(), CodecError> {
        Python::attach(|py| {
            // A copy, since a codec may keep what it is given beyond the call.
            let data = PyMemoryView::from(PyBytes::new(py, src).as_any())?;
            let codec = self.codec.bind(py);
            let shape = shape.map(|shape| PyTuple::new(py, shape)).transpose()?;
            let made = match (method, shape) {
                ("encode", None) => codec.call_method1(method, (data,))?,
                ("encode", Some(shape)) => codec.call_method1(method, (data, shape))?,
                (_, None) => codec.call_method1(method, (data, size))?,
                (_, Some(shape)) => codec.call_method1(method, (data, size, shape))?,
            };
            bytes_of(&made, |bytes| f(bytes))
        })
        .map_err(|error: PyErr| {
            let message = format!("{method} failed: {error}");
            CodecError { codec: self.name.clone(), fault: Fault::Foreign, message, source: Some(Box::new(error)) }
        })
    }

    fn decode_any(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: Option<&[usize]>,
        want: Want,
    ) -> std::result::Result<(), CodecError> {
        let size = match want {
            Want::Exact(n) => Some(n),
            Want::AtMost(_) => None,
        };
        self.call("decode", src, size, shape, &mut |bytes| dst.assign(bytes))?;
        match want {
            Want::Exact(n) if n != dst.len() => Err(self.wrong_size(dst.len(), n)),
            Want::AtMost(n) if n < dst.len() => Err(self.wrong_size(dst.len(), n)),
            _ => Ok(()),
        }
    }

    fn wrong_size(&self, got: usize, want: usize) -> CodecError {
        CodecError::corrupt(&self.name, format!("decoded to {got} bytes where {want} are expected"))
    }
}

impl Step for PythonStep {
    fn name(&self) -> &str {
        &self.name
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        want: Want,
        _cx: &mut Contexts,
    ) -> std::result::Result<(), CodecError> {
        self.decode_any(src, dst, None, want)
    }

    fn encode(&self, src: &[u8], dst: &mut Buffer, _cx: &mut Contexts) -> std::result::Result<(), CodecError> {
        self.call("encode", src, None, None, &mut |bytes| dst.assign(bytes))
    }

    fn bound(&self, n: usize) -> usize {
        match self.sizes {
            Some((encoded, decoded)) if decoded == n => encoded,
            // Nothing is known of a foreign codec but that it should not blow data up for ever; text does so most.
            _ => n.saturating_mul(16).saturating_add(1 << 20),
        }
    }

    fn decoded_size(&self, encoded: usize) -> Option<usize> {
        self.sizes.filter(|(e, _)| *e == encoded).map(|(_, decoded)| decoded)
    }

    fn decode_exact(&self, src: &[u8], dst: &mut [u8], _cx: &mut Contexts) -> std::result::Result<(), CodecError> {
        let (want, mut got) = (dst.len(), 0);
        self.call("decode", src, Some(want), None, &mut |bytes| {
            got = bytes.len();
            if got == want {
                dst.copy_from_slice(bytes);
            }
        })?;
        if got == want { Ok(()) } else { Err(self.wrong_size(got, want)) }
    }
}

/// A codec of arrays written in Python: `encode(memoryview, shape)` and `decode(memoryview, size, shape)`.
pub struct PythonFilter(pub PythonStep);

impl Filter for PythonFilter {
    fn name(&self) -> &str {
        &self.0.name
    }

    fn decode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        want: Want,
        _cx: &mut Contexts,
    ) -> std::result::Result<(), CodecError> {
        self.0.decode_any(src, dst, Some(shape), want)
    }

    fn encode(
        &self,
        src: &[u8],
        dst: &mut Buffer,
        shape: &[usize],
        _cx: &mut Contexts,
    ) -> std::result::Result<(), CodecError> {
        self.0.call("encode", src, None, Some(shape), &mut |bytes| dst.assign(bytes))
    }

    fn encoded_size(&self, bytes: Want, _shape: &[usize]) -> Want {
        after(&self.0, bytes)
    }
}
