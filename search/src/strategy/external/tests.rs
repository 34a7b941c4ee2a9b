use std::collections::VecDeque;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

use super::*;
use crate::StrategyEntry;
use crate::synthetic;

/// A program: answers each line it is said, or says nothing.
trait Program: FnMut(&Value, &mut Vec<Value>) -> Option<String> + Send {}
impl<T: FnMut(&Value, &mut Vec<Value>) -> Option<String> + Send> Program for T {}

/// The program's end of both streams. It answers as soon as a line is whole.
struct Said<P> {
    program: P,
    line: Vec<u8>,
    /// What it remembers.
    notes: Vec<Value>,
    answers: Arc<Mutex<VecDeque<u8>>>,
}

struct Answers(Arc<Mutex<VecDeque<u8>>>);

impl<P: Program> Write for Said<P> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if byte == b'\n' {
                let value: Value = serde_json::from_slice(&std::mem::take(&mut self.line)).unwrap();
                if let Some(answer) = (self.program)(&value, &mut self.notes) {
                    self.answers.lock().unwrap().extend(answer.bytes());
                }
            } else {
                self.line.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Answers {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.lock().unwrap().read(into)
    }
}

fn streams(program: impl Program + 'static) -> (Box<dyn Write + Send>, Box<dyn BufRead + Send>) {
    let answers = Arc::new(Mutex::new(VecDeque::new()));
    let said = Said { program, line: Vec::new(), notes: Vec::new(), answers: Arc::clone(&answers) };
    (Box::new(said), Box::new(BufReader::new(Answers(answers))))
}

/// Changes one value of the fastest point it was told of, or draws values without a thought of constraints.
fn climber(said: &Value, notes: &mut Vec<Value>) -> Option<String> {
    notes.push(said.clone());
    if said["say"] != "ask" {
        return None;
    }
    let mut rng = ChaCha8Rng::seed_from_u64(said["seed"].as_u64().unwrap());
    let genes = notes[0]["genes"].as_array().unwrap();
    let told = notes.iter().filter(|it| it["say"] == "tell").flat_map(|it| it["trials"].as_array().unwrap());
    let timed = told.filter(|it| it["time_ns"].is_number());
    let best = timed.min_by(|a, b| a["time_ns"].as_f64().unwrap().total_cmp(&b["time_ns"].as_f64().unwrap()));
    let proposals: Vec<Value> = (0..said["count"].as_u64().unwrap())
        .map(|_| {
            let change = rng.random_range(0..genes.len());
            let choice = |(at, gene): (usize, &Value)| {
                let values = gene["values"].as_array().unwrap();
                let drawn = values[rng.random_range(0..values.len())].clone();
                let name = gene["name"].as_str().unwrap();
                let kept = best.map(|best| best["parameters"][name].clone());
                (name.to_owned(), if at == change { drawn } else { kept.unwrap_or(drawn) })
            };
            Value::Object(genes.iter().enumerate().map(choice).collect())
        })
        .collect();
    Some(json!({ "proposals": proposals }).to_string() + "\n")
}

/// The climber, which ends when it is asked once more than so often.
pub(crate) fn mortal(answers: usize) -> (Box<dyn Write + Send>, Box<dyn BufRead + Send>) {
    let mut left = answers;
    streams(move |said, notes| {
        if said["say"] == "ask" {
            left = left.checked_sub(1)?;
        }
        climber(said, notes)
    })
}

/// The climber as a strategy of the list, for the suite that all strategies go through.
pub(in crate::strategy) const ENTRY: StrategyEntry = StrategyEntry {
    id: External::ID,
    summary: "a program outside",
    create: || {
        let (output, input) = streams(climber);
        Box::new(External::new(output, input))
    },
    restore: |bytes| {
        let (output, input) = streams(climber);
        Ok(Box::new(External::restored(bytes, output, input)?))
    },
};

fn search(external: &mut External, rounds: u64) -> Vec<Proposal> {
    let space = synthetic::space();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut all = Vec::new();
    for round in 0..rounds {
        let proposals = external.ask(&space, 2, &mut rng);
        let judged: Vec<_> = proposals
            .iter()
            .map(|proposal| {
                let schedule = space.decode(&proposal.genome).unwrap();
                synthetic::judged(schedule, round, (round % 5 > 0).then_some(1000.0 - round as f64))
            })
            .collect();
        external.tell(&space, &judged);
        all.extend(proposals);
    }
    all
}

