//! Short constructors of the parts of a program, for lowerings, examples and tests.

use crate::affine::{Affine, Constraint, Index, Lookup, Variable};
use crate::data_type::DataType;
use crate::expression::Expression;
use crate::program::{
    Access, Axis, Broadcast, Buffer, BufferId, Combine, Deal, Dimension, Instruction, Layout, Lifetime, Loop,
    Mapping, Operation, Rest, Statement, Target, TensorId,
};

impl Buffer {
    /// A row-major buffer of fixed shape that lives in its body; one for the device.
    pub fn new(
        name: &str,
        data_type: DataType,
        shape: impl IntoIterator<Item = impl Into<Affine>>,
        level: &str,
    ) -> Self {
        Self {
            name: name.to_owned(),
            data_type,
            shape: shape.into_iter().map(Into::into).collect(),
            level: level.to_owned(),
            layout: Layout::RowMajor,
            owner: None,
            stages: 1,
            lifetime: Lifetime::Scope,
        }
    }

    /// A buffer of one element.
    pub fn scalar(name: &str, data_type: DataType, level: &str) -> Self {
        Self::new(name, data_type, [] as [i64; 0], level)
    }

    /// One for each instance of `resource`.
    #[must_use]
    pub fn owned_by(mut self, resource: &str) -> Self {
        self.owner = Some(resource.to_owned());
        self
    }

    /// With this order of elements.
    #[must_use]
    pub fn laid_out(mut self, layout: Layout) -> Self {
        self.layout = layout;
        self
    }

    /// With so many copies in turn.
    #[must_use]
    pub fn staged(mut self, stages: u32) -> Self {
        self.stages = stages;
        self
    }

    /// With this lifetime.
    #[must_use]
    pub fn living(mut self, lifetime: Lifetime) -> Self {
        self.lifetime = lifetime;
        self
    }
}

impl Dimension {
    /// `for variable in start..stop step step`, its rest masked.
    pub fn new(variable: Variable, start: impl Into<Index>, stop: impl Into<Index>, step: u64) -> Self {
        Self { variable, start: start.into(), stop: vec![stop.into()], step, rest: Rest::Mask }
    }

    /// Also ends before `stop`.
    #[must_use]
    pub fn limited(mut self, stop: impl Into<Index>) -> Self {
        self.stop.push(stop.into());
        self
    }

    /// With this rest policy.
    #[must_use]
    pub fn rest(mut self, rest: Rest) -> Self {
        self.rest = rest;
        self
    }
}

impl Loop {
    /// A loop over these dimensions, with an empty body.
    pub fn new(dimensions: impl IntoIterator<Item = Dimension>) -> Self {
        Self {
            dimensions: dimensions.into_iter().collect(),
            over: None,
            unroll: 1,
            prefetch: Vec::new(),
            body: Vec::new(),
        }
    }

    /// A loop over one range, its rest masked, with an empty body.
    pub fn over_range(
        variable: Variable,
        start: impl Into<Index>,
        stop: impl Into<Index>,
        step: u64,
    ) -> Self {
        Self::new([Dimension::new(variable, start, stop, step)])
    }

    /// Dealt to the instances of `resource`.
    #[must_use]
    pub fn mapped(mut self, resource: &str, deal: Deal) -> Self {
        self.over = Some(Mapping { resource: resource.to_owned(), deal, first: 0 });
        self
    }

    /// With so many copies of the body in generated code.
    #[must_use]
    pub fn unrolled(mut self, unroll: u32) -> Self {
        self.unroll = unroll;
        self
    }

    /// With this rest policy in every dimension.
    #[must_use]
    pub fn rest(mut self, rest: Rest) -> Self {
        for dimension in &mut self.dimensions {
            dimension.rest = rest;
        }
        self
    }

    /// With this body.
    #[must_use]
    pub fn with_body(mut self, body: impl IntoIterator<Item = impl Into<Statement>>) -> Self {
        self.body = body.into_iter().map(Into::into).collect();
        self
    }
}

impl Access {
    /// An element at these indices.
    pub fn new(target: impl Into<Target>, indices: impl IntoIterator<Item = impl Into<Index>>) -> Self {
        Self { target: target.into(), indices: indices.into_iter().map(Into::into).collect() }
    }

    /// The element of a target without dimensions.
    pub fn scalar(target: impl Into<Target>) -> Self {
        Self { target: target.into(), indices: Vec::new() }
    }

    /// Its value.
    pub fn load(self) -> Expression {
        Expression::Load(self)
    }
}

impl Index {
    /// `scale · table[indices]`, the table's values lying in `range`.
    pub fn lookup(
        table: TensorId,
        indices: impl IntoIterator<Item = impl Into<Self>>,
        range: (i64, i64),
        scale: i64,
    ) -> Self {
        let indices = indices.into_iter().map(Into::into).collect();
        Self { affine: Affine::default(), lookup: Some(Box::new(Lookup { table, indices, range, scale })) }
    }

