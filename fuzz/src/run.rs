use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::Mutator;

/// Seconds of each target; a fixed number of inputs where it is not set.
const SECONDS: &str = "TILEWRIGHT_FUZZ_SECONDS";
/// Seed of a long run, so that a later one sees other inputs; 0 where it is not set.
pub const SEED: &str = "TILEWRIGHT_FUZZ_SEED";
/// Inputs of a short run.
const INPUTS: u64 = 1500;
/// Longest that one input may take.
const SLOW: Duration = Duration::from_secs(10);
/// Most address space of a long run, bytes.
const MOST_MEMORY: u64 = 8 << 30;
/// Tries to make a finding smaller.
const SHRINKS: usize = 2000;
/// Inputs kept beside the seeds, because what is changed twice gets further.
const KEPT: usize = 400;

/// A change after all others, such as making a checksum right.
type Mend = fn(&mut Vec<u8>);

/// A parser under test.
#[derive(Debug)]
pub struct Fuzz {
    name: &'static str,
    corpus: PathBuf,
    seeds: Vec<Vec<u8>>,
    mend: Option<Mend>,
}

impl Fuzz {
    /// A target of the crate in folder `package`; its corpus is `corpus/NAME` in there.
    pub fn new(package: &str, name: &'static str) -> Self {
        Self { name, corpus: Path::new(package).join("corpus").join(name), seeds: Vec::new(), mend: None }
    }

    /// Something that the parser reads.
    #[must_use]
    pub fn seed(mut self, seed: impl AsRef<[u8]>) -> Self {
        self.seeds.push(seed.as_ref().to_vec());
        self
    }

    /// Makes checksums right in half of the inputs, so that what lies behind them is reached.
    #[must_use]
    pub fn mend(mut self, mend: Mend) -> Self {
        self.mend = Some(mend);
        self
    }

    /// Feeds the parser.
    ///
    /// # Panics
    /// When an input makes it panic or takes very long; the input is in the corpus then.
    pub fn run(self, target: impl Fn(&[u8])) {
        let seconds: Option<u64> = std::env::var(SECONDS).ok().and_then(|seconds| seconds.parse().ok());
        let mut inputs = self.seeds.clone();
        inputs.extend(self.corpus_files());
        assert!(!inputs.is_empty(), "{}: no seeds", self.name);
        for input in &inputs {
            self.feed(input, &target);
        }
        let mutator = Mutator::new(inputs.iter().map(Vec::as_slice));
        let mut rng = self.random();
        if seconds.is_some() {
            bound_memory();
        }
        let started = now();
        let goes_on = |done: u64| match seconds {
            Some(seconds) => started.elapsed() < Duration::from_secs(seconds),
            None => done < INPUTS,
        };
        let (fixed, mut done) = (inputs.len(), 0);
        while goes_on(done) {
            let other = inputs[rng.random_range(0..inputs.len())].clone();
            let mut input = inputs[rng.random_range(0..inputs.len())].clone();
            mutator.mutate(&mut input, &other, &mut rng);
            if let Some(mend) = self.mend.filter(|_| rng.random()) {
                mend(&mut input);
            }
            self.feed(&input, &target);
            done += 1;
            if inputs.len() < fixed + KEPT {
                inputs.push(input);
            } else if rng.random_range(0..64) == 0 {
                inputs[fixed + rng.random_range(0..KEPT)] = input;
            }
        }
        if seconds.is_some() {
            println!("{}: {done} inputs in {:.0} s, no finding", self.name, started.elapsed().as_secs_f64());
        }
    }

    fn random(&self) -> ChaCha8Rng {
        let seed: u64 = std::env::var(SEED).ok().and_then(|seed| seed.parse().ok()).unwrap_or(0);
        let name = blake3::hash(self.name.as_bytes());
        let mut rng = ChaCha8Rng::from_seed(*name.as_bytes());
        rng.set_stream(seed);
        rng
    }

