//! What the end of a worker says about the kernel that it ran.

use tilewright_ir::program::Role;
use tilewright_journal::EvalError;

use super::memory::StandSet;
use crate::process::Ended;
use crate::shared_layout::ResultArea;

/// Strays farther from every operand than this are plain crashes, bytes.
const NEAR: u64 = 1 << 20;

/// The failure of a kernel whose worker ended.
pub(super) fn failure(
    ended: Ended,
    limit_ms: u64,
    area: &ResultArea,
    sets: &[StandSet],
    names: &[String],
) -> EvalError {
    // What the incumbent did is not the candidate's fault.
    if area.running() == 1 && ended != Ended::Timeout {
        return EvalError::Lost(format!("the incumbent ended the worker ({ended:?})"));
    }
    match ended {
        Ended::Timeout | Ended::Signal(libc::SIGXCPU) => EvalError::Timeout { limit_ms },
        Ended::Signal(signal @ (libc::SIGSEGV | libc::SIGBUS)) => {
            stray(area, sets, names).map_or(EvalError::Crashed { signal }, EvalError::OutOfBounds)
        }
        // Nobody here kills a worker that is to answer: the system was out of memory.
        Ended::Signal(libc::SIGKILL) => EvalError::OutOfMemory,
        Ended::Signal(signal) => EvalError::Crashed { signal },
        Ended::Exit(code) => EvalError::Lost(format!("the worker exited with status {code:?}")),
    }
}

/// Where the access that faulted went, when that is near an operand.
fn stray(area: &ResultArea, sets: &[StandSet], names: &[String]) -> Option<String> {
    let address = area.fault()?.address;
    let operands = sets.iter().flat_map(|set| set.arguments().iter().zip(names));
    let distances = operands.enumerate().filter_map(|(region, (argument, name))| {
        let (start, bytes) = area.region(region);
        let end = start.checked_add(bytes)?;
        let (distance, place) = if address < start {
            (start - address, format!("{} bytes before `{name}`", start - address))
        } else if address >= end {
            (address - end, format!("{} bytes behind the end of `{name}`", address - end))
        } else if argument.role == Role::Input {
            (0, format!("store to input `{name}`"))
        } else {
            return None;
        };
        (start != 0).then_some((distance, place))
    });
    distances
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| *distance < NEAR)
        .map(|(_, place)| place)
}
