//! Walks a program and builds the tree: loops, conditions, and what each loop must keep at hand.

use tilewright_ir::affine::{Affine, Constraint, Index, Variable};
use tilewright_ir::expression::Expression;
use tilewright_ir::program::{
    Axis, Deal, Dimension, Instruction, Loop, Operation as Work, Program, Statement, Target,
};
use tilewright_ir::workspace::REGISTER_LEVEL;

use super::points::{MOST_AXES, Point};
use super::tree::{
    AxisNode, Base, Class, ClassId, ELEMENT_BYTES, ExpressionNode, Kind, Linear, LoopNode, MemoryPlace,
    Moved, Node, Operation, Place, Trip,
};
use crate::error::{CompileError, unsupported};

/// Resource of CPU threads.
const THREAD: &str = "thread";

/// A loop around the current statement.
#[derive(Debug)]
pub(super) struct OpenLoop {
    pub(super) variable: Variable,
    pub(super) start: Affine,
    pub(super) step: i64,
    /// Its last value is less than this above its first one; `None` where that is known at run time only.
    pub(super) span: Option<i64>,
}

/// State of the walk.
pub(super) struct Preparer<'a> {
    pub(super) program: &'a Program,
    pub(super) loops: Vec<OpenLoop>,
    pub(super) classes: Vec<Class>,
    /// Classes that the bodies being walked need, by nesting.
    needs: Vec<Vec<ClassId>>,
    workers: u64,
    inside_thread: bool,
}

impl<'a> Preparer<'a> {
    pub(super) fn new(program: &'a Program) -> Self {
        Self {
            program,
            loops: Vec::new(),
            classes: Vec::new(),
            needs: Vec::new(),
            workers: program.workers(),
            inside_thread: false,
        }
    }

    /// Prepares the body of a phase.
    pub(super) fn phase(&mut self, body: &[Statement]) -> Result<Vec<Node>, CompileError> {
        let (body, _) = self.body(body)?;
        Ok(body)
    }

    /// A linear expression over the loops around.
    pub(super) fn linear(&mut self, base: Base, affine: Affine) -> Result<Linear, CompileError> {
        for (variable, _) in affine.terms() {
            if !self.loops.iter().any(|open| open.variable == *variable) {
                let name = self.program.variable_name(*variable);
                return unsupported(format!("`{name}`, a length known only at launch"));
            }
        }
        let constant = affine.constant();
        let terms = affine - constant;
        if base == Base::Number && terms.as_constant().is_some() {
            return Ok(Linear { class: None, constant });
        }
        let class = self.class(Class { base, terms });
        Ok(Linear { class: Some(class), constant })
    }

    /// The class's number; the current body needs it.
    fn class(&mut self, class: Class) -> ClassId {
        let known = self.classes.iter().position(|other| *other == class);
        let id = known.unwrap_or_else(|| {
            self.classes.push(class);
            self.classes.len() - 1
        });
        self.need(id);
        id
    }

    fn need(&mut self, class: ClassId) {
        if let Some(needs) = self.needs.last_mut()
            && !needs.contains(&class)
        {
            needs.push(class);
        }
    }

    pub(super) fn number(&mut self, index: &Index) -> Result<Linear, CompileError> {
        self.linear(Base::Number, affine(index)?.clone())
    }

    /// Prepares statements; also returns the number of locations that loops inside take.
    fn body(&mut self, statements: &[Statement]) -> Result<(Vec<Node>, usize), CompileError> {
        let mut nodes = Vec::with_capacity(statements.len());
        let mut height = 0;
        for statement in statements {
            height = height.max(self.statement(statement, &mut nodes)?);
        }
        Ok((nodes, height))
    }

    fn statement(&mut self, statement: &Statement, nodes: &mut Vec<Node>) -> Result<usize, CompileError> {
        match statement {
            Statement::Buffer(id) => {
                let buffer = self.program.buffer(*id);
                if buffer.level == REGISTER_LEVEL {
                    nodes.push(Node::Buffer(id.0));
                } else if buffer.stages > 1 {
                    return unsupported(format!("`{}`, a buffer with stages", buffer.name));
                }
                Ok(0)
            }
            Statement::Loop(repeated) => self.repeat(repeated, 0, nodes),
            Statement::When { condition, then, otherwise } => {
                let condition = self.condition(condition)?;
                if condition.iter().any(|linear| linear.class.is_none() && linear.constant < 0) {
                    let (body, height) = self.body(otherwise)?;
                    nodes.extend(body);
                    return Ok(height);
                }
                let condition: Vec<Linear> =
                    condition.into_iter().filter(|linear| linear.class.is_some()).collect();
                let (then, height) = self.body(then)?;
                if condition.is_empty() {
                    nodes.extend(then);
                    return Ok(height);
                }
                let (otherwise, other_height) = self.body(otherwise)?;
                nodes.push(Node::When { condition, then, otherwise });
                Ok(height.max(other_height))
            }
            Statement::Instruction(Instruction {
                axes, operation: Work::Prefetch { place, write }, ..
            }) => {
                let hint = self.hint(axes, place, *write)?;
                nodes.extend(hint.map(|hint| Node::Operation(Box::new(hint))));
                Ok(0)
            }
            Statement::Instruction(instruction) => {
                if let Some(operation) = self.operation(instruction)? {
                    nodes.push(Node::Operation(Box::new(operation)));
                }
                Ok(0)
            }
            Statement::Barrier { scope } => {
                if scope != "device" {
                    return unsupported(format!("a barrier of `{scope}`"));
                }
                if self.workers > 1 {
                    nodes.push(Node::Barrier);
                }
                Ok(0)
            }
        }
    }

