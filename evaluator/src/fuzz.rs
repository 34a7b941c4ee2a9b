//! Hostile words between coordinator and worker: an error, or a message that is said the same way again.

use tilewright_fuzz::Fuzz;

use crate::protocol::{
    Answer, Refusal, Reply, Request, Slot, TimePlan, WarmUp, receive_answer, receive_request, send_answers,
    send_requests,
};
use crate::worker::WorkerArguments;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

/// Number of an exchange.
const EXCHANGE: u64 = 7;

#[test]
fn fuzzed_requests_are_refused_or_understood() {
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
        Request::Ping,
    ];
    let mut wire = Vec::new();
    send_requests(&mut wire, &requests, EXCHANGE).expect("memory takes all");
    Fuzz::new(HERE, "requests").seed(wire).run(|mut bytes| {
        while let Ok((request, _, exchange)) = receive_request(&mut bytes) {
            let mut wire = Vec::new();
            send_requests(&mut wire, &[request], exchange).expect("memory takes all");
            assert_eq!(
                receive_request(&mut wire.as_slice()).expect("it was sent"),
                (request, true, exchange)
            );
        }
    });
}

#[test]
fn fuzzed_answers_are_refused_or_understood() {
    let reply = Reply { timed_ns: 1, kernel_ns: 2, launches: 3, values: [4.5, f64::INFINITY, -1.0] };
    let answers: [Answer; 4] =
        [Ok(reply), Err(Refusal::OutOfMemory), Err(Refusal::WorkspaceOverrun), Err(Refusal::Other)];
    let mut wire = Vec::new();
    send_answers(&mut wire, &answers, EXCHANGE).expect("memory takes all");
    Fuzz::new(HERE, "answers").seed(wire).run(|mut bytes| {
        while let Ok(answer) = receive_answer(&mut bytes, EXCHANGE) {
            let mut wire = Vec::new();
            send_answers(&mut wire, &[answer], EXCHANGE).expect("memory takes all");
            let again = receive_answer(&mut wire.as_slice(), EXCHANGE).expect("it was sent");
            // Two numbers that are none are not equal.
            assert_eq!(format!("{again:?}"), format!("{answer:?}"));
        }
    });
}

#[test]
fn fuzzed_arguments_of_a_worker_are_refused_or_read_back() {
    let seeds = ["1;2;3;4;5;6:1000:4:end:input,7:1000:64:end:output;8:10:4:start:update", "1;1;1;0;1"];
    seeds.iter().fold(Fuzz::new(HERE, "arguments"), Fuzz::seed).run(|bytes| {
        if let Some(arguments) = WorkerArguments::parse(&String::from_utf8_lossy(bytes)) {
            assert_eq!(WorkerArguments::parse(&arguments.format()), Some(arguments));
        }
    });
}
