//! A schedule of the row-wise family, read and checked.

use crate::limits::{Illegal, Limits};
use crate::lower::reader::{Reader, allowed, conflict};
use crate::program::{Deal, Rest};
use crate::row_wise::RowWise;
use crate::schedule::Schedule;

/// Which loop is dealt to threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Threads {
    None,
    Rows,
    /// Where each column stands for itself.
    Columns,
}

/// All decisions, checked.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) threads: Threads,
    pub(super) deal: Deal,
    pub(super) workers: u64,
    pub(super) lanes: u64,
    /// Vectors of one iteration over the columns, each with partial results of its own.
    pub(super) vectors: u64,
    pub(super) unroll: u32,
    pub(super) rest: Rest,
    /// Whether values of columns that a later pass reads are kept in a buffer.
    pub(super) keep: bool,
}

const NAMES: [&str; 6] = ["threads", "deal", "vectors", "unroll", "rest", "keep"];

impl Plan {
    /// Reads and checks a schedule.
    pub(super) fn read(computation: &RowWise, schedule: &Schedule, limits: &Limits) -> Result<Self, Illegal> {
        let reader = Reader::new(schedule, &NAMES)?;
        let lanes = limits.lanes(4);
        if lanes == 0 {
            let what = format!("vectors of {} bytes", limits.vector_bytes);
            return Err(Illegal::Unsupported { target: limits.target.clone(), what });
        }
        let threads = [("none", Threads::None), ("rows", Threads::Rows), ("columns", Threads::Columns)];
        let plan = Self {
            threads: reader.choice("threads", &threads)?,
            deal: reader.choice("deal", &[("block", Deal::Block), ("cyclic", Deal::Cyclic)])?,
            workers: u64::from(limits.workers),
            lanes,
            vectors: reader.number("vectors", 1)?,
            unroll: reader.number("unroll", 1)?.min(64) as u32,
            rest: reader.choice("rest", &[("peel", Rest::Peel), ("mask", Rest::Mask)])?,
            keep: reader.choice("keep", &[("buffer", true), ("recompute", false)])?,
        };
        let most = computation.columns().div_ceil(lanes).next_power_of_two();
        if !matches!(plan.vectors, 1 | 2 | 4 | 8) || plan.vectors > most {
            return Err(allowed("vectors", plan.vectors, format!("1, 2, 4, 8, at most {most}")));
        }
        if !matches!(plan.unroll, 1 | 2 | 4) {
            return Err(allowed("unroll", plan.unroll, "1, 2, 4"));
        }
        if plan.threads == Threads::Columns && !computation.is_element_wise() {
            return Err(conflict("threads", "columns of a row depend on each other"));
        }
        let needed = computation.registers_needed(plan.vectors);
        if needed > limits.vector_registers {
            return Err(Illegal::Registers { needed, available: limits.vector_registers });
        }
        if !plan.keep && !computation.rereads_columns() {
            return Err(conflict("keep", "no later pass reads a value of the columns"));
        }
        Ok(plan)
    }

    /// Columns of one iteration.
    pub(super) fn step(&self) -> u64 {
        self.vectors * self.lanes
    }
}
