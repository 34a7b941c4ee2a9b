use std::sync::Arc;

use tilewright_ir::{Illegal, Limits, Program, Schedule, Workload, legalise, lower};

/// What a schedule becomes before it is evaluated.
#[derive(Debug, Clone)]
pub struct Prepared {
    /// The legalised program; `None` where only names and values are known.
    pub program: Option<Arc<Program>>,
    /// Identity: candidates with one hash are one candidate.
    pub hash: String,
}

/// Turns schedules into what can be compared and evaluated.
pub trait Prepare: Sync {
    /// Prepares one schedule.
    ///
    /// # Errors
    /// When the schedule is not legal.
    fn prepare(&self, schedule: &Schedule) -> Result<Prepared, Illegal>;
}

/// Lowers and legalises for a target.
#[derive(Debug, Clone)]
pub struct Lowering {
    /// What is computed.
    pub workload: Workload,
    /// By what.
    pub limits: Limits,
}

impl Prepare for Lowering {
    fn prepare(&self, schedule: &Schedule) -> Result<Prepared, Illegal> {
        let program = lower(&self.workload, schedule, &self.limits)?;
        let program = legalise(&program, &self.limits)?;
        let hash = program.hash().to_string();
        Ok(Prepared { program: Some(Arc::new(program)), hash })
    }
}

/// For recorded spaces: the values are the identity.
#[derive(Debug, Clone, Copy, Default)]
pub struct ByValues;

impl Prepare for ByValues {
    fn prepare(&self, schedule: &Schedule) -> Result<Prepared, Illegal> {
        Ok(Prepared { program: None, hash: schedule.to_string() })
    }
}
