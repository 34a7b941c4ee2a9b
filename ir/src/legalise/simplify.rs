//! Peels rests, inlines loops of one iteration, and drops what always or never holds.

use super::substitute::Bindings;
use crate::affine::{Affine, Bound, Constraint, Index};
use crate::limits::{Illegal, Limits};
use crate::program::{Deal, Dimension, Entry, Instruction, Loop, Mapping, Program, Rest, Statement};
use crate::range::Ranges;

/// The program with every rest and every bound resolved as far as its constants allow.
pub(super) fn simplify(program: &Program, limits: &Limits) -> Result<Program, Illegal> {
    let mut ranges = Ranges::default();
    for extent in &program.extents {
        ranges.push_constant(extent.variable, extent.range.0 as i64, extent.range.1 as i64);
    }
    let mut pass = Simplifier { program, limits, ranges, bindings: Bindings::default() };
    let mut entries = Vec::with_capacity(program.entries.len());
    for entry in &program.entries {
        let phases = entry.phases.iter().map(|phase| pass.body(phase)).collect::<Result<_, _>>()?;
        entries.push(Entry { name: entry.name.clone(), phases });
    }
    Ok(Program {
        name: program.name.clone(),
        variables: program.variables.clone(),
        extents: program.extents.clone(),
        tensors: program.tensors.clone(),
        resources: program.resources.clone(),
        buffers: program.buffers.clone(),
        entries,
    })
}

struct Simplifier<'a> {
    program: &'a Program,
    limits: &'a Limits,
    ranges: Ranges,
    bindings: Bindings,
}

