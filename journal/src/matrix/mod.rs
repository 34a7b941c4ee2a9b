//! A matrix of campaigns: every workload on every target with every strategy and seed, as a file asks for it.
//!
//! | file | holds |
//! |---|---|
//! | `mod.rs` | what can be asked for |
//! | `cells.rs` | the single campaigns, their order and their folders |
//! | `read.rs`, `section.rs`, `error.rs` | from a file, with errors that name line, key and remedy |
//! | `write.rs` | back into a file |

mod cells;
mod error;
mod read;
mod section;
mod write;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use tilewright_ir::{CacheState, Workload};

use crate::Plateau;

pub use cells::Cell;
pub use error::MatrixError;

/// File name of the request inside a matrix's folder.
pub const MATRIX_FILE: &str = "matrix.toml";
/// Folder of the cells inside a matrix's folder.
pub const CELLS_FOLDER: &str = "cells";
/// Version of the file's form, raised when an older tool would misread it.
pub const MATRIX_VERSION: u32 = 1;
/// Most cells of a matrix.
pub const MOST_CELLS: usize = 100_000;

/// What a matrix of campaigns is asked to do.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    /// Strategies by name, each once; at least one.
    pub strategies: Vec<String>,
    /// Seeds, each once; at least one. Below 2⁶³.
    pub seeds: Vec<u64>,
    /// What kernels are compared by, each once; at least one.
    pub objectives: Vec<Objective>,
    /// Strategy that the others are compared with.
    pub baseline: Option<String>,
    /// What may be spent.
    pub budget: MatrixBudget,
    /// What is made fast, at least one.
    pub workloads: Vec<MatrixWorkload>,
    /// For what, at least one; of no meaning for recorded spaces.
    pub targets: Vec<MatrixTarget>,
    /// What may advise the searches.
    pub heuristics: MatrixHeuristics,
}

/// Which learned heuristics may advise the cells of a matrix; of these, each cell takes those most like it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum MatrixHeuristics {
    /// All that the registry has when the matrix begins.
    #[default]
    All,
    /// None.
    None,
    /// Those of these digests: what a matrix that has begun goes on with.
    Named(Vec<String>),
}

/// What a kernel may be good at. The search makes the median time short; the others tell kernels apart that are
/// about equally fast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Objective {
    /// Median time of a launch, ns.
    Median,
    /// 99 % quantile of single launches, ns.
    P99,
    /// Scratch memory of a launch, bytes.
    Workspace,
}

impl Objective {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Median, Self::P99, Self::Workspace];

    /// Its name in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::P99 => "p99",
            Self::Workspace => "workspace",
        }
    }
}

/// What may be spent; whichever limit is reached first ends a cell.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct MatrixBudget {
    /// Time of each cell, s.
    pub seconds: Option<f64>,
    /// Candidates of each cell.
    pub trials: Option<u64>,
    /// Time of all cells together, s; dealt evenly, since cells are to be compared.
    pub total_seconds: Option<f64>,
    /// Candidates of all cells together, dealt evenly.
    pub total_trials: Option<u64>,
    /// When a cell ends for want of progress.
    pub plateau: Option<Plateau>,
}

impl MatrixBudget {
    /// Time and candidates of each of so many cells.
    pub fn of_cell(&self, cells: usize) -> (Option<f64>, Option<u64>) {
        let cells = cells.max(1);
        let seconds = self.total_seconds.map(|total| total / cells as f64);
        let trials = self.total_trials.map(|total| (total / cells as u64).max(1));
        let least =
            |first: Option<f64>, second: Option<f64>| first.into_iter().chain(second).reduce(f64::min);
        (least(self.seconds, seconds), self.trials.into_iter().chain(trials).min())
    }
}

/// Something to make fast, by a name of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixWorkload {
    /// Name in folders, tables and charts; unique.
    pub name: String,
    /// What it is.
    pub source: Source,
}

/// Where candidates are evaluated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Lowered, and run or simulated.
    Workload(Workload),
    /// Answered from the recording in this file; a relative path counts from the matrix's own file.
    Recorded(PathBuf),
}

/// For what kernels are made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MatrixTarget {
    /// Name in folders, tables and charts; unique.
    pub name: String,
    /// Worker threads, at least 1.
    pub threads: u32,
    /// State of the caches before each launch.
    pub cache: CacheState,
    /// Instruction set; `None` for the widest of this processor.
    pub isa: Option<String>,
    /// Chip to simulate; `None` for this machine.
    pub chip: Option<String>,
}

/// What a file may name that this crate does not know itself; by default anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Known<'a> {
    /// Names of strategies; `None` for any.
    pub strategies: Option<&'a [&'a str]>,
    /// Names of chips that can be simulated; `None` for any.
    pub chips: Option<&'a [&'a str]>,
}
