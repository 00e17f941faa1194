//! Texts that the kernel reads itself: members of large JSON objects, sets of references, numbers in CDL.

use omnizarr_core::cdl_numbers::{Number, numbers};
use omnizarr_core::json::{members, members_inside, same};
use omnizarr_core::keys::Keys;
use omnizarr_core::refs::{Grid, JsonSet, packed, unpacked};

use crate::Target;

const LIMIT: usize = 1 << 20;

fn run_json(input: &[u8]) {
    if let Ok(found) = members(input) {
        for (name, value) in &found {
            assert!(name.start < name.end && name.end <= value.start && value.end <= input.len());
            assert!(same(&input[value.clone()], &input[value.clone()]));
        }
    }
    let _ = members_inside(input, &[b"\"metadata\""]);
    let _ = members_inside(input, &[b"\"consolidated_metadata\"", b"\"metadata\""]);
    let half = input.len() / 2;
    let _ = same(&input[..half], &input[half..]);
}

fn seeds_json() -> Vec<Vec<u8>> {
    [
        &br#"{}"#[..],
        br#"{"zarr_consolidated_format": 1, "metadata": {".zgroup": {"zarr_format": 2}, "a/.zarray": {"shape": [1, 2]}}}"#,
        br#"{"consolidated_metadata": {"kind": "inline", "metadata": {"a": {"x": [true, null, -1.5e3, "\u00e9\\\""]}}}}"#,
        br#"{"a":1}{"a":1}"#,
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

fn grids() -> Vec<Grid> {
    let keys = |path: &str, prefix: &str, separator: &str| Keys {
        path: path.into(),
        prefix: prefix.into(),
        separator: separator.into(),
        scalar: "0".into(),
        ..Keys::default()
    };
    vec![
        Grid { keys: keys("a/", "", "."), counts: vec![3, 4] },
        Grid { keys: keys("b/", "c/", "/"), counts: vec![2, u64::MAX / 4] },
        Grid { keys: keys("", "", "."), counts: vec![] },
    ]
}

fn run_references(input: &[u8]) {
    let text = match unpacked(input, LIMIT) {
        Ok(Some(text)) => text,
        Ok(None) => input.to_vec(),
        Err(_) => return,
    };
    assert!(text.len() <= LIMIT);
    let Ok(set) = JsonSet::read(&text, Some("target.nc")) else { return };
    let _ = (set.len(), set.templated(), set.urls().len(), set.texts().count());
    let _ = set.key_of(0);
    if let Ok(mut placed) = set.place(&grids()) {
        for i in 0..3 {
            let _ = placed.take_columns(i).unwrap();
        }
    }
}

fn seeds_references() -> Vec<Vec<u8>> {
    let texts = [
        &br#"{"version": 1, "templates": {"u": "http://x/{{n}}"}, "refs": {".zgroup": "{\"zarr_format\": 2}",
            "a/0.0": ["u.nc", 0, 10], "a/0.1": ["u.nc", 10, 10], "a/2.3": ["{{u(n='1')}}"], "b/c/1/9": "base64:AAEC", "0": "x"},
            "gen": [{"key": "a/{{i}}.0", "url": "u", "offset": "{{i * 10}}", "length": "10", "dimensions": {"i": {"stop": 3}}}]}"#[..],
        br#"{".zgroup": {"zarr_format": 2}, "a/1.1": ["file:///x", 18446744073709551615, 1], "a/01.1": [null], "b/c/0/0": []}"#,
    ];
    let mut seeds: Vec<Vec<u8>> = texts.map(<[u8]>::to_vec).to_vec();
    seeds.extend(["gzip", "zstd"].map(|how| packed(texts[0], how).unwrap()));
    seeds
}

fn numbers_of<T: Number>(input: &[u8]) {
    let run = numbers::<T>(input, 0);
    assert!(run.end <= input.len() && run.values.len() <= input.len() && run.fills.len() <= run.values.len());
}

fn run_numbers(input: &[u8]) {
    numbers_of::<i8>(input);
    numbers_of::<u64>(input);
    numbers_of::<f32>(input);
    numbers_of::<f64>(input);
}

fn seeds_numbers() -> Vec<Vec<u8>> {
    [&b"1, -2, 3b, 0x10, 017, 1.5f, 1e400, -1.e-3, _, 255ub, 18446744073709551615ull"[..], b"1 /* c */ , // d\n 2", b""]
        .map(<[u8]>::to_vec)
        .to_vec()
}

/// The targets.
pub(crate) fn targets() -> Vec<Target> {
    vec![
        Target { name: "json", run: run_json, seeds: seeds_json },
        Target { name: "references", run: run_references, seeds: seeds_references },
        Target { name: "cdl_numbers", run: run_numbers, seeds: seeds_numbers },
    ]
}
