//! The command line of `tilewright judge`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use tilewright_ir::Workload;

use crate::arguments::{Cache, workload};

pub(crate) const JUDGE_EXAMPLES: &str = "Examples:
  cc -O3 -march=native -shared -fPIC -I evaluator/include -o my.so evaluator/kernels/matmul.c
  tilewright judge matmul:m=64,n=64,k=64,dtype=f32 --library my.so --symbol my_kernel
  tilewright judge matmul:m=512,n=512,k=512,dtype=f32 --library my.so --symbol my_kernel --threads 2 --against default --json

A kernel is a C function of a shared library (evaluator/include/tilewright_kernel.h; docs/judge.md). It runs in a
process of its own that may do nothing but compute, is verified on inputs that nobody knows beforehand, and measured
beside the kept kernel of the workload, or the default schedule.

Verdicts: faster, slower, inconclusive, rejected (with the kind of failure as the reason).

Exit codes: 0 judged, 1 failed, 2 wrong usage, library or symbol, 3 rejected.";

/// What a kernel is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Against {
    /// The registry's kernel for the workload
    Registry,
    /// The default schedule
    Default,
}

#[derive(Debug, Args)]
pub(crate) struct Judge {
    /// What the kernel computes, e.g. matmul:m=64,n=64,k=64,dtype=f32
    #[arg(value_name = "SPEC", value_parser = workload)]
    pub(crate) workload: Workload,
    /// The shared library with the kernel
    #[arg(long, value_name = "FILE")]
    pub(crate) library: PathBuf,
    /// Name of the kernel's function
    #[arg(long, value_name = "NAME")]
    pub(crate) symbol: String,
    /// What it is compared with [default: the registry's kernel, or the default schedule where there is none]
    #[arg(long, value_enum)]
    pub(crate) against: Option<Against>,
    /// Worker threads that call the kernel
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1024), allow_negative_numbers = true)]
    pub(crate) threads: u32,
    /// Whether operands are in cache before a launch
    #[arg(long, value_enum, default_value_t = Cache::Warm)]
    pub(crate) cache: Cache,
    /// Scratch memory that the kernel asks for, bytes
    #[arg(long, value_name = "BYTES", default_value_t = 0, value_parser = clap::value_parser!(u64).range(0..=1 << 34), allow_negative_numbers = true)]
    pub(crate) workspace: u64,
    /// Seed of inputs and order [default: drawn by the system, so that no kernel can know it]
    #[arg(long, value_parser = clap::value_parser!(u64).range(0..=i64::MAX as u64), allow_negative_numbers = true)]
    pub(crate) seed: Option<u64>,
    /// The registry's folder
    #[arg(long, value_name = "DIR")]
    pub(crate) registry: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    pub(crate) json: bool,
    /// No notes
    #[arg(long, short)]
    pub(crate) quiet: bool,
}
