//! What coordinator and worker say to each other: frames of eight words over a socket.
//!
//! A request may be followed by more; the worker answers all of them together after the one marked last, one
//! reply each. Once one fails, those behind it are answered by the same failure and not carried out. Code
//! and samples lie in shared memory, see [`crate::shared_layout`]. The last word of a frame is the number of the
//! exchange, which answers repeat: an answer that somebody else has written ahead does not pass for one.

use std::io::{self, Read, Write};

const WORDS: usize = 8;
const FRAME_BYTES: usize = WORDS * 8;

/// Which loaded kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Slot {
    Incumbent,
    Candidate,
}

/// What runs before the first pair and is not reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WarmUp {
    /// Nothing.
    None,
    /// One sample of the side that does not begin, so that the first sample follows the other side's.
    Second,
    /// One sample of each side.
    Both,
}

/// Interleaved samples of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TimePlan {
    /// Pairs of samples, 1 to 64.
    pub(crate) pairs: u32,
    /// Launches of one sample of the incumbent and of the candidate, at least 1.
    pub(crate) launches: [u32; 2],
    /// Bit `i` is set when the candidate goes first in pair `i`.
    pub(crate) candidate_first: u64,
    /// Pair at which the candidate's output is cleared before a launch and kept after it.
    pub(crate) checked_pair: u32,
    pub(crate) warm_up: WarmUp,
    /// Whether operands are flushed from the caches before each launch.
    pub(crate) cold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Request {
    /// Puts the code in shared memory into a slot.
    Load { slot: Slot, code_bytes: u64, entry: u64, workers: u64, workspace_bytes: u64 },
    /// Puts the function of the user's library into a slot; loads the library at the first time.
    LoadLibrary { slot: Slot, workers: u64, workspace_bytes: u64 },
    /// Runs once on a set of inputs, for the coordinator to check; then, on the set of timed launches, up to
    /// `repeats` times more for a first impression of its time, as long as launches are shorter than this.
    Verify { slot: Slot, set: u32, repeats: u32, repeat_below_ns: u64 },
    /// Samples both sides in turns; the samples lie in shared memory, incumbent and candidate alternating.
    Time(TimePlan),
    /// One sample of one side after a launch that warms up, as the coordinator's clock is to bracket it; what the
    /// last launch leaves is kept for the coordinator. Unless `disturb` is 0, it seeds which element of the output is
    /// overwritten before each launch.
    Sample { slot: Slot, launches: u32, cold: bool, disturb: u64 },
    /// Times launches of one slot one by one.
    Latency { slot: Slot, launches: u32, cold: bool },
    /// Measures the multiply-add ceiling for at least this long, and the read bandwidth of this many bytes.
    Ceiling { footprint_bytes: u64, sample_ns: u64 },
    /// Does nothing.
    Ping,
}

/// Why a request was not carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The system refused memory.
    OutOfMemory,
    /// The kernel stored behind its workspace.
    WorkspaceOverrun,
    /// Anything else; the text lies in shared memory.
    Other,
    /// The kernel left state changed that is not its own; the text says which.
    StateChanged,
}

/// The numbers of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct Reply {
    /// Nanoseconds inside the launches that were to be timed.
    pub(crate) timed_ns: u64,
    /// Nanoseconds inside all launches.
    pub(crate) kernel_ns: u64,
    /// Launches.
    pub(crate) launches: u64,
    /// Further results: shortest launch of a verification; of a ceiling GFLOP/s on all workers and on one, and
    /// GB/s.
    pub(crate) values: [f64; 3],
}

pub(crate) type Answer = Result<Reply, Refusal>;

type Words = [u64; WORDS];

fn read_words(stream: &mut impl Read) -> io::Result<Words> {
    let mut bytes = [0; FRAME_BYTES];
    stream.read_exact(&mut bytes)?;
    let mut words = [0; WORDS];
    for (word, chunk) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*chunk);
    }
    Ok(words)
}

