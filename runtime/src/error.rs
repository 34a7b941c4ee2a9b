//! What can go wrong on this side of a launch.

use rustix::io::Errno;

/// Why code could not be loaded, memory mapped, or a launch made.
#[derive(Debug, thiserror::Error)]
pub enum RuntimeError {
    /// The system refused a call.
    #[error("{call}: {source}")]
    System {
        /// The call, as in the manual.
        call: &'static str,
        /// The system's answer.
        source: Errno,
    },
    /// The artifact holds no code.
    #[error("the artifact holds no code")]
    EmptyCode,
    /// An entry point lies outside the code.
    #[error("entry `{name}` at offset {offset} lies outside {bytes} bytes of code")]
    EntryOutside {
        /// Name of the entry.
        name: String,
        /// Its offset, bytes.
        offset: u64,
        /// Length of the code, bytes.
        bytes: usize,
    },
    /// The artifact has no entry of this name.
    #[error("no entry named `{0}`")]
    NoEntry(String),
    /// A count of workers that cannot be served.
    #[error("{asked} workers asked for, 1 to {available} available")]
    Workers {
        /// Workers that the pool or kernel was asked for.
        asked: usize,
        /// The most there are.
        available: usize,
    },
    /// The kernel returned with its barrier half full: its workers disagree on the number of barriers.
    #[error("{arrived} workers were left waiting at the kernel's barrier")]
    BarrierLeftOpen {
        /// Arrivals that were never answered.
        arrived: u32,
    },
    /// An alignment that is no power of two, or larger than a page.
    #[error("alignment {0} is not a power of two between 1 and the page size")]
    Alignment(usize),
    /// A size that no mapping can have.
    #[error("{0} bytes cannot be mapped")]
    Size(usize),
    /// The assembler refused one of the crate's own little kernels.
    #[error("assembling a measuring kernel: {0}")]
    Assemble(#[from] iced_x86::IcedError),
}

impl RuntimeError {
    /// For `map_err`: names the system call that was refused.
    pub(crate) fn system(call: &'static str) -> impl Fn(Errno) -> Self {
        move |source| Self::System { call, source }
    }
}
