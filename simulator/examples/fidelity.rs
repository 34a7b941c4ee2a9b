//! How well predictions order measured schedules.
//!
//! ```text
//! cargo run --release -p tilewright-simulator --example fidelity -- measure avx2 times.csv 500 matmul:m=512,n=512,k=512,dtype=f32
//! cargo run --release -p tilewright-simulator --example fidelity -- score avx2 times.csv
//! ```
//!
//! `measure` draws legal schedules, runs each on one thread and appends the least processor time of several rounds;
//! `score` simulates what such a file holds, and prints rank correlations, the worst offenders and the number of
//! predictions a second. Measuring once and scoring often keeps changes of the model comparable.
#![expect(clippy::print_stdout, reason = "an example that prints its findings")]

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use tilewright_codegen::{CacheSizes, Isa, isa};
use tilewright_genome::SearchSpace;
use tilewright_ir::{Limits, Program, Schedule, Workload, legalise, lower};
use tilewright_runtime::{
    BufferSpec, CacheKind, GuardedBuffer, HostFacts, Launcher, LoadedKernel, Operands, Placement, Pool,
};
use tilewright_simulator::{Chip, Prediction, chip_for_host, chip_named, simulate};

type Failure = Box<dyn Error>;

/// Rounds over all schedules; the least time counts.
const ROUNDS: usize = 4;

fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.as_slice() {
        ["measure", isa, file, count, workload] => measure(find_isa(isa)?, file, count.parse()?, workload, 1),
        ["measure", isa, file, count, workload, seed] => {
            measure(find_isa(isa)?, file, count.parse()?, workload, seed.parse()?)
        }
        ["score", isa, file] => score(find_isa(isa)?, file, None),
        ["score", isa, file, chip] => score(find_isa(isa)?, file, Some(&find_chip(chip)?)),
        _ => Err(
            "fidelity measure ISA FILE COUNT WORKLOAD [SEED] | fidelity score ISA FILE [CHIP or its file]"
                .into(),
        ),
    }
}

fn limits(isa: &dyn Isa, host: &HostFacts) -> Limits {
    let cache = |level| {
        let data = |cache: &&tilewright_runtime::CacheFacts| {
            cache.level == level && cache.kind != CacheKind::Instruction
        };
        host.caches.iter().find(data).map_or(1 << 20, |cache| cache.bytes as u64)
    };
    isa.limits(1, &CacheSizes { l1: cache(1), l2: cache(2), l3: cache(3) })
}

fn find_isa(name: &str) -> Result<&'static dyn Isa, Failure> {
    isa(name).filter(|isa| isa.available()).ok_or_else(|| format!("this processor has no {name}").into())
}

fn program(workload: &Workload, schedule: &Schedule, limits: &Limits) -> Result<Program, Failure> {
    Ok(legalise(&lower(workload, schedule, limits)?, limits)?)
}

fn measure(isa: &dyn Isa, file: &str, count: usize, workload: &str, seed: u64) -> Result<(), Failure> {
    let workload: Workload = workload.parse()?;
    let limits = limits(isa, &HostFacts::detect());
    let space = SearchSpace::of(&workload, &limits)?;
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut schedules = Vec::new();
    while schedules.len() < count {
        let schedule = space.decode(&space.sample(&mut rng))?;
        if let Ok(program) = program(&workload, &schedule, &limits)
            && isa.compile(&program).is_ok()
        {
            schedules.push(schedule);
        }
    }
    let buffers = operands(&program(&workload, &schedules[0], &limits)?)?;
    let operands =
        Operands { tensors: buffers.iter().map(GuardedBuffer::as_ptr).collect(), extents: Vec::new() };
    let pool = Pool::new(1)?;
    let launcher = Launcher::new(&pool);
    let mut least = vec![u64::MAX; schedules.len()];
    for round in 0..ROUNDS {
        for (schedule, least) in schedules.iter().zip(&mut least) {
            let kernel = LoadedKernel::load(&isa.compile(&program(&workload, schedule, &limits)?)?)?;
            for _ in 0..3 {
                let start = processor_time();
                // SAFETY: the operands have the sizes that the program states, and outlive the launch.
                unsafe { launcher.run(&kernel, &operands) }?;
                *least = (*least).min(processor_time() - start);
            }
        }
        println!("round {} of {ROUNDS}", round + 1);
    }
    let mut out = fs::OpenOptions::new().create(true).append(true).open(file)?;
    for (schedule, nanoseconds) in schedules.iter().zip(least) {
        writeln!(out, "{workload};{schedule};{nanoseconds}")?;
    }
    Ok(())
}

/// Processor time of this thread, nanoseconds: what other processes take away in between does not count.
fn processor_time() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn operands(program: &Program) -> Result<Vec<GuardedBuffer>, Failure> {
    let mut buffers = Vec::new();
    for tensor in &program.tensors {
        let last: i64 = tensor
            .shape
            .iter()
            .zip(&tensor.strides)
            .map(|(extent, stride)| (extent.as_constant().unwrap_or(1) - 1) * stride)
            .sum();
        let bytes = tensor.data_type.bytes(last as u64 + 1) as usize;
        let mut buffer = GuardedBuffer::new(&BufferSpec::new(bytes, Placement::AgainstStart).huge())?;
        if let Some(data) = buffer.bytes_mut() {
            // Ones and zeros: no denormal, infinity or NaN that would change the time.
            for (at, element) in data.chunks_exact_mut(4).enumerate() {
                element.copy_from_slice(&f32::from(at % 3 == 0).to_le_bytes());
            }
        }
        buffers.push(buffer);
    }
    Ok(buffers)
}

