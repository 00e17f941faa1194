//! The targets without libFuzzer: `list` names them, `seeds FOLDER` writes good inputs, `run TARGET SECONDS` tries
//! mutations, `try TARGET FILE…` tries files.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use omnizarr_fuzz::{Noise, Target, target, targets};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["list"] => targets().iter().for_each(|target| println!("{}", target.name)),
        ["seeds", folder] => targets().iter().for_each(|target| write(Path::new(folder), target)),
        ["run", name, seconds] => run(&named(name), seconds.parse().unwrap()),
        ["try", name, files @ ..] => files.iter().for_each(|file| (named(name).run)(&fs::read(file).unwrap())),
        _ => println!("list, seeds FOLDER, run TARGET SECONDS, or try TARGET FILE..."),
    }
}

fn named(name: &str) -> Target {
    target(name).unwrap_or_else(|| {
        eprintln!("there is no target {name:?}");
        std::process::exit(2)
    })
}

fn write(folder: &Path, target: &Target) {
    let folder = folder.join(target.name);
    fs::create_dir_all(&folder).unwrap();
    for (i, seed) in (target.seeds)().iter().enumerate() {
        fs::write(folder.join(format!("seed{i}")), seed).unwrap();
    }
}

/// Try mutations for a time; the input is written down before it is tried, so that it is there after a crash.
fn run(target: &Target, seconds: u64) {
    let seeds = (target.seeds)();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
    let (mut noise, start) = (Noise::new(u64::try_from(now & 0xFFFF_FFFF).unwrap()), Instant::now());
    let (mut pool, mut count) = (seeds.clone(), 0_u64);
    std::panic::set_hook(Box::new(|_| {}));
    while start.elapsed() < Duration::from_secs(seconds) {
        for _ in 0..100 {
            let (one, other) = (noise.below(pool.len()), noise.below(pool.len()));
            let input = noise.mutated(&pool[one], &pool[other]);
            count += 1;
            if let Err(panic) = std::panic::catch_unwind(|| (target.run)(&input)) {
                let said = panic.downcast_ref::<String>().cloned();
                let said = said.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
                let file = format!("crash-{}-{count}", target.name);
                fs::write(&file, &input).unwrap();
                println!("{}: {} ({file})", target.name, said.unwrap_or_default());
                std::process::exit(1);
            }
            if count.is_multiple_of(50) && input.len() < 1 << 14 {
                let at = if pool.len() < seeds.len() + 200 { pool.len() } else { seeds.len() + noise.below(200) };
                if at == pool.len() { pool.push(input) } else { pool[at] = input }
            }
        }
    }
    println!("{:12} {count:12} inputs in {:4} s, 0 findings", target.name, start.elapsed().as_secs());
}
