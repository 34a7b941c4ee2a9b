//! Workload and schedule to program, once per family.

use crate::limits::{Illegal, Limits};
use crate::program::Program;
use crate::schedule::Schedule;
use crate::workload::Workload;

/// Lowers a workload under a schedule; absent parameters have the defaults of the family.
///
/// # Errors
/// When the schedule is not legal for the workload on this target.
pub fn lower(workload: &Workload, schedule: &Schedule, limits: &Limits) -> Result<Program, Illegal> {
    let _ = (workload, schedule, limits);
    Err(Illegal::Unsupported { target: limits.target.clone(), what: "every family".to_owned() })
}
