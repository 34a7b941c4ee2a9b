//! Speed of matrix multiplications by generated code, beside the measured ceiling of multiply-adds.
//!
//! `cargo run --release -p tilewright-codegen --example gflops -- avx2 matmul:m=64,n=64,k=64,dtype=f32 register.m=6 …`
#![expect(clippy::print_stdout, reason = "a command")]

#[path = "../tests/support/mod.rs"]
mod support;

use rustix::time::{ClockId, clock_gettime};
use support::{CACHES, Guarded, Kernel, Touch, program, schedule};
use tilewright_codegen::{disassemble, isa};
use tilewright_ir::{Workload, default_schedule};

/// Processor time of this thread: other programs on the machine count less than in wall time.
fn seconds() -> f64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Best rate of several rounds, GFLOP/s.
fn rate(operations: f64, mut run: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    let repetitions = (2e8 / operations).ceil().max(1.0) as u32;
    for _ in 0..15 {
        let start = seconds();
        (0..repetitions).for_each(|_| run());
        best = best.min((seconds() - start) / f64::from(repetitions));
    }
    operations / best / 1e9
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [isa_name, workload, parameters_given @ ..] = &arguments[..] else {
        println!("usage: gflops ISA WORKLOAD [PARAMETER=VALUE …] [show] [compile]");
        return;
    };
    let isa = isa(isa_name).expect("an instruction set");
    let workload: Workload = workload.parse().expect("a workload");
    let limits = isa.limits(1, &CACHES);
    let show = parameters_given.iter().any(|parameter| parameter == "show");
    let parameters: Vec<&str> =
        parameters_given.iter().map(String::as_str).filter(|parameter| parameter.contains('=')).collect();
    let schedule = if parameters.is_empty() {
        default_schedule(&workload, &limits)
    } else {
        schedule(&parameters.join(" "))
    };
    let program = program(&workload, &schedule, &limits).expect("a legal schedule");
    let mut artifact = isa.compile(&program).expect("compiles");
    let mut times: Vec<f64> = Vec::new();
    for _ in 0..301 {
        let start = seconds();
        artifact = isa.compile(&program).expect("compiles");
        times.push(seconds() - start);
    }
    times.sort_by(f64::total_cmp);
    let generation = times[times.len() / 2];
    if show {
        println!("{program}\n{}", disassemble(&artifact));
    }
    if parameters_given.iter().any(|parameter| parameter == "compile") {
        println!("{} bytes of code in {:.1} us", artifact.code.len(), generation * 1e6);
        return;
    }
    let computation = workload.operator().describe(workload.parameters()).expect("a workload");
    let mut memory: Vec<Guarded> = computation
        .operands()
        .iter()
        .map(|operand| Guarded::new(operand.layout().span() as usize, Touch::Start))
        .collect();
    for block in &mut memory {
        block.elements_mut().iter_mut().zip(0..).for_each(|(x, at)| *x = (at % 7) as f32 - 3.0);
    }
    let pointers: Vec<*mut u8> = memory.iter().map(Guarded::pointer).collect();
    let kernel = Kernel::new(&artifact);
    let operations = computation.operations();
    let peak_artifact = peak(isa_name);
    let peak_kernel = Kernel::new(&peak_artifact);
    let mut best = (0.0_f64, 0.0_f64);
    for _ in 0..4 {
        let ceiling = rate(PEAK_OPERATIONS * lanes(isa_name), || peak_kernel.launch(&[]));
        let reached = rate(operations, || kernel.launch(&pointers));
        best = (best.0.max(reached), best.1.max(ceiling));
    }
    println!(
        "{isa_name} {workload} {schedule}: {:.1} GFLOP/s of {:.1} ({:.1} %), {} bytes of code in {:.1} us",
        best.0,
        best.1,
        100.0 * best.0 / best.1,
        artifact.code.len(),
        generation * 1e6
    );
}

fn lanes(isa: &str) -> f64 {
    if isa == "avx512" { 16.0 } else { 8.0 }
}

const ROUNDS: u32 = 100_000;
const CHAINS: u32 = 12;
/// Of one launch of [`peak`], a lane.
const PEAK_OPERATIONS: f64 = 2.0 * ROUNDS as f64 * CHAINS as f64;

/// Independent chains of multiply-adds on registers: what the processor can do at most.
fn peak(isa: &str) -> tilewright_codegen::Artifact {
    use iced_x86::code_asm::{CodeAssembler, ecx, ymm0, zmm0};
    use iced_x86::{Code, Instruction, Register};
    let _ = (ymm0, zmm0);
    let mut assembler = CodeAssembler::new(64).expect("an assembler");
    let (code, first) = if isa == "avx512" {
        (Code::EVEX_Vfmadd231ps_zmm_k1z_zmm_zmmm512b32_er, Register::ZMM0)
    } else {
        (Code::VEX_Vfmadd231ps_ymm_ymm_ymmm256, Register::YMM0)
    };
    assembler.vzeroall().expect("an instruction");
    assembler.mov(ecx, ROUNDS).expect("an instruction");
    let mut head = assembler.create_label();
    assembler.set_label(&mut head).expect("a label");
    for chain in 0..CHAINS {
        let operands = (first + chain, first + 14, first + 15);
        let instruction =
            Instruction::with3(code, operands.0, operands.1, operands.2).expect("an instruction");
        assembler.add_instruction(instruction).expect("an instruction");
    }
    assembler.dec(ecx).expect("an instruction");
    assembler.jnz(head).expect("an instruction");
    assembler.vzeroupper().expect("an instruction");
    assembler.ret().expect("an instruction");
    tilewright_codegen::Artifact {
        isa: isa.to_owned(),
        code: assembler.assemble(0).expect("code"),
        entries: vec![tilewright_codegen::EntryPoint { name: "run".to_owned(), offset: 0 }],
        workers: 1,
        workspace_bytes: 0,
    }
}