impl Simplifier<'_> {
    fn body(&mut self, body: &[Statement]) -> Result<Vec<Statement>, Illegal> {
        let mut result = Vec::with_capacity(body.len());
        for statement in body {
            match statement {
                Statement::Buffer(_) | Statement::Barrier { .. } => result.push(statement.clone()),
                Statement::Loop(repeated) => self.repeat(repeated, &mut result)?,
                Statement::When { condition, then, otherwise } => {
                    match self.condition(&self.bindings.constraints(condition)) {
                        Truth::Always => result.extend(self.body(then)?),
                        Truth::Never => result.extend(self.body(otherwise)?),
                        Truth::Depends(condition) => {
                            let (then, otherwise) = (self.body(then)?, self.body(otherwise)?);
                            if !then.is_empty() || !otherwise.is_empty() {
                                result.push(Statement::When { condition, then, otherwise });
                            }
                        }
                    }
                }
                Statement::Instruction(instruction) => {
                    result.extend(self.instruction(instruction).map(Statement::Instruction));
                }
            }
        }
        Ok(result)
    }

    fn repeat(&mut self, repeated: &Loop, result: &mut Vec<Statement>) -> Result<(), Illegal> {
        let [only] = repeated.dimensions.as_slice() else {
            return self.repeat_product(repeated, result);
        };
        let mut dimension = self.bindings.dimension(only);
        dimension.stop = self.least_of(&dimension.stop);
        let Some(length) = length(&dimension) else {
            if dimension.rest == Rest::Peel && dimension.step != 1 {
                return Err(self.no_fixed_extent(&dimension));
            }
            return self.emit(repeated, 0, dimension, result);
        };
        if length <= 0 {
            return Ok(());
        }
        let step = dimension.step as i64;
        let (whole, rest) = (length / step * step, length % step);
        if rest == 0 || dimension.rest != Rest::Peel {
            if rest == 0 {
                dimension.rest = Rest::Peel;
            }
            return self.emit(repeated, 0, dimension, result);
        }
        let start = dimension.start.clone();
        let mut first = 0;
        if whole > 0 {
            let main = Dimension { stop: vec![shifted(&start, whole)], ..dimension.clone() };
            self.emit(repeated, 0, main, result)?;
            first = self.turn_after(repeated, (whole / step) as u64);
        }
        let tail = Dimension {
            start: shifted(&start, whole),
            stop: vec![shifted(&start, length)],
            step: rest as u64,
            ..dimension
        };
        self.emit(repeated, first, tail, result)
    }

    /// The instance whose turn it is after `iterations` iterations of a dealt loop.
    fn turn_after(&self, repeated: &Loop, iterations: u64) -> u64 {
        let Some(mapping) = &repeated.over else { return 0 };
        let Some(instances) = self.program.resource_count(&mapping.resource) else { return 0 };
        let turn = match mapping.deal {
            Deal::Cyclic => iterations,
            Deal::Block => iterations / iterations.div_ceil(instances),
            Deal::Dynamic => 0,
        };
        (mapping.first + turn) % instances
    }

    /// Emits a loop of one dimension whose rest needs no peeling any more; its first iteration is dealt
    /// `turns` instances later than the loop says.
    fn emit(
        &mut self,
        repeated: &Loop,
        turns: u64,
        dimension: Dimension,
        result: &mut Vec<Statement>,
    ) -> Result<(), Illegal> {
        let iterations = length(&dimension).map(|length| (length as u64).div_ceil(dimension.step));
        // Inside a single iteration the variable is known, also where the iteration is dealt to one instance:
        // the rest of a thread's share is peeled by it.
        let known = dimension.start.as_affine().filter(|_| iterations == Some(1));
        if let Some(start) = known {
            self.bindings.push(dimension.variable, start.clone());
        }
        let alone = known.is_some() && repeated.over.is_none();
        if !alone {
            self.ranges.push_loop(&dimension);
        }
        let body = self.body(&repeated.body);
        if !alone {
            self.ranges.pop();
        }
        if known.is_some() {
            self.bindings.pop();
        }
        let body = body?;
        if alone {
            result.extend(body);
        } else if !body.is_empty() {
            let unroll = iterations.map_or(repeated.unroll, |count| repeated.unroll.min(count as u32)).max(1);
            let first = |mapping: &Mapping| match turns {
                0 => mapping.first,
                turns => turns,
            };
            let over =
                repeated.over.as_ref().map(|mapping| Mapping { first: first(mapping), ..mapping.clone() });
            let prefetch = repeated.prefetch.clone();
            result.push(Statement::Loop(Loop { dimensions: vec![dimension], over, unroll, prefetch, body }));
        }
        Ok(())
    }

    /// A loop of several dimensions keeps its form: its rests must not need peeling.
    fn repeat_product(&mut self, repeated: &Loop, result: &mut Vec<Statement>) -> Result<(), Illegal> {
        let mut dimensions = Vec::with_capacity(repeated.dimensions.len());
        for dimension in &repeated.dimensions {
            let mut dimension = self.bindings.dimension(dimension);
            dimension.stop = self.least_of(&dimension.stop);
            let whole = length(&dimension).is_some_and(|length| length % dimension.step as i64 == 0);
            if whole {
                dimension.rest = Rest::Peel;
            } else if dimension.rest == Rest::Peel && dimension.step != 1 {
                return Err(self.no_fixed_extent(&dimension));
            }
            self.ranges.push_loop(&dimension);
            dimensions.push(dimension);
        }
        let body = self.body(&repeated.body);
        for _ in &dimensions {
            self.ranges.pop();
        }
        let (over, prefetch, unroll) = (repeated.over.clone(), repeated.prefetch.clone(), repeated.unroll);
        result.push(Statement::Loop(Loop { dimensions, over, unroll, prefetch, body: body? }));
        Ok(())
    }

    fn no_fixed_extent(&self, dimension: &Dimension) -> Illegal {
        Illegal::Unsupported {
            target: self.limits.target.clone(),
            what: format!(
                "a peeled rest of loop {}, whose extent is not fixed",
                self.program.variable_name(dimension.variable)
            ),
        }
    }

    /// The bound without the terms that are never the least.
    fn least_of(&self, bound: &[Index]) -> Bound {
        let mut kept: Bound = Vec::with_capacity(bound.len());
        for term in bound {
            if kept.iter().any(|other| self.not_above(other, term)) {
                continue;
            }
            kept.retain(|other| !self.not_above(term, other));
            kept.push(term.clone());
        }
        kept
    }

    /// Whether `first ≤ second` always holds.
    fn not_above(&self, first: &Index, second: &Index) -> bool {
        if first == second {
            return true;
        }
        match (first.as_affine(), second.as_affine()) {
            (Some(first), Some(second)) => {
                self.ranges.greatest(&(first.clone() - second.clone())).is_some_and(|greatest| greatest <= 0)
            }
            _ => false,
        }
    }

    fn condition(&self, condition: &[Constraint]) -> Truth {
        let mut open = Vec::new();
        for constraint in condition {
            match constraint.0.as_affine() {
                Some(expression) if self.ranges.least(expression).is_some_and(|least| least >= 0) => {}
                Some(expression) if self.ranges.greatest(expression).is_some_and(|greatest| greatest < 0) => {
                    return Truth::Never;
                }
                _ => open.push(constraint.clone()),
            }
        }
        if open.is_empty() { Truth::Always } else { Truth::Depends(open) }
    }

    /// The instruction with the limits that matter; `None` when it has no active point.
    fn instruction(&mut self, instruction: &Instruction) -> Option<Instruction> {
        let mut instruction = self.bindings.instruction(instruction);
        for axis in &mut instruction.axes {
            let mut kept = Vec::new();
            for limit in self.least_of(&axis.limit) {
                let Some(expression) = limit.as_affine() else {
                    kept.push(limit);
                    continue;
                };
                let (least, greatest) = (self.ranges.least(expression), self.ranges.greatest(expression));
                if least.is_some_and(|least| least >= axis.extent as i64) {
                    continue;
                }
                match (least, greatest) {
                    // A padding copy writes its whole extent: it may not shrink.
                    (Some(least), Some(greatest)) if least == greatest && !pads(&instruction.operation) => {
                        axis.extent = u64::try_from(least).ok().filter(|&extent| extent > 0)?;
                    }
                    _ => kept.push(limit),
                }
            }
            axis.limit = kept;
        }
        if !instruction.mask.is_empty() {
            for axis in &instruction.axes {
                self.ranges.push_constant(axis.variable, 0, axis.extent as i64 - 1);
            }
            let truth = self.condition(&instruction.mask);
            for _ in &instruction.axes {
                self.ranges.pop();
            }
            match truth {
                Truth::Always => instruction.mask.clear(),
                Truth::Never if pads(&instruction.operation) => {}
                Truth::Never => return None,
                Truth::Depends(mask) => instruction.mask = mask,
            }
        }
        Some(instruction)
    }
}

fn pads(operation: &crate::program::Operation) -> bool {
    matches!(operation, crate::program::Operation::Copy { pad: Some(_), .. })
}

enum Truth {
    Always,
    Never,
    Depends(Vec<Constraint>),
}

/// Length of the range, when it is constant.
fn length(dimension: &Dimension) -> Option<i64> {
    let [stop] = dimension.stop.as_slice() else { return None };
    (stop.as_affine()?.clone() - dimension.start.as_affine()?.clone()).as_constant()
}

fn shifted(index: &Index, by: i64) -> Index {
    Index { affine: index.affine.clone() + Affine::from(by), lookup: index.lookup.clone() }
}