    /// With an affine expression added.
    #[must_use]
    pub fn plus(mut self, affine: impl Into<Affine>) -> Self {
        self.affine = self.affine + affine;
        self
    }
}

impl Constraint {
    /// `left < right`.
    pub fn less(left: impl Into<Affine>, right: impl Into<Affine>) -> Self {
        Self((right.into() - left - 1).into())
    }

    /// `left ≤ right`.
    pub fn at_most(left: impl Into<Affine>, right: impl Into<Affine>) -> Self {
        Self((right.into() - left).into())
    }
}

impl Axis {
    /// `0..extent`.
    pub fn new(variable: Variable, extent: u64) -> Self {
        Self { variable, extent, limit: Vec::new() }
    }

    /// Inactive at and beyond `limit`.
    #[must_use]
    pub fn limited(mut self, limit: impl Into<Index>) -> Self {
        self.limit.push(limit.into());
        self
    }
}

impl Instruction {
    /// An operation at each point of these axes, scalar and without a mask.
    pub fn new(axes: impl IntoIterator<Item = Axis>, operation: Operation) -> Self {
        Self { axes: axes.into_iter().collect(), mask: Vec::new(), vector: None, operation }
    }

    /// `destination ← value`.
    pub fn fill(axes: impl IntoIterator<Item = Axis>, destination: Access, value: f64) -> Self {
        Self::new(axes, Operation::Fill { destination, value: value.into() })
    }

    /// `destination ← source`; nothing is written at inactive points.
    pub fn copy(axes: impl IntoIterator<Item = Axis>, destination: Access, source: Access) -> Self {
        Self::new(axes, Operation::Copy { destination, source, pad: None })
    }

    /// `destination ← source`, and `pad` at inactive points.
    pub fn copy_padded(
        axes: impl IntoIterator<Item = Axis>,
        destination: Access,
        source: Access,
        pad: f64,
    ) -> Self {
        Self::new(axes, Operation::Copy { destination, source, pad: Some(pad.into()) })
    }

    /// A hint that a place is written soon.
    pub fn prefetch_to_write(axes: impl IntoIterator<Item = Axis>, place: Access) -> Self {
        Self::new(axes, Operation::Prefetch { place, write: true })
    }

    /// `accumulator ← accumulator + a·b`.
    pub fn contract(axes: impl IntoIterator<Item = Axis>, accumulator: Access, a: Access, b: Access) -> Self {
        Self::new(axes, Operation::Contract { accumulator, a, b, broadcast: Broadcast::Register })
    }

    /// `destination ← expression`.
    pub fn map(axes: impl IntoIterator<Item = Axis>, destination: Access, expression: Expression) -> Self {
        Self::new(axes, Operation::Map { destination, expression })
    }

    /// `destination ← combine of expression`, without the old value and without positions.
    pub fn reduce(
        axes: impl IntoIterator<Item = Axis>,
        destination: Access,
        combine: Combine,
        expression: Expression,
    ) -> Self {
        let operation =
            Operation::Reduce { destination, expression, combine, accumulate: false, position: None };
        Self::new(axes, operation)
    }

    /// Neighbouring points along `axis` go to neighbouring lanes.
    #[must_use]
    pub fn vector(mut self, axis: Variable) -> Self {
        self.vector = Some(axis);
        self
    }

    /// Only where these hold as well.
    #[must_use]
    pub fn masked(mut self, constraints: impl IntoIterator<Item = Constraint>) -> Self {
        self.mask.extend(constraints);
        self
    }
}

impl Statement {
    /// Waits for all instances inside one instance of `scope`.
    pub fn barrier(scope: &str) -> Self {
        Self::Barrier { scope: scope.to_owned() }
    }

    /// One of two bodies.
    pub fn when(
        condition: impl IntoIterator<Item = Constraint>,
        then: Vec<Self>,
        otherwise: Vec<Self>,
    ) -> Self {
        Self::When { condition: condition.into_iter().collect(), then, otherwise }
    }
}

impl From<Loop> for Statement {
    fn from(repeated: Loop) -> Self {
        Self::Loop(repeated)
    }
}

impl From<Instruction> for Statement {
    fn from(instruction: Instruction) -> Self {
        Self::Instruction(instruction)
    }
}

impl From<BufferId> for Statement {
    fn from(buffer: BufferId) -> Self {
        Self::Buffer(buffer)
    }
}

impl From<TensorId> for Target {
    fn from(tensor: TensorId) -> Self {
        Self::Tensor(tensor)
    }
}

impl From<BufferId> for Target {
    fn from(buffer: BufferId) -> Self {
        Self::Buffer(buffer)
    }
}
