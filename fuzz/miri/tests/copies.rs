//! Selections of every kind are copied out of a cell and back: element by element what plain indexing gives.

use omnizarr_miri::cell::{Sel, strides};
use omnizarr_miri::codec::{shuffle, unshuffle};
use omnizarr_miri::mem::{View, fill_slice, is_filled, swap_in_place};
use omnizarr_miri::plan::Select;

struct Noise(u64);

impl Noise {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n
    }
}

/// How often; Miri is some hundred times slower than the machine.
const ROUNDS: usize = if cfg!(miri) { 40 } else { 20_000 };

/// Elements of a long row, at most.
const LONG: usize = if cfg!(miri) { 80 } else { 300 };

fn places(select: &Select) -> Vec<usize> {
    match select {
        Select::Range(at, step, n) => (0..*n).map(|i| at + i * step).collect(),
        Select::List(at, out) => {
            let mut list = vec![0; at.len()];
            at.iter().zip(out).for_each(|(a, o)| list[*o] = *a);
            list
        }
    }
}

fn selection(noise: &mut Noise, n: usize) -> Select {
    if noise.below(3) == 0 {
        let count = noise.below(n + 1);
        return Select::list(&(0..count).map(|_| noise.below(n) as i64).collect::<Vec<_>>()).unwrap();
    }
    let (at, step) = (noise.below(n), 1 + noise.below(3));
    let count = noise.below((n - at).div_ceil(step) + 1);
    Select::Range(at, step, count)
}

/// Every combination of the places along the dimensions, in C order.
fn product(lists: &[Vec<usize>]) -> Vec<Vec<usize>> {
    lists.iter().fold(vec![vec![]], |all, list| {
        all.iter().flat_map(|head| list.iter().map(move |&i| [head.as_slice(), &[i]].concat())).collect()
    })
}

fn offset(index: &[usize], strides: &[isize]) -> usize {
    index.iter().zip(strides).map(|(&i, &s)| i as isize * s).sum::<isize>() as usize
}

#[test]
fn planes_are_interleaved_and_taken_apart() {
    let mut noise = Noise(2);
    for _ in 0..ROUNDS {
        let (width, n, before) = ([2, 3, 4, 8, 16][noise.below(5)], 1 + noise.below(150), noise.below(70));
        let source: Vec<u8> = (0..n * width).map(|_| noise.below(256) as u8).collect();
        let mut planes = vec![0; n * width];
        shuffle(width, &source, &mut planes);
        assert!((0..n * width).all(|i| planes[i % width * n + i / width] == source[i]));
        let each: Vec<&[u8]> = planes.chunks_exact(n).collect();
        let first = noise.below(n);
        for around in [false, true] {
            let mut memory = vec![7; before + (n - first) * width];
            unshuffle(around, &each, first, &mut memory[before..]);
            assert!(memory[before..] == source[first * width..]);
        }
    }
}

#[test]
fn scatter_gather_and_fill() {
    let mut noise = Noise(1);
    for _ in 0..ROUNDS {
        let item = [1, 2, 3, 4, 8, 16][noise.below(6)];
        let mut shape: Vec<usize> = (0..noise.below(4)).map(|_| 1 + noise.below(5)).collect();
        // Rows of several lines of the cache, where the way around it begins.
        if let Some(last) = shape.last_mut()
            && noise.below(3) == 0
        {
            *last = 1 + noise.below(LONG);
        }
        let far = if noise.below(2) == 0 { usize::MAX } else { 0 };
        let selects: Vec<Select> = shape.iter().map(|&n| selection(&mut noise, n)).collect();
        let lists: Vec<Vec<usize>> = selects.iter().map(places).collect();
        let count: Vec<usize> = lists.iter().map(Vec::len).collect();
        let size = shape.iter().product::<usize>() * item;
        let data: Vec<u8> = (0..size).map(|i| i as u8).collect();
        // Axes of the destination in another order, so that neighbours are far apart there.
        let mut order: Vec<usize> = (0..count.len()).collect();
        if noise.below(2) == 0 {
            order.reverse();
        }
        let turned: Vec<usize> = order.iter().map(|&d| count[d]).collect();
        let dense = strides(&turned, item);
        let mut steps = vec![0; count.len()];
        order.iter().zip(&dense).for_each(|(&d, &s)| steps[d] = s);
        let (before, bytes) = (noise.below(70), count.iter().product::<usize>() * item);
        let mut memory = vec![0xEE_u8; before + bytes];
        let out = &mut memory[before..];
        let swap = if item.is_multiple_of(2) && noise.below(2) == 0 { 2 } else { 0 };
        let sel = Sel::Box(selects.iter().map(Select::part).collect());
        // SAFETY: `out` has room for all elements of the selection under these strides, and outlives the view.
        let view = unsafe { View::new(out.as_mut_ptr(), &steps) }.of_bytes(far);
        sel.scatter(&data, &shape, item, swap, &view);
        let cell = strides(&shape, item);
        let ranges: Vec<Vec<usize>> = count.iter().map(|&n| (0..n).collect()).collect();
        for (from, to) in product(&lists).iter().zip(product(&ranges)) {
            let (at, place) = (offset(from, &cell), offset(&to, &steps));
            let mut expected = data[at..at + item].to_vec();
            swap_in_place(&mut expected, swap);
            assert_eq!(out[place..place + item], expected);
        }
        let mut back = vec![0x11; size];
        // SAFETY: as above; what is read is initialised.
        let view = unsafe { View::new(out.as_mut_ptr(), &steps) }.of_bytes(far);
        sel.gather(&mut back, &shape, item, &view);
        for from in product(&lists) {
            let at = offset(&from, &cell);
            let mut expected = data[at..at + item].to_vec();
            swap_in_place(&mut expected, swap);
            assert_eq!(back[at..at + item], expected);
        }
        let value: Vec<u8> = (0..item).map(|i| 200 + i as u8).collect();
        // SAFETY: as above.
        let view = unsafe { View::new(out.as_mut_ptr(), &steps) }.of_bytes(far);
        sel.fill(&value, &view);
        assert!(out.is_empty() || is_filled(out, &value));
        assert!(memory[..before].iter().all(|&b| b == 0xEE));
    }
}

#[test]
fn slices_are_filled() {
    for item in [1, 2, 3, 8] {
        for n in 0..20 {
            let value: Vec<u8> = (0..item).map(|i| 7 + i as u8).collect();
            let mut data = vec![0; n * item];
            fill_slice(&mut data, &value);
            assert!(data.chunks(item).all(|one| one == value));
            assert!(data.is_empty() || is_filled(&data, &value));
        }
    }
}
