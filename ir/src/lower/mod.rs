//! Workload and schedule to program, once per family.

pub(crate) mod contraction;
mod reader;
mod row_wise;

use crate::computation::Computation;
use crate::limits::{Illegal, Limits};
use crate::program::Program;
use crate::schedule::Schedule;
use crate::workload::Workload;

/// Lowers a workload under a schedule.
///
/// An absent parameter means the plainest thing: no tiling, no packing, no unrolling. A parameter without
/// effect must be absent, so that one program has one schedule.
///
/// # Errors
/// When the schedule is not legal for the workload on this target.
pub fn lower(workload: &Workload, schedule: &Schedule, limits: &Limits) -> Result<Program, Illegal> {
    let computation = workload.operator().describe(workload.parameters());
    match computation.expect("invariant: a workload is checked when it is made") {
        Computation::Contraction(contraction) => {
            contraction::lower(&contraction, &workload.to_string(), schedule, limits)
        }
        Computation::RowWise(computation) => {
            row_wise::lower(&computation, &workload.to_string(), schedule, limits)
        }
    }
}

/// A good schedule from the target's sizes alone, without search: what a user has before tuning.
pub fn default_schedule(workload: &Workload, limits: &Limits) -> Schedule {
    let computation = workload.operator().describe(workload.parameters());
    match computation.expect("invariant: a workload is checked when it is made") {
        Computation::Contraction(contraction) => contraction::default_schedule(&contraction, limits),
        Computation::RowWise(computation) => row_wise::default_schedule(&computation, limits),
    }
}

/// Schedules of different kinds to begin a search with, the default one first. The others are wishes: where
/// one is not legal, the nearest that is.
pub fn starting_schedules(workload: &Workload, limits: &Limits) -> Vec<Schedule> {
    let computation = workload.operator().describe(workload.parameters());
    match computation.expect("invariant: a workload is checked when it is made") {
        Computation::Contraction(contraction) => contraction::starting_schedules(&contraction, limits),
        Computation::RowWise(computation) => vec![row_wise::default_schedule(&computation, limits)],
    }
}