fn push_words(bytes: &mut Vec<u8>, words: Words) {
    bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
}

fn slot(word: u64) -> Slot {
    if word == 0 { Slot::Incumbent } else { Slot::Candidate }
}

fn malformed() -> io::Error {
    io::Error::from(io::ErrorKind::InvalidData)
}

/// Sends requests that are answered together, in the exchange of this number.
pub(crate) fn send_requests(stream: &mut impl Write, requests: &[Request], exchange: u64) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(requests.len() * FRAME_BYTES);
    for (at, request) in requests.iter().enumerate() {
        let (operation, arguments) = match *request {
            Request::Load { slot, code_bytes, entry, workers, workspace_bytes } => {
                (0, [slot as u64, code_bytes, entry, workers, workspace_bytes, 0])
            }
            Request::Verify { slot, set, repeats, repeat_below_ns } => {
                (1, [slot as u64, set.into(), repeats.into(), repeat_below_ns, 0, 0])
            }
            Request::Time(plan) => {
                let [incumbent, candidate] = plan.launches.map(u64::from);
                let flags = plan.warm_up as u64 | u64::from(plan.cold) << 8;
                let order = plan.candidate_first;
                (2, [plan.pairs.into(), incumbent, candidate, order, plan.checked_pair.into(), flags])
            }
            Request::Latency { slot, launches, cold } => {
                (3, [slot as u64, launches.into(), cold.into(), 0, 0, 0])
            }
            Request::Ceiling { footprint_bytes, sample_ns } => (4, [footprint_bytes, sample_ns, 0, 0, 0, 0]),
            Request::Ping => (5, [0; 6]),
            Request::LoadLibrary { slot, workers, workspace_bytes } => {
                (6, [slot as u64, workers, workspace_bytes, 0, 0, 0])
            }
            Request::Sample { slot, launches, cold, disturb } => {
                (7, [slot as u64, launches.into(), cold.into(), disturb, 0, 0])
            }
        };
        let last = u64::from(at + 1 == requests.len());
        let mut words = [0; WORDS];
        words[0] = operation | last << 32;
        words[1..7].copy_from_slice(&arguments);
        words[7] = exchange;
        push_words(&mut bytes, words);
    }
    stream.write_all(&bytes)
}

/// Receives one request, whether it is the last of those that are answered together, and the number of the exchange.
pub(crate) fn receive_request(stream: &mut impl Read) -> io::Result<(Request, bool, u64)> {
    let [head, a, b, c, d, e, f, exchange] = read_words(stream)?;
    let request = match head & 0xFFFF_FFFF {
        0 => Request::Load { slot: slot(a), code_bytes: b, entry: c, workers: d, workspace_bytes: e },
        1 => Request::Verify { slot: slot(a), set: b as u32, repeats: c as u32, repeat_below_ns: d },
        2 => Request::Time(TimePlan {
            pairs: a as u32,
            launches: [b as u32, c as u32],
            candidate_first: d,
            checked_pair: e as u32,
            warm_up: match f & 0xFF {
                0 => WarmUp::None,
                1 => WarmUp::Second,
                2 => WarmUp::Both,
                _ => return Err(malformed()),
            },
            cold: f >> 8 != 0,
        }),
        3 => Request::Latency { slot: slot(a), launches: b as u32, cold: c != 0 },
        4 => Request::Ceiling { footprint_bytes: a, sample_ns: b },
        5 => Request::Ping,
        6 => Request::LoadLibrary { slot: slot(a), workers: b, workspace_bytes: c },
        7 => Request::Sample { slot: slot(a), launches: b as u32, cold: c != 0, disturb: d },
        _ => return Err(malformed()),
    };
    Ok((request, head >> 32 != 0, exchange))
}