    fn condition(&mut self, constraints: &[Constraint]) -> Result<Vec<Linear>, CompileError> {
        constraints.iter().map(|constraint| self.number(&constraint.0)).collect()
    }

    /// Prepares a loop from its dimension `at` inwards.
    fn repeat(&mut self, repeated: &Loop, at: usize, nodes: &mut Vec<Node>) -> Result<usize, CompileError> {
        let Some(dimension) = repeated.dimensions.get(at) else {
            let (body, height) = self.body(&repeated.body)?;
            nodes.extend(body);
            return Ok(height);
        };
        let innermost = at + 1 == repeated.dimensions.len();
        let dealt = match &repeated.over {
            Some(mapping) if mapping.resource != THREAD => {
                return unsupported(format!("a loop over `{}`", mapping.resource));
            }
            Some(mapping) if self.workers > 1 => match (mapping.deal, repeated.dimensions.len()) {
                (Deal::Dynamic, _) => return unsupported("iterations dealt at run time"),
                (deal, 1) => Some((deal, mapping.first)),
                _ => return unsupported("several dimensions dealt together"),
            },
            _ => None,
        };
        let start = affine(&dimension.start)?.clone();
        let trip = self.trip(dimension, &start)?;
        if matches!(trip, Trip::Constant(0)) {
            return Ok(0);
        }

        self.needs.push(Vec::new());
        let step = dimension.step as i64;
        let spans = dimension.stop.iter().filter_map(|stop| affine(stop).ok());
        let span = spans.filter_map(|stop| self.constant(stop.clone() - start.clone())).min();
        self.loops.push(OpenLoop { variable: dimension.variable, start: start.clone(), step, span });
        let was_inside = self.inside_thread;
        self.inside_thread |= dealt.is_some();
        let mut body = Vec::new();
        let location = self.repeat(repeated, at + 1, &mut body)?;
        let prefetch =
            if innermost { self.prefetches(&repeated.prefetch, &repeated.body, step)? } else { Vec::new() };
        self.inside_thread = was_inside;
        self.loops.pop();

        let moved = self.leave(dimension.variable, &start, step)?;
        let height = location + 1 + moved.len();
        nodes.push(Node::Loop(Box::new(LoopNode {
            trip,
            step: dimension.step,
            dealt,
            unroll: if innermost { u64::from(repeated.unroll.max(1)) } else { 1 },
            moved,
            location,
            leaf: body.iter().all(|node| matches!(node, Node::Operation(_))),
            prefetch,
            body,
        })));
        Ok(height)
    }

    fn trip(&mut self, dimension: &Dimension, start: &Affine) -> Result<Trip, CompileError> {
        let lengths: Vec<Affine> = dimension
            .stop
            .iter()
            .map(|stop| Ok(affine(stop)?.clone() - start.clone()))
            .collect::<Result<_, CompileError>>()?;
        let constants: Option<Vec<i64>> = lengths.iter().map(Affine::as_constant).collect();
        if let Some(least) = constants.and_then(|lengths| lengths.into_iter().min()) {
            return Ok(Trip::Constant((least.max(0) as u64).div_ceil(dimension.step)));
        }
        let lengths = lengths.into_iter().map(|length| self.linear(Base::Number, length));
        Ok(Trip::Least(lengths.collect::<Result<_, _>>()?))
    }

    /// Leaves a loop: what its body needs is moved by it or needed from outside.
    fn leave(&mut self, variable: Variable, start: &Affine, step: i64) -> Result<Vec<Moved>, CompileError> {
        let mut moved = Vec::new();
        for id in self.needs.pop().unwrap_or_default() {
            let class = self.classes[id].clone();
            let coefficient = class.terms.coefficient(variable);
            if coefficient == 0 {
                self.need(id);
            } else {
                let source = self.linear(class.base, class.terms.substitute(variable, start))?;
                moved.push(Moved { class: id, advance: coefficient * step, source });
            }
        }
        Ok(moved)
    }

