//! Runs bodies: loops, conditions, and the instances of a resource with their barriers.
//!
//! A task keeps its position in frames of its own rather than on the stack, so that an instance can stop at a
//! barrier that others have yet to reach.

use rand::RngExt;

use super::error::InterpretError;
use super::machine::{Machine, Worker};
use super::plan::{LoopStep, Over, Step};
use crate::program::{Count, Deal, Dimension};

/// Why a task stopped.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Nothing is left to do.
    Done,
    /// Waits at a barrier of the scope instance at this depth around it.
    Barrier(usize),
}

enum Frame<'p> {
    Body {
        steps: &'p [Step<'p>],
        next: usize,
    },
    /// A loop without mapping; `fresh` before its first iteration.
    Repeat {
        step: &'p LoopStep<'p>,
        fresh: bool,
    },
    /// One instance's iterations of a dealt loop: values of the loop's variables, one group an iteration.
    Share {
        step: &'p LoopStep<'p>,
        iterations: Vec<i64>,
        next: usize,
        dynamic: bool,
    },
    /// A dealt loop, seen from outside.
    Instances {
        children: Vec<(Task<'p>, Pause)>,
    },
}

/// A scope instance with its position in the program.
pub(super) struct Task<'p> {
    pub(super) worker: Worker,
    frames: Vec<Frame<'p>>,
}

impl<'p> Task<'p> {
    /// At the start of a body.
    pub(super) fn new(worker: Worker, steps: &'p [Step<'p>]) -> Self {
        Self { worker, frames: vec![Frame::Body { steps, next: 0 }] }
    }

    /// Runs to the end, or to a barrier of a scope around this task's.
    pub(super) fn run(&mut self, machine: &mut Machine<'_>) -> Result<Pause, InterpretError> {
        machine.refresh(&mut self.worker);
        loop {
            let Some(frame) = self.frames.last_mut() else { return Ok(Pause::Done) };
            match frame {
                Frame::Body { steps, next } => match steps.get(*next) {
                    None => drop(self.frames.pop()),
                    Some(step) => {
                        *next += 1;
                        let pause = self.step(step, machine)?;
                        if pause != Pause::Done {
                            return Ok(pause);
                        }
                    }
                },
                Frame::Repeat { step, fresh } => {
                    let step = *step;
                    let started = std::mem::replace(fresh, false);
                    if advance(&step.source.dimensions, started, machine, &mut self.worker)? {
                        self.frames.push(Frame::Body { steps: &step.body, next: 0 });
                    } else {
                        self.frames.pop();
                    }
                }
                Frame::Share { step, iterations, next, dynamic } => {
                    let step = *step;
                    let width = step.source.dimensions.len();
                    match iterations.get(*next..*next + width) {
                        Some(values) => {
                            *next += width;
                            for (dimension, &value) in step.source.dimensions.iter().zip(values) {
                                self.worker.values[dimension.variable.0 as usize] = value;
                            }
                            if *dynamic {
                                *self.worker.race_path.last_mut().expect("invariant: inside a resource") =
                                    machine.order.unique();
                                machine.refresh(&mut self.worker);
                            }
                            self.frames.push(Frame::Body { steps: &step.body, next: 0 });
                        }
                        None => drop(self.frames.pop()),
                    }
                }
                Frame::Instances { children } => {
                    let pause = run_instances(children, &self.worker, machine)?;
                    machine.refresh(&mut self.worker);
                    if pause != Pause::Done {
                        return Ok(pause);
                    }
                    self.frames.pop();
                }
            }
        }
    }

    fn step(&mut self, step: &'p Step<'p>, machine: &mut Machine<'_>) -> Result<Pause, InterpretError> {
        match step {
            Step::Declare(buffer) => machine.declare(*buffer, &self.worker),
            Step::Loop(repeated) => {
                let frame = match &repeated.over {
                    None => Frame::Repeat { step: repeated, fresh: true },
                    Some(over) => Frame::Instances { children: self.deal(repeated, over, machine)? },
                };
                self.frames.push(frame);
            }
            Step::When { condition, then, otherwise } => {
                let steps = if machine.holds(condition, &self.worker)? { then } else { otherwise };
                self.frames.push(Frame::Body { steps, next: 0 });
            }
            Step::Instruction(instruction) => machine.execute(instruction, &mut self.worker)?,
            Step::Barrier(depth) if *depth < self.worker.path.len() => return Ok(Pause::Barrier(*depth)),
            Step::Barrier(depth) => {
                machine.join(&self.worker, *depth);
                machine.refresh(&mut self.worker);
            }
        }
        Ok(Pause::Done)
    }

    /// Deals the iterations of a loop to instances.
    fn deal(
        &mut self,
        step: &'p LoopStep<'p>,
        over: &Over,
        machine: &mut Machine<'_>,
    ) -> Result<Vec<(Task<'p>, Pause)>, InterpretError> {
        let dimensions = &step.source.dimensions;
        let mut all = Vec::new();
        let mut fresh = true;
        while advance(dimensions, std::mem::replace(&mut fresh, false), machine, &mut self.worker)? {
            all.extend(dimensions.iter().map(|dimension| self.worker.values[dimension.variable.0 as usize]));
        }
        let count = all.len() / dimensions.len();
        let between = &machine.program.resources[self.worker.path.len()..=over.resource];
        let counts: Vec<u64> = between
            .iter()
            .map(|resource| match resource.count {
                Count::Fixed(instances) => instances,
                Count::Grid => count as u64,
            })
            .collect();
        let grid = between.iter().any(|resource| resource.count == Count::Grid);
        let instances = counts.iter().product::<u64>() as usize;
        if instances == 0 {
            return Ok(Vec::new());
        }
        let mut shares = vec![Vec::new(); instances];
        let run = count.div_ceil(instances).max(1);
        for (iteration, values) in all.chunks_exact(dimensions.len()).enumerate() {
            let instance = match over.deal {
                // One iteration for each instance of a grid.
                _ if grid => iteration,
                Deal::Block => iteration / run,
                Deal::Cyclic => iteration % instances,
                Deal::Dynamic => machine.rng.random_range(0..instances),
            };
            shares[(instance + over.first as usize) % instances].extend_from_slice(values);
        }
        let children = shares.into_iter().enumerate().map(|(instance, iterations)| {
            let mut worker = self.worker.clone();
            let mut numbers: Vec<u32> = Vec::with_capacity(counts.len());
            let mut rest = instance as u64;
            for &count in counts.iter().rev() {
                numbers.push((rest % count) as u32);
                rest /= count;
            }
            numbers.reverse();
            worker.path.extend(&numbers);
            worker.race_path.extend(&numbers);
            let dynamic = over.deal == Deal::Dynamic;
            let frames = vec![Frame::Share { step, iterations, next: 0, dynamic }];
            // Not started yet: as if released from a barrier of the device.
            (Task { worker, frames }, Pause::Barrier(0))
        });
        Ok(children.collect())
    }
}

