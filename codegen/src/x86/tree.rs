//! The program as the emitter wants it: addresses and numbers reduced to classes, constants folded.
//!
//! Every address and every number that code needs at run time is *linear*: a class (a base plus a sum of loop
//! variables with coefficients) plus a constant. Expressions that differ by a constant share one class, and
//! a class is kept in one register or stack slot, advanced by a constant with each iteration of the loop
//! that moves it, never recomputed.

use tilewright_ir::affine::Affine;
use tilewright_ir::expression::{Binary, Unary};
use tilewright_ir::program::{Broadcast, Combine, Deal};

use super::points::Point;

/// Position in the list of classes.
pub(super) type ClassId = usize;

/// What a class counts from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Base {
    /// Zero: the class is a number.
    Number,
    /// Address of an operand.
    Tensor(u32),
    /// Address of this worker's instance of a buffer in the workspace.
    Buffer(u32),
}

/// A base and the loop variables added to it; bytes for addresses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Class {
    pub(super) base: Base,
    /// Without a constant.
    pub(super) terms: Affine,
}

/// A class plus a constant; without a class, a constant number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Linear {
    pub(super) class: Option<ClassId>,
    pub(super) constant: i64,
}

/// A statement.
#[derive(Debug)]
pub(super) enum Node {
    /// A register buffer is alive for the rest of the body.
    Buffer(u32),
    Loop(Box<LoopNode>),
    /// `then` when all are at least 0.
    When {
        condition: Vec<Linear>,
        then: Vec<Node>,
        otherwise: Vec<Node>,
    },
    Operation(Box<Operation>),
    Barrier,
}

/// Number of iterations.
#[derive(Debug, Clone)]
pub(super) enum Trip {
    Constant(u64),
    /// `ceil(least of these / step)`, 0 when negative.
    Least(Vec<Linear>),
}

/// A class that the loop moves.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    pub(super) class: ClassId,
    /// Added with each iteration.
    pub(super) advance: i64,
    /// Its value in the first iteration, known outside.
    pub(super) source: Linear,
}

/// A loop.
#[derive(Debug)]
pub(super) struct LoopNode {
    pub(super) trip: Trip,
    pub(super) step: u64,
    /// How iterations are dealt to several workers, and the worker that `deal` counts from.
    pub(super) dealt: Option<(Deal, u64)>,
    pub(super) unroll: u64,
    pub(super) moved: Vec<Moved>,
    /// Location of the counter; those of the moved classes follow.
    pub(super) location: usize,
    /// Whether there are only operations inside.
    pub(super) leaf: bool,
    /// Places to prefetch: address, bytes it moves with an iteration, lines that it spans.
    pub(super) prefetch: Vec<PrefetchNode>,
    pub(super) body: Vec<Node>,
}

/// An operand to prefetch.
#[derive(Debug, Clone, Copy)]
pub(super) struct PrefetchNode {
    pub(super) address: Linear,
    /// Bytes that the address moves with an iteration.
    pub(super) advance: i64,
    /// Iterations ahead.
    pub(super) distance: i64,
}

/// An axis of an operation.
#[derive(Debug, Clone)]
pub(super) struct AxisNode {
    pub(super) extent: u64,
    /// Run-time limits that may bind.
    pub(super) limits: Vec<Linear>,
}

/// A tile instruction.
#[derive(Debug)]
pub(super) struct Operation {
    pub(super) axes: Vec<AxisNode>,
    /// Position of the axis that runs along the lanes.
    pub(super) vector: Option<usize>,
    /// Done by worker 0 alone: it writes shared memory outside the loops over threads.
    pub(super) once: bool,
    pub(super) kind: Kind,
}

/// What is done at each point.
#[derive(Debug)]
pub(super) enum Kind {
    Fill {
        destination: Place,
        value: f32,
    },
    Copy {
        destination: Place,
        source: Place,
        pad: Option<f32>,
    },
    Contract {
        accumulator: Place,
        a: Place,
        b: Place,
        broadcast: Broadcast,
    },
    Map {
        destination: Place,
        expression: ExpressionNode,
    },
    Reduce {
        destination: Place,
        expression: ExpressionNode,
        combine: Combine,
        accumulate: bool,
    },
    /// The addresses of the lines that are used soon, and whether they are written.
    Prefetch {
        lines: Vec<Linear>,
        write: bool,
    },
}

/// An element-wise expression.
#[derive(Debug)]
pub(super) enum ExpressionNode {
    Constant(f32),
    Load(Place),
    Unary(Unary, Box<ExpressionNode>),
    Binary(Binary, Box<ExpressionNode>, Box<ExpressionNode>),
}