    fn corpus_files(&self) -> Vec<Vec<u8>> {
        let files = std::fs::read_dir(&self.corpus).into_iter().flatten().flatten();
        let mut paths: Vec<PathBuf> = files.map(|file| file.path()).collect();
        // Not in the order of the folder, which differs from system to system.
        paths.sort();
        paths.iter().map(|path| std::fs::read(path).expect("a file of the corpus")).collect()
    }

    fn feed(&self, input: &[u8], target: &impl Fn(&[u8])) {
        // What ends the process (a stack that is full, memory that is not there) is found here afterwards.
        let last = std::env::temp_dir().join(format!("tilewright-fuzz-{}-last", self.name));
        std::fs::write(&last, input).ok();
        let Some(problem) = fails(input, target) else { return };
        let small = shrink(input.to_vec(), |shorter| {
            if fails(shorter, target).is_some() {
                return true;
            }
            let Some(mend) = self.mend else { return false };
            let mut mended = shorter.clone();
            mend(&mut mended);
            let found = fails(&mended, target).is_some();
            if found {
                *shorter = mended;
            }
            found
        });
        let file = self.corpus.join(format!("found-{}", &blake3::hash(&small).to_hex()[..12]));
        std::fs::create_dir_all(&self.corpus).expect("a folder for the finding");
        std::fs::write(&file, &small).expect("room for the finding");
        panic!("{}: {problem}; the input is in {}", self.name, file.display());
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "nothing is decided by it but whether an input takes far too long"
)]
fn now() -> Instant {
    Instant::now()
}

/// What is wrong when the target is given this input.
fn fails(input: &[u8], target: &impl Fn(&[u8])) -> Option<String> {
    let started = now();
    let ended = catch_unwind(AssertUnwindSafe(|| target(input)));
    let took = started.elapsed();
    match ended {
        Err(_) => Some("a panic".to_owned()),
        Ok(()) if took > SLOW => Some(format!("{:.1} s", took.as_secs_f64())),
        Ok(()) => None,
    }
}

/// Leaves out what is not needed for the finding (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing
/// Input, 2002). What is left may be mended before it is found to fail.
fn shrink(mut input: Vec<u8>, fails: impl Fn(&mut Vec<u8>) -> bool) -> Vec<u8> {
    let mut tries = 0;
    let mut part = input.len().div_ceil(2);
    while part > 0 && tries < SHRINKS {
        let mut at = 0;
        while at < input.len() && tries < SHRINKS {
            let mut shorter = input.clone();
            shorter.drain(at..(at + part).min(input.len()));
            tries += 1;
            if fails(&mut shorter) {
                input = shorter;
            } else {
                at += part;
            }
        }
        part /= 2;
    }
    input
}

fn bound_memory() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::As);
    limit.current = Some(limit.maximum.map_or(MOST_MEMORY, |most| most.min(MOST_MEMORY)));
    // Without the bound the run is still worth something.
    setrlimit(Resource::As, limit).ok();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bug_behind_a_checksum_is_found_made_small_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let package = folder.path().to_str().unwrap().to_owned();
        let buggy = |input: &[u8]| {
            if let [sum, rest @ ..] = input
                && *sum == rest.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte))
            {
                assert!(!rest.starts_with(b"ab("), "the bug");
            }
        };
        let mend: Mend = |input| {
            if let [sum, rest @ ..] = &mut input[..] {
                *sum = rest.iter().fold(0_u8, |sum, byte| sum.wrapping_add(*byte));
            }
        };
        let run = || {
            let fuzz = Fuzz::new(&package, "buggy").seed(b"?abcd(e)").mend(mend);
            catch_unwind(AssertUnwindSafe(|| fuzz.run(buggy)))
        };
        assert!(run().is_err());
        let found: Vec<Vec<u8>> = Fuzz::new(&package, "buggy").corpus_files();
        assert_eq!(found.len(), 1);
        assert!(found[0].len() <= 8, "{:?}", found[0]);
        // It is tried first from then on.
        assert!(run().is_err());
        assert_eq!(std::fs::read_dir(folder.path().join("corpus/buggy")).unwrap().count(), 1);
    }
}
