//! A worker process with what it shares with the coordinator.

use std::path::PathBuf;

use tilewright_codegen::Artifact;
use tilewright_runtime::sandbox::Measure;

use crate::process::{LibrarySource, WorkerProcess};
use crate::process_state::ProcessState;
use crate::shared_layout::ResultArea;

/// The kernel of a user: a function of a library, called like a generated kernel
/// (`evaluator/include/tilewright_kernel.h`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserKernel {
    /// The library, an absolute path.
    pub library: PathBuf,
    /// Name of the function.
    pub symbol: String,
    /// Scratch memory that it asks for, bytes.
    pub workspace_bytes: u64,
}

/// Which measures confine the workers, and why others do not.
#[derive(Debug, Clone, PartialEq, Eq, Default, serde::Serialize)]
pub struct Isolation {
    /// Names of measures in force.
    pub applied: Vec<&'static str>,
    /// Measures that this system refuses, with its reason.
    pub refused: Vec<String>,
}

impl Isolation {
    /// Whether everything that keeps a hostile kernel in is in force.
    pub fn is_complete(&self) -> bool {
        let needed =
            [Measure::NoFiles, Measure::FewSystemCalls, Measure::SealedMemory, Measure::NoNewPrivileges];
        needed.iter().all(|measure| self.applied.contains(&measure.name()))
    }
}

/// One worker.
pub(super) struct Seat {
    pub(super) worker: Option<WorkerProcess>,
    pub(super) area: ResultArea,
    /// The library that it loads.
    pub(super) library: Option<UserKernel>,
    /// What it was like when it was fresh.
    pub(super) fresh: ProcessState,
    /// Address space when it was fresh, bytes.
    pub(super) fresh_memory_bytes: u64,
}

impl Seat {
    pub(super) fn new(area: ResultArea, library: Option<UserKernel>) -> Self {
        Self { worker: None, area, library, fresh: ProcessState::default(), fresh_memory_bytes: 0 }
    }

    pub(super) fn source(&self) -> Option<LibrarySource> {
        let UserKernel { library, symbol, .. } = self.library.as_ref()?;
        Some(LibrarySource { path: library.clone(), symbol: symbol.clone() })
    }

    /// What the worker told of itself when it started.
    pub(super) fn isolation(&self) -> Isolation {
        let measures = self.area.measures();
        let applied = Measure::ALL.iter().enumerate().filter(|(at, _)| measures >> at & 1 == 1);
        Isolation {
            applied: applied.map(|(_, measure)| measure.name()).collect(),
            refused: self.area.message().lines().map(str::to_owned).collect(),
        }
    }
}

/// What is to be verified and timed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Subject<'code> {
    /// Generated code.
    Generated(&'code Artifact),
    /// The stand's library, launched on so many workers.
    Library {
        /// Workers of a launch.
        workers: u32,
    },
}