/// Moves to the first (`fresh`) or the next iteration; the last dimension runs fastest.
fn advance(
    dimensions: &[Dimension],
    fresh: bool,
    machine: &mut Machine<'_>,
    worker: &mut Worker,
) -> Result<bool, InterpretError> {
    let (mut at, mut enter) = if fresh { (0, true) } else { (dimensions.len() - 1, false) };
    loop {
        let dimension = &dimensions[at];
        let variable = dimension.variable.0 as usize;
        worker.values[variable] = if enter {
            machine.index(&dimension.start, worker)?
        } else {
            worker.values[variable] + dimension.step as i64
        };
        enter = worker.values[variable] < machine.bound(&dimension.stop, worker)?;
        match (enter, at) {
            (true, _) if at + 1 == dimensions.len() => return Ok(true),
            (true, _) => at += 1,
            (false, 0) => return Ok(false),
            (false, _) => at -= 1,
        }
    }
}

/// Runs all instances of a loop until they are done, or wait at a barrier around the worker's scope.
fn run_instances(
    children: &mut [(Task<'_>, Pause)],
    worker: &Worker,
    machine: &mut Machine<'_>,
) -> Result<Pause, InterpretError> {
    let here = worker.path.len();
    let mut ready: Vec<usize> = (0..children.len()).collect();
    loop {
        for last in (1..ready.len()).rev() {
            ready.swap(last, machine.rng.random_range(0..=last));
        }
        for &child in &ready {
            let (task, pause) = &mut children[child];
            if *pause != Pause::Done {
                *pause = task.run(machine)?;
            }
        }
        let waiting = children.iter().filter_map(|(_, pause)| match pause {
            Pause::Barrier(depth) => Some(*depth),
            Pause::Done => None,
        });
        // The innermost barrier first: what waits further out may depend on it.
        let Some(depth) = waiting.max() else { return Ok(Pause::Done) };
        ready.clear();
        for leader in 0..children.len() {
            let path = &children[leader].0.worker.path[..depth];
            let group = |child: &(Task<'_>, Pause)| child.0.worker.path.starts_with(path);
            let is_first = !children[..leader].iter().any(group);
            let arrived =
                children.iter().filter(|child| group(child) && child.1 == Pause::Barrier(depth)).count();
            if !is_first || arrived == 0 {
                continue;
            }
            let of = children.iter().filter(|child| group(child)).count();
            if arrived != of {
                return Err(InterpretError::UnequalBarrier { scope: machine.scope_name(depth), arrived, of });
            }
            ready.extend((0..children.len()).filter(|&child| group(&children[child])));
            if depth >= here {
                machine.join(&children[leader].0.worker, depth);
            }
        }
        if depth < here {
            return Ok(Pause::Barrier(depth));
        }
    }
}