    /// Prepares a tile instruction; `None` when it has no active point.
    fn operation(&mut self, instruction: &Instruction) -> Result<Option<Operation>, CompileError> {
        if !instruction.mask.is_empty() {
            return unsupported("a mask over the points of an instruction");
        }
        if instruction.axes.len() > MOST_AXES {
            return unsupported(format!("an instruction with more than {MOST_AXES} axes"));
        }
        let keeps_inactive = matches!(instruction.operation, Work::Copy { pad: Some(_), .. });
        let mut axes = Vec::with_capacity(instruction.axes.len());
        for axis in &instruction.axes {
            let mut node = AxisNode { extent: axis.extent, limits: Vec::new() };
            for limit in &axis.limit {
                let limit = self.number(limit)?;
                if limit.class.is_some() || (keeps_inactive && limit.constant < axis.extent as i64) {
                    node.limits.push(limit);
                } else {
                    node.extent = node.extent.min(limit.constant.max(0) as u64);
                }
            }
            if node.extent == 0 {
                return Ok(None);
            }
            axes.push(node);
        }
        let points = instruction.axes.as_slice();
        let vector =
            instruction.vector.and_then(|vector| points.iter().position(|axis| axis.variable == vector));
        let written = match &instruction.operation {
            Work::Fill { destination, .. }
            | Work::Copy { destination, .. }
            | Work::Map { destination, .. }
            | Work::Reduce { destination, .. } => destination,
            Work::Contract { accumulator, .. } => accumulator,
            Work::Scan { .. } | Work::Select { .. } | Work::Collective { .. } | Work::Prefetch { .. } => {
                return unsupported("scan, select and collective");
            }
        };
        let shared = match written.target {
            Target::Tensor(_) => true,
            Target::Buffer(id) => {
                let buffer = self.program.buffer(id);
                buffer.level != REGISTER_LEVEL && buffer.owner.is_none()
            }
        };
        let kind = match &instruction.operation {
            Work::Fill { destination, value } => {
                Kind::Fill { destination: self.place(destination, points)?, value: value.value() as f32 }
            }
            Work::Copy { destination, source, pad } => Kind::Copy {
                destination: self.place(destination, points)?,
                source: self.place(source, points)?,
                pad: pad.map(|pad| pad.value() as f32),
            },
            Work::Contract { accumulator, a, b, broadcast } => Kind::Contract {
                accumulator: self.place(accumulator, points)?,
                a: self.place(a, points)?,
                b: self.place(b, points)?,
                broadcast: *broadcast,
            },
            Work::Map { destination, expression } => Kind::Map {
                destination: self.place(destination, points)?,
                expression: self.expression(expression, points)?,
            },
            Work::Reduce { destination, expression, combine, accumulate, position: None } => Kind::Reduce {
                destination: self.place(destination, points)?,
                expression: self.expression(expression, points)?,
                combine: *combine,
                accumulate: *accumulate,
            },
            _ => return unsupported("a reduction that returns positions"),
        };
        let vector = contiguous_axis(&axes, &kind).or(vector);
        Ok(Some(Operation { axes, vector, once: shared && self.workers > 1 && !self.inside_thread, kind }))
    }

    /// The value of an expression that no loop changes which runs more than once.
    fn constant(&self, expression: Affine) -> Option<i64> {
        let single = |open: &&OpenLoop| open.span.is_some_and(|span| span <= open.step);
        let known = self.loops.iter().rev().filter(single);
        known.fold(expression, |value, open| value.substitute(open.variable, &open.start)).as_constant()
    }

    fn expression(&mut self, expression: &Expression, axes: &[Axis]) -> Result<ExpressionNode, CompileError> {
        Ok(match expression {
            Expression::Constant(value) => ExpressionNode::Constant(value.value() as f32),
            Expression::Load(access) => ExpressionNode::Load(self.place(access, axes)?),
            Expression::Unary(function, value) => {
                ExpressionNode::Unary(*function, Box::new(self.expression(value, axes)?))
            }
            Expression::Binary(function, first, second) => ExpressionNode::Binary(
                *function,
                Box::new(self.expression(first, axes)?),
                Box::new(self.expression(second, axes)?),
            ),
            Expression::Position(_) | Expression::Choose { .. } | Expression::Random { .. } => {
                return unsupported("positions, choices and random numbers in expressions");
            }
        })
    }
}

/// The axis along which a copy from memory to memory may move whole vectors: contiguous on both sides,
/// whatever the instruction says.
fn contiguous_axis(axes: &[AxisNode], kind: &Kind) -> Option<usize> {
    let Kind::Copy { destination: Place::Memory(destination), source: Place::Memory(source), .. } = kind
    else {
        return None;
    };
    (0..axes.len()).find(|&axis| {
        let stride = |place: &MemoryPlace| place.stride(&Point::default(), axis, axes[axis].extent as usize);
        axes[axis].extent > 1
            && [destination, source].into_iter().all(|place| stride(place) == Some(ELEMENT_BYTES))
    })
}

/// The index without a lookup.
pub(super) fn affine(index: &Index) -> Result<&Affine, CompileError> {
    index.as_affine().map_or_else(|| unsupported("an index that is looked up"), Ok)
}
