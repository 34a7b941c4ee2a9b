//! Tile instructions that combine points: `reduce`, `scan`, `select`.

use std::cmp::Ordering;

use super::error::InterpretError;
use super::evaluate::{beats, combine, identity};
use super::instruction::Execution;
use super::machine::{Machine, Worker};
use super::plan::{Value, invalid, moves};
use crate::affine::{Constraint, Variable};
use crate::program::{Combine, Operation};

/// The expression of an instruction that has one.
fn expression<'e, 'p>(execution: &Execution<'e, 'p>) -> &'e Value<'p> {
    execution.planned.expression.as_ref().expect("invariant: planned with its expression")
}

/// All axes but `axis`, and its number.
fn without(execution: &Execution<'_, '_>, axis: Variable) -> (Vec<usize>, usize) {
    let number = execution.planned.variables.iter().position(|&other| other == axis);
    let number = number.expect("invariant: checked to be an axis");
    (execution.planned.order.iter().copied().filter(|&other| other != number).collect(), number)
}

impl Machine<'_> {
    pub(super) fn reduce(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
        how: Combine,
        accumulate: bool,
    ) -> Result<(), InterpretError> {
        let planned = execution.planned;
        let with_position = matches!(planned.source.operation, Operation::Reduce { position: Some(_), .. });
        if with_position
            && (planned.reduced.len() != 1 || !matches!(how, Combine::Maximum | Combine::Minimum))
        {
            return invalid("a position needs a maximum or minimum along one axis");
        }
        if planned.kept.iter().any(|&axis| execution.sizes[axis] == 0) {
            return Ok(());
        }
        self.prepare_from(0, execution, worker)?;
        let reduced: Vec<Variable> = planned.reduced.iter().map(|&axis| planned.variables[axis]).collect();
        // What no reduced axis takes part in decides about the destination itself.
        let (inner, outer): (Vec<Constraint>, Vec<Constraint>) =
            planned.mask.iter().cloned().partition(|constraint| moves(&constraint.0, &reduced));
        let sizes = execution.sizes.clone();
        let nothing = planned.reduced.iter().any(|&axis| sizes[axis] == 0);
        loop {
            if self.holds(&outer, worker)? {
                let (mut result, mut best) = (identity(how), None);
                let mut more = !nothing;
                while more {
                    if inner.is_empty() || self.holds(&inner, worker)? {
                        let value = self.value(expression(execution), execution, worker)?;
                        if with_position && best.is_none_or(|(_, old)| beats(how, value, old)) {
                            best = Some((execution.point[planned.reduced[0]], value));
                        }
                        result = combine(how, result, value);
                    }
                    more = execution.next(&planned.reduced, &sizes, worker);
                }
                self.store_reduced(execution, worker, how, accumulate, result, best)?;
            }
            if !execution.next(&planned.kept, &sizes, worker) {
                return Ok(());
            }
        }
    }

    fn store_reduced(
        &mut self,
        execution: &Execution<'_, '_>,
        worker: &Worker,
        how: Combine,
        accumulate: bool,
        result: f64,
        best: Option<(i64, f64)>,
    ) -> Result<(), InterpretError> {
        let planned = execution.planned;
        let old = if accumulate { Some(self.load(0, execution, worker)?) } else { None };
        let result = old.map_or(result, |old| combine(how, old, result));
        self.write(&planned.accesses[0], &execution.prepared[0], &execution.point, worker, result)?;
        if let Some((position, value)) = best
            && old.is_none_or(|old| beats(how, value, old))
        {
            let (access, prepared) = (&planned.accesses[1], &execution.prepared[1]);
            self.write(access, prepared, &execution.point, worker, position as f64)?;
        }
        Ok(())
    }

    pub(super) fn scan(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
        how: Combine,
        axis: Variable,
    ) -> Result<(), InterpretError> {
        if execution.sizes.contains(&0) {
            return Ok(());
        }
        self.prepare_from(0, execution, worker)?;
        let planned = execution.planned;
        let (others, along) = without(execution, axis);
        let sizes = execution.sizes.clone();
        loop {
            let mut running = identity(how);
            loop {
                if planned.mask.is_empty() || self.holds(&planned.mask, worker)? {
                    running = combine(how, running, self.value(expression(execution), execution, worker)?);
                    let (access, prepared) = (&planned.accesses[0], &execution.prepared[0]);
                    self.write(access, prepared, &execution.point, worker, running)?;
                }
                if !execution.next(&[along], &sizes, worker) {
                    break;
                }
            }
            if !execution.next(&others, &sizes, worker) {
                return Ok(());
            }
        }
    }

    pub(super) fn select(
        &mut self,
        execution: &mut Execution<'_, '_>,
        worker: &mut Worker,
        axis: Variable,
        count: u64,
    ) -> Result<(), InterpretError> {
        let planned = execution.planned;
        let (mut others, along) = without(execution, axis);
        // The rank comes last; it is no axis of the source.
        let rank = others.pop().expect("invariant: a selection has its rank as last axis");
        if others.iter().any(|&axis| execution.sizes[axis] == 0) {
            return Ok(());
        }
        self.prepare_from(0, execution, worker)?;
        let sizes = execution.sizes.clone();
        loop {
            let mut found = Vec::new();
            let mut more = sizes[along] > 0;
            while more {
                if planned.mask.is_empty() || self.holds(&planned.mask, worker)? {
                    let value = self.value(expression(execution), execution, worker)?;
                    found.push((value, execution.point[along]));
                }
                more = execution.next(&[along], &sizes, worker);
            }
            // NaN is above everything, as in a maximum; the sort is stable, so the first of equals stays first.
            found.sort_by(|(x, _), (y, _)| match (x.is_nan(), y.is_nan()) {
                (false, false) => y.partial_cmp(x).unwrap_or(Ordering::Equal),
                (x, y) => y.cmp(&x),
            });
            found.resize(count as usize, (f64::NEG_INFINITY, -1));
            for (value, position) in found {
                for (access, stored) in [(0, value), (1, position as f64)] {
                    let (planned_access, prepared) = (&planned.accesses[access], &execution.prepared[access]);
                    self.write(planned_access, prepared, &execution.point, worker, stored)?;
                }
                execution.next(&[rank], &sizes, worker);
            }
            if !execution.next(&others, &sizes, worker) {
                return Ok(());
            }
        }
    }
}
