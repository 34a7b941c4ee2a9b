//! What the processor can do at most: fused multiply-adds on registers, on every thread.

use std::arch::x86_64::{__m256, __m512, _mm256_fmadd_ps, _mm256_set1_ps, _mm512_fmadd_ps, _mm512_set1_ps};
use std::hint::black_box;
use std::time::Instant;

use rayon::{ThreadPool, ThreadPoolBuilder};

use super::{Absent, Contender, Entry, Problem, Role, Setup, Unsupported};

pub(super) const ENTRY: Entry = Entry {
    name: "ceiling",
    about: "independent FMAs on registers: what the processor can do at most",
    role: Role::Ceiling,
    library: None,
    open,
};

/// Independent chains: more than latency × units of any processor so far, fewer than the registers.
const CHAINS: usize = 12;
/// About a millisecond, beside which waking the pool is short.
const ITERATIONS: usize = 100_000;

struct Ceiling {
    pool: ThreadPool,
    threads: usize,
    kernel: Kernel,
}

#[derive(Clone, Copy)]
struct Kernel {
    name: &'static str,
    lanes: usize,
    /// Only called where the processor has the instructions.
    burn: unsafe fn(),
}

const AVX2: Kernel = Kernel { name: "AVX2 FMA", lanes: 8, burn: burn_avx2 };
const AVX512: Kernel = Kernel { name: "AVX-512 FMA", lanes: 16, burn: burn_avx512 };

fn open(setup: &Setup) -> Result<Box<dyn Contender>, Absent> {
    let absent = |why: String| Absent { why, remedy: "none on this machine".to_owned() };
    let mut kernels = Vec::new();
    if is_x86_feature_detected!("fma") && is_x86_feature_detected!("avx2") {
        kernels.push(AVX2);
    }
    if is_x86_feature_detected!("avx512f") {
        kernels.push(AVX512);
    }
    // The wider is not always the faster: take what does more.
    let kernel = kernels
        .into_iter()
        .max_by(|one, other| one.rate().total_cmp(&other.rate()))
        .ok_or_else(|| absent("the processor has no FMA".to_owned()))?;
    let pool = ThreadPoolBuilder::new()
        .num_threads(setup.threads)
        .build()
        .map_err(|error| absent(error.to_string()))?;
    Ok(Box::new(Ceiling { pool, threads: setup.threads, kernel }))
}

impl Kernel {
    fn flops(&self) -> f64 {
        2.0 * (CHAINS * ITERATIONS * self.lanes) as f64
    }

    fn rate(&self) -> f64 {
        let once = |_| {
            let start = Instant::now();
            // SAFETY: made only where the instructions exist.
            unsafe { (self.burn)() };
            self.flops() / start.elapsed().as_secs_f64()
        };
        (0..10).map(once).fold(0.0, f64::max)
    }
}

impl Contender for Ceiling {
    fn describe_kernel(&self) -> String {
        self.kernel.name.to_owned()
    }

    fn prepare(&mut self, _: Problem) -> Result<(), Unsupported> {
        Ok(())
    }

    fn run(&mut self) {
        let burn = self.kernel.burn;
        // SAFETY: made only where the instructions exist.
        self.pool.broadcast(|_| unsafe { burn() });
    }

    fn own_flops(&self) -> Option<f64> {
        Some(self.kernel.flops() * self.threads as f64)
    }
}

#[target_feature(enable = "avx2,fma")]
fn burn_avx2() {
    let (factor, addend) = (_mm256_set1_ps(black_box(0.5)), _mm256_set1_ps(black_box(1.0)));
    let mut sums: [__m256; CHAINS] = [addend; CHAINS];
    for _ in 0..ITERATIONS {
        for sum in &mut sums {
            *sum = _mm256_fmadd_ps(*sum, factor, addend);
        }
    }
    black_box(sums);
}

#[target_feature(enable = "avx512f")]
fn burn_avx512() {
    let (factor, addend) = (_mm512_set1_ps(black_box(0.5)), _mm512_set1_ps(black_box(1.0)));
    let mut sums: [__m512; CHAINS] = [addend; CHAINS];
    for _ in 0..ITERATIONS {
        for sum in &mut sums {
            *sum = _mm512_fmadd_ps(*sum, factor, addend);
        }
    }
    black_box(sums);
}
