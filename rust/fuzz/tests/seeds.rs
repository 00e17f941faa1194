//! Every target with its seeds, and with mutations of them that are the same in every run.
#![allow(missing_docs, clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unwrap_used)]

use std::time::{Duration, Instant};

use omnizarr_fuzz::{Noise, targets};

const MUTATIONS: usize = 2000;

/// No target may take all of the time.
const LONGEST: Duration = Duration::from_millis(300);

#[test]
fn seeds_and_mutations() {
    for target in targets() {
        let seeds = (target.seeds)();
        assert!(!seeds.is_empty(), "{}", target.name);
        println!("{}", target.name);
        seeds.iter().for_each(|seed| (target.run)(seed));
        let (mut noise, start) = (Noise::new(seeds.len() as u64), Instant::now());
        for _ in 0..MUTATIONS {
            let (one, other) = (noise.below(seeds.len()), noise.below(seeds.len()));
            (target.run)(&noise.mutated(&seeds[one], &seeds[other]));
            if start.elapsed() > LONGEST {
                break;
            }
        }
    }
}

#[test]
fn names_are_different() {
    let mut names: Vec<&str> = targets().iter().map(|target| target.name).collect();
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(names.len(), count);
}
