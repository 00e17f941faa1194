//! Filling with one element, and finding out whether a chunk holds nothing else.

use super::copy::Axis;
use crate::codec::Stores;

/// Write `value` to every element that the axes reach (their source side is ignored).
///
/// # Safety
/// Every destination offset that the axes reach must be writable.
pub unsafe fn fill_axes(axes: &[Axis<'_>], value: &[u8], stores: &Stores, dst: *mut u8) {
    // SAFETY: every block reaches a subset of what the caller vouched for.
    unsafe {
        match axes {
            [] => std::ptr::copy_nonoverlapping(value.as_ptr(), dst, value.len()),
            [Axis::Run { n, dst: d, .. }] if *d == value.len() as isize => {
                fill_run(std::slice::from_raw_parts_mut(dst, n * value.len()), value, stores);
            }
            [Axis::Run { n, dst: d, .. }, inner @ ..] => {
                for i in 0..*n as isize {
                    fill_axes(inner, value, stores, dst.wrapping_offset(i * d));
                }
            }
            [Axis::Pick { dst: (places, stride), .. }, inner @ ..] => {
                for &i in *places {
                    fill_axes(inner, value, stores, dst.wrapping_offset(i as isize * stride));
                }
            }
        }
    }
}

/// Repeat `value` over the whole slice, perhaps around the caches.
fn fill_run(data: &mut [u8], value: &[u8], stores: &Stores) {
    if stores.around() {
        let mut line = [0; Stores::LINE];
        fill_slice(&mut line, value);
        if stores.lines(value.len(), data, |_, piece| piece.copy_from_slice(&line[..piece.len()])) {
            return;
        }
    }
    fill_slice(data, value);
}

/// Repeat `value` over the whole slice.
pub fn fill_slice(data: &mut [u8], value: &[u8]) {
    if value.iter().all(|&b| b == value[0]) {
        return data.fill(value[0]);
    }
    let n = value.len().min(data.len());
    data[..n].copy_from_slice(&value[..n]);
    let mut done = n;
    // Doubling: the number of copies is logarithmic, whatever the element's size.
    while done < data.len() {
        let more = done.min(data.len() - done);
        data.copy_within(..more, done);
        done += more;
    }
}

/// Whether the slice is nothing but repetitions of `value`, bit for bit.
pub fn is_filled(data: &[u8], value: &[u8]) -> bool {
    let n = value.len();
    // A slice equals itself shifted by one element exactly if all its elements are equal.
    data.len() >= n && data[..n] == *value && data[n..] == data[..data.len() - n]
}
