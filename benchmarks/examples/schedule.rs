//! Times one schedule of a workload in this process, beside the multiply-add ceiling.
//!
//! `cargo run --release -p tilewright-benchmarks --example schedule -- WORKLOAD ISA THREADS [NAME=VALUE…]`;
//! without values the default schedule. Several schedules are separated by `--`. With `LISTING=FILE` in the
//! environment the last schedule's disassembly is written there, to read a profile by.
#![expect(clippy::print_stdout, reason = "an example that prints")]

use anyhow::{Context, Result, bail};
use tilewright_codegen::{disassemble, isa};
use tilewright_evaluator::device_limits;
use tilewright_ir::{Schedule, Workload, default_schedule, legalise, lower};
use tilewright_runtime::{
    BufferSpec, CeilingMeter, GuardedBuffer, HostFacts, Launcher, LoadedKernel, Operands, Placement, Pool,
};
use tilewright_simulator::{chip_for_host, simulate};

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [workload, isa_name, threads, rest @ ..] = arguments.as_slice() else {
        bail!("usage: schedule WORKLOAD ISA THREADS [NAME=VALUE…] [-- NAME=VALUE…]");
    };
    let workload: Workload = workload.parse()?;
    let threads: u32 = threads.parse()?;
    let isa = isa(isa_name).context("no such instruction set")?;
    let host = HostFacts::detect();
    let limits = device_limits(isa, threads, &host);
    let chip = chip_for_host(&host.vendor, host.family, host.model, limits.vector_bytes);
    let computation = workload.operator().describe(workload.parameters())?;
    let pool = Pool::new(threads as usize)?;
    let launcher = Launcher::new(&pool);
    let mut ceiling = CeilingMeter::new(&pool);
    let mut buffers = Vec::new();
    for operand in computation.operands() {
        let bytes = operand.layout().bytes() as usize;
        let mut buffer = GuardedBuffer::new(&BufferSpec::new(bytes, Placement::AgainstStart).huge())?;
        for (at, value) in buffer.bytes_mut().context("writable")?.chunks_exact_mut(4).enumerate() {
            value.copy_from_slice(&(((at * 7919) % 1009) as f32 / 504.0 - 1.0).to_ne_bytes());
        }
        buffers.push(buffer);
    }
    let operands = Operands { tensors: buffers.iter().map(GuardedBuffer::as_ptr).collect(), extents: vec![] };
    let mut kernels = Vec::new();
    for values in rest.split(|argument| argument == "--") {
        let schedule = if values.is_empty() { default_schedule(&workload, &limits) } else { parse(values)? };
        let program = lower(&workload, &schedule, &limits).and_then(|program| legalise(&program, &limits));
        let program = match program {
            Ok(program) => program,
            Err(illegal) => {
                println!("{illegal}: {schedule}");
                continue;
            }
        };
        let artifact = isa.compile(&program)?;
        if let Some(path) = std::env::var_os("LISTING") {
            std::fs::write(path, disassemble(&artifact))?;
        }
        let predicted = computation.operations() / simulate(&program, chip)?.time_ns;
        println!("predicted {predicted:7.1}  {schedule}");
        kernels.push((schedule, LoadedKernel::load(&artifact)?, f64::INFINITY, Vec::new()));
    }
    let (mut ceilings, mut longest) = (Vec::new(), 0.0_f64);
    for _ in 0..15 {
        ceilings.push(ceiling.fma(threads as usize, longest)?.unwrap_or(0.0));
        for (_, kernel, best, times) in &mut kernels {
            // SAFETY: the operands have the workload's sizes, and the kernel was compiled for it.
            let once = unsafe { launcher.time_batch(kernel, &operands, 1) }? as f64;
            let launches = (4e6 / once.max(50.0)).ceil() as u32;
            // SAFETY: as above.
            let time =
                unsafe { launcher.time_batch(kernel, &operands, launches) }? as f64 / f64::from(launches);
            *best = best.min(time);
            longest = longest.max(time * f64::from(launches));
            times.push(time);
        }
    }
    ceilings.sort_by(f64::total_cmp);
    let (peak, usual) = (ceilings[ceilings.len() - 1], ceilings[ceilings.len() / 2]);
    println!("ceiling: best {peak:.1}, median {usual:.1} GFLOP/s");
    for (schedule, _, best, times) in &mut kernels {
        times.sort_by(f64::total_cmp);
        let (gflops, median) =
            (computation.operations() / *best, computation.operations() / times[times.len() / 2]);
        println!(
            "best {gflops:7.1} ({:5.1} %)  median {median:7.1} ({:5.1} %)  {schedule}",
            100.0 * gflops / peak,
            100.0 * median / usual
        );
    }
    Ok(())
}

fn parse(values: &[String]) -> Result<Schedule> {
    let mut schedule = Schedule::default();
    for value in values {
        let (name, value) = value.split_once('=').context("expected NAME=VALUE")?;
        schedule = match value.parse::<u64>() {
            Ok(number) => schedule.with_number(name, number),
            Err(_) => schedule.with_name(name, value),
        };
    }
    Ok(schedule)
}