#[test]
fn a_search_is_repeated_from_its_answers_without_the_program_and_continued_with_a_new_one() {
    let (output, input) = streams(climber);
    let mut first = External::new(output, input);
    let proposals = search(&mut first, 20);
    assert_eq!((proposals.len(), first.failure()), (40, None));
    let answers = first.take_answers();
    assert!(answers.len() >= 20 && first.take_answers().is_empty());

    let mut replayed = External::replayed(answers.clone());
    assert_eq!(search(&mut replayed, 20), proposals);
    assert_eq!(replayed.link.dialogue(), first.link.dialogue());
    assert!(replayed.take_answers().is_empty(), "what is recorded is not recorded again");

    let (half, rest) = answers.split_at(10);
    let mut cut = External::replayed(half.to_vec());
    let some = search(&mut cut, 20);
    assert!(some.len() < 40 && some[..] == proposals[..some.len()]);
    assert_eq!(cut.failure(), Some(ExternalError::RecordEnded.to_string()));

    let (output, input) = streams(climber);
    let mut continued = External::continued(half.to_vec(), output, input);
    assert_eq!(search(&mut continued, 20), proposals);
    assert_eq!(continued.take_answers(), rest);
}

#[test]
fn answers_of_another_search_are_refused() {
    let (output, input) = streams(climber);
    let mut first = External::new(output, input);
    search(&mut first, 3);
    let answers = first.take_answers();
    let mut other = External::replayed(answers.clone());
    assert_eq!(other.ask(&synthetic::tiny_space(), 2, &mut ChaCha8Rng::seed_from_u64(8)), []);
    assert!(other.failure().unwrap().contains("another search"), "{:?}", other.failure());
    // The same questions after other news.
    let mut told = External::replayed(answers);
    let space = synthetic::space();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    assert_eq!(told.ask(&space, 2, &mut rng).len(), 2);
    told.tell(&space, &[synthetic::judged(synthetic::default_schedule(), 0, Some(3.0))]);
    assert_eq!(told.ask(&space, 2, &mut rng), []);
    assert!(told.failure().unwrap().contains("another search"), "{:?}", told.failure());
}

#[test]
fn a_program_that_ends_or_talks_nonsense_ends_the_search_with_a_reason() {
    for (answer, reason) in [
        (None, "ended"),
        (Some("{\"proposals\":["), "ended"),
        (Some("hello\n"), "hello"),
        (Some("{\"proposals\":[{\"rows\":-1.5}]}\n"), "-1.5"),
        (Some("\0\u{fffd}\n"), "answered"),
    ] {
        let (output, input) = streams(move |_: &Value, _: &mut Vec<Value>| answer.map(str::to_owned));
        let mut external = External::new(output, input);
        assert_eq!(search(&mut external, 3), []);
        let failure = external.failure().unwrap();
        assert!(failure.contains(reason), "{failure}");
    }
}

// U120
#[test]
fn illegal_and_repeated_proposals_are_refused_with_a_reason_and_replaced() {
    let program = |said: &Value, _: &mut Vec<Value>| {
        let known =
            json!({"rows": 4, "columns": 8, "steps": 64, "unroll": 1, "pack": "none", "order": "mnk"});
        let illegal = json!({"rows": 64, "columns": 64, "unheard_of": 1});
        let answer = json!({ "proposals": [known, illegal, known] });
        (said["say"] == "ask").then(|| answer.to_string() + "\n")
    };
    let (output, input) = streams(program);
    let mut external = External::new(output, input);
    let proposals = external.ask(&synthetic::space(), 3, &mut ChaCha8Rng::seed_from_u64(1));
    let different: BTreeSet<_> = proposals.iter().map(|proposal| &proposal.genome).collect();
    assert_eq!((proposals.len(), different.len()), (3, 3));
    let second = &external.link.dialogue()[2].said;
    assert!(second.contains("not a legal point") && second.contains("before"), "{second}");
}