/// Sends all answers of an exchange.
pub(crate) fn send_answers(stream: &mut impl Write, answers: &[Answer], exchange: u64) -> io::Result<()> {
    let mut bytes = Vec::with_capacity(answers.len() * FRAME_BYTES);
    for answer in answers {
        let mut words = [0; WORDS];
        match answer {
            Ok(reply) => {
                words[1..4].copy_from_slice(&[reply.timed_ns, reply.kernel_ns, reply.launches]);
                words[4..7].copy_from_slice(&reply.values.map(f64::to_bits));
            }
            Err(refusal) => words[0] = 1 + *refusal as u64,
        }
        words[7] = exchange;
        push_words(&mut bytes, words);
    }
    stream.write_all(&bytes)
}

/// Receives one answer in the exchange of this number.
pub(crate) fn receive_answer(stream: &mut impl Read, exchange: u64) -> io::Result<Answer> {
    let [status, timed_ns, kernel_ns, launches, first, second, third, of] = read_words(stream)?;
    if of != exchange {
        return Err(malformed());
    }
    match status {
        0 => Ok(Ok(Reply {
            timed_ns,
            kernel_ns,
            launches,
            values: [first, second, third].map(f64::from_bits),
        })),
        1 => Ok(Err(Refusal::OutOfMemory)),
        2 => Ok(Err(Refusal::WorkspaceOverrun)),
        3 => Ok(Err(Refusal::Other)),
        4 => Ok(Err(Refusal::StateChanged)),
        _ => Err(malformed()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // U063
    #[test]
    fn requests_and_answers_survive_the_way() {
        let plan = TimePlan {
            pairs: 9,
            launches: [4, 1],
            candidate_first: 0b1_0110,
            checked_pair: 3,
            warm_up: WarmUp::Second,
            cold: true,
        };
        let requests = [
            Request::Load { slot: Slot::Candidate, code_bytes: 1, entry: 2, workers: 3, workspace_bytes: 4 },
            Request::Verify { slot: Slot::Incumbent, set: 2, repeats: 5, repeat_below_ns: 6 },
            Request::Time(plan),
            Request::Latency { slot: Slot::Candidate, launches: 1000, cold: false },
            Request::Ceiling { footprint_bytes: 1 << 40, sample_ns: 1 << 30 },
            Request::LoadLibrary { slot: Slot::Candidate, workers: 2, workspace_bytes: 3 },
            Request::Sample { slot: Slot::Candidate, launches: 7, cold: true, disturb: 11 },
            Request::Ping,
        ];
        let mut wire = Vec::new();
        send_requests(&mut wire, &requests, 99).unwrap();
        let mut reader = wire.as_slice();
        for (at, request) in requests.iter().enumerate() {
            assert_eq!(receive_request(&mut reader).unwrap(), (*request, at == 7, 99));
        }
        let reply = Reply { timed_ns: 1, kernel_ns: 2, launches: 3, values: [4.5, f64::INFINITY, -1.0] };
        let answers: [Answer; 5] = [
            Ok(reply),
            Err(Refusal::OutOfMemory),
            Err(Refusal::WorkspaceOverrun),
            Err(Refusal::Other),
            Err(Refusal::StateChanged),
        ];
        let mut wire = Vec::new();
        send_answers(&mut wire, &answers, 3).unwrap();
        let mut reader = wire.as_slice();
        for answer in answers {
            assert_eq!(receive_answer(&mut reader, 3).unwrap(), answer);
        }
        assert!(receive_answer(&mut wire.as_slice(), 4).is_err(), "an answer of another exchange");
    }

    // U050, U063
    #[test]
    fn a_malformed_frame_is_an_error() {
        assert!(receive_request(&mut [0xFF; FRAME_BYTES].as_slice()).is_err());
        assert!(receive_answer(&mut [0xFF; FRAME_BYTES].as_slice(), u64::MAX).is_err());
        assert!(receive_request(&mut [0; 10].as_slice()).is_err());
    }
}