impl ExpressionNode {
    /// Calls `visit` with every place that is read.
    pub(super) fn places<'a>(&'a self, visit: &mut dyn FnMut(&'a Place)) {
        match self {
            Self::Constant(_) => {}
            Self::Load(place) => visit(place),
            Self::Unary(_, value) => value.places(visit),
            Self::Binary(_, first, second) => {
                first.places(visit);
                second.places(visit);
            }
        }
    }
}

/// Where an access finds its elements.
#[derive(Debug)]
pub(super) enum Place {
    Memory(MemoryPlace),
    Register(RegisterPlace),
}

/// Elements in memory: an address plus an offset that depends on the point alone.
#[derive(Debug)]
pub(super) struct MemoryPlace {
    pub(super) address: Linear,
    /// Bytes for each axis of the operation.
    pub(super) strides: Vec<i64>,
    pub(super) panel: Option<PanelPlace>,
    /// Whether a vector that starts inside may be read whole (buffers have room behind their end).
    pub(super) room: bool,
}

/// The index that runs through panels: `constant + Σ coefficient · axis`.
#[derive(Debug)]
pub(super) struct PanelPlace {
    pub(super) constant: i64,
    pub(super) coefficients: Vec<i64>,
    pub(super) width: i64,
    /// Bytes from one panel to the next.
    pub(super) panel_bytes: i64,
}

impl PanelPlace {
    fn index(&self, point: &Point) -> i64 {
        let terms = self.coefficients.iter().zip(point);
        terms.fold(self.constant, |sum, (coefficient, &at)| sum + coefficient * at as i64)
    }
}

impl MemoryPlace {
    /// Bytes from the address to the element of a point.
    pub(super) fn offset(&self, point: &Point) -> i64 {
        let plain: i64 = self.strides.iter().zip(point).map(|(stride, &at)| stride * at as i64).sum();
        let panel = self.panel.as_ref().map_or(0, |panel| {
            let index = panel.index(point);
            index.div_euclid(panel.width) * panel.panel_bytes + index.rem_euclid(panel.width) * ELEMENT_BYTES
        });
        plain + panel
    }

    /// Bytes between neighbouring points along `axis`, for `count` points from `point` on; `None` when they
    /// are not equally far apart.
    pub(super) fn stride(&self, point: &Point, axis: usize, count: usize) -> Option<i64> {
        let Some(panel) = &self.panel else { return Some(self.strides[axis]) };
        if panel.coefficients[axis] == 0 {
            return Some(self.strides[axis]);
        }
        // Within one panel, which is the rule.
        let (by, first) = (panel.coefficients[axis], panel.index(point).rem_euclid(panel.width));
        let last = first + by * (count as i64 - 1);
        if (0..panel.width).contains(&last) {
            return Some(if count > 1 { self.strides[axis] + by * ELEMENT_BYTES } else { ELEMENT_BYTES });
        }
        let mut at = *point;
        let mut offsets = (0..count as u64).map(|lane| {
            at[axis] = point[axis] + lane;
            self.offset(&at)
        });
        let first = offsets.next()?;
        let mut last = first;
        let mut stride = None;
        for offset in offsets {
            if stride.is_some_and(|stride| offset - last != stride) {
                return None;
            }
            stride = Some(offset - last);
            last = offset;
        }
        Some(stride.unwrap_or(ELEMENT_BYTES))
    }

    /// Whether elements depend on the axis at all.
    pub(super) fn depends_on(&self, axis: usize) -> bool {
        self.strides[axis] != 0 || self.panel.as_ref().is_some_and(|panel| panel.coefficients[axis] != 0)
    }
}

/// Bytes of an element; f32 is the only type so far.
pub(super) const ELEMENT_BYTES: i64 = 4;

/// Elements of a register buffer: each index is a constant plus a sum of axes.
#[derive(Debug)]
pub(super) struct RegisterPlace {
    pub(super) buffer: u32,
    pub(super) constants: Vec<i64>,
    /// By dimension, then by axis.
    pub(super) coefficients: Vec<Vec<i64>>,
}

impl RegisterPlace {
    /// Index in each dimension.
    pub(super) fn indices<'a>(&'a self, point: &'a Point) -> impl Iterator<Item = i64> + 'a {
        self.constants.iter().zip(&self.coefficients).map(move |(constant, coefficients)| {
            coefficients.iter().zip(point).fold(*constant, |sum, (by, &at)| sum + by * at as i64)
        })
    }

    /// Whether elements depend on the axis at all.
    pub(super) fn depends_on(&self, axis: usize) -> bool {
        self.coefficients.iter().any(|coefficients| coefficients[axis] != 0)
    }
}

impl Place {
    /// Whether elements depend on the axis at all.
    pub(super) fn depends_on(&self, axis: usize) -> bool {
        match self {
            Self::Memory(memory) => memory.depends_on(axis),
            Self::Register(register) => register.depends_on(axis),
        }
    }
}