struct Point {
    schedule: String,
    measured: f64,
    prediction: Prediction,
}

/// A chip by name, or from a file.
fn find_chip(name: &str) -> Result<Chip, Failure> {
    match chip_named(name) {
        Some(chip) => Ok(chip.clone()),
        None => Ok(Chip::from_toml(&fs::read_to_string(name)?)?),
    }
}

fn score(isa: &dyn Isa, file: &str, chip: Option<&Chip>) -> Result<(), Failure> {
    let host = HostFacts::detect();
    let limits = limits(isa, &host);
    let known = chip_for_host(&host.vendor, host.family, host.model, limits.vector_bytes);
    let chip = chip.unwrap_or(known);
    let mut workloads: BTreeMap<String, Vec<Point>> = BTreeMap::new();
    let (mut nanoseconds_spent, mut predictions) = (0, 0_u32);
    for line in fs::read_to_string(file)?.lines() {
        let fields: Vec<&str> = line.split(';').collect();
        let [workload, schedule, nanoseconds] = fields.as_slice() else { continue };
        let program = program(&workload.parse()?, &read_schedule(schedule), &limits)?;
        let start = processor_time();
        let prediction = simulate(&program, chip)?;
        nanoseconds_spent += processor_time() - start;
        predictions += 1;
        let point = Point { schedule: (*schedule).to_owned(), measured: nanoseconds.parse()?, prediction };
        workloads.entry((*workload).to_owned()).or_default().push(point);
    }
    println!(
        "chip {}: {:.0} predictions a second",
        chip.id,
        f64::from(predictions) / nanoseconds_spent as f64 * 1e9
    );
    for (workload, points) in &workloads {
        report(workload, points);
    }
    Ok(())
}

fn read_schedule(text: &str) -> Schedule {
    let pairs = text.split_whitespace().filter_map(|pair| pair.split_once('='));
    pairs.fold(Schedule::default(), |schedule, (name, value)| match value.parse() {
        Ok(number) => schedule.with_number(name, number),
        Err(_) => schedule.with_name(name, value),
    })
}

fn report(workload: &str, points: &[Point]) {
    let measured: Vec<f64> = points.iter().map(|point| point.measured).collect();
    let predicted: Vec<f64> = points.iter().map(|point| point.prediction.time_ns).collect();
    let mut ratios: Vec<f64> = measured.iter().zip(&predicted).map(|(m, p)| (p / m).ln()).collect();
    let errors: Vec<f64> = measured.iter().zip(&predicted).map(|(m, p)| (p / m - 1.0).abs()).collect();
    let best = measured.iter().copied().fold(f64::INFINITY, f64::min);
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|&x, &y| predicted[x].total_cmp(&predicted[y]));
    let of_ten = order.iter().take(10).map(|&at| measured[at]).fold(f64::INFINITY, f64::min);
    println!(
        "{workload}: {} points, Spearman {:.3}, median error {:.0} %, median ratio {:.2}, best of predicted ten {:.2} x the best",
        points.len(),
        spearman(&measured, &predicted),
        100.0 * median(errors),
        median(ratios.clone()).exp(),
        of_ten / best,
    );
    let middle = median(std::mem::take(&mut ratios));
    let mut offenders: Vec<(f64, &Point)> = points
        .iter()
        .map(|point| ((point.prediction.time_ns / point.measured).ln() - middle, point))
        .collect();
    offenders.sort_by(|one, other| other.0.abs().total_cmp(&one.0.abs()));
    for (off, point) in offenders.iter().take(12) {
        let mut parts = String::new();
        for time in &point.prediction.resources {
            let _ = write!(parts, " {}={:.0}k", time.resource, time.busy_cycles / 1e3);
        }
        println!(
            "  {:+.2} measured {:.2} ms, predicted {:.2} ms, {} [{}]\n       {parts}",
            off,
            point.measured / 1e6,
            point.prediction.time_ns / 1e6,
            point.prediction.bottleneck,
            point.schedule,
        );
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

/// Pearson's correlation of ranks.
fn spearman(one: &[f64], other: &[f64]) -> f64 {
    let (one, other) = (ranks(one), ranks(other));
    let mean = (one.len() as f64 - 1.0) / 2.0;
    let product = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| (x - mean) * (y - mean)).sum::<f64>();
    product(&one, &other) / (product(&one, &one) * product(&other, &other)).sqrt()
}

fn ranks(values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&x, &y| values[x].total_cmp(&values[y]));
    let mut ranks = vec![0.0; values.len()];
    for (rank, at) in order.into_iter().enumerate() {
        ranks[at] = rank as f64;
    }
    ranks
}
