//! The one form that interpreter, simulator and code generators read.

use serde::{Deserialize, Serialize};

use crate::affine::{Affine, Bound, Constraint, Index, Variable};
use crate::data_type::DataType;
use crate::expression::Expression;
pub use crate::layout::Layout;

/// Position of a tensor in [`Program::tensors`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct TensorId(pub u32);

/// A buffer, by its position in [`Program::buffers`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BufferId(pub u32);

/// A kernel: operands, resources, buffers, and what is done in what order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Program {
    /// What it computes, for people; no part of its hash.
    pub name: String,
    /// Names of all variables, by [`Variable`] number.
    pub variables: Vec<String>,
    /// Lengths known only at launch, in the order of the launch's `extents`.
    pub extents: Vec<Extent>,
    /// Operands, in the order of the launch's pointers.
    pub tensors: Vec<Tensor>,
    /// Parallel resources, outermost first.
    pub resources: Vec<Resource>,
    /// All buffers; each is alive where a [`Statement::Buffer`] names it, or, when it is a workspace, always.
    pub buffers: Vec<Buffer>,
    /// Where a launch may enter; the main one is called `run`.
    pub entries: Vec<Entry>,
}

/// A run-time length.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Extent {
    /// Its variable.
    pub variable: Variable,
    /// Least and greatest value.
    pub range: (u64, u64),
    /// For a derived length: `ceil(of / divisor)`; such a length is no argument of the launch.
    pub quotient: Option<(Variable, u64)>,
}

/// How a launch uses a tensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Read only.
    Input,
    /// Written whole, not read before.
    Output,
    /// Read and written.
    InputOutput,
}

/// An operand in the caller's memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tensor {
    /// Its name in the workload.
    pub name: String,
    /// Element type.
    pub data_type: DataType,
    /// Extents, outermost first.
    pub shape: Vec<Affine>,
    /// Distance of neighbours along each dimension, elements.
    pub strides: Vec<i64>,
    /// Use by the launch.
    pub role: Role,
}

/// Number of instances of a resource inside one instance of the enclosing resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Count {
    /// Exactly so many.
    Fixed(u64),
    /// As many as the loops over it have iterations (a launch grid).
    Grid,
}

/// A kind of parallel worker, named by the target.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resource {
    /// `thread`; `cluster`, `block`, `warpgroup`, `warp`, `lane`; `unit`, `die`.
    pub name: String,
    /// Instances inside one instance of the resource before it in the list (of the device, for the first).
    pub count: Count,
}

/// How long a buffer lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lifetime {
    /// From its statement to the end of the enclosing body.
    Scope,
    /// The whole call: across phases.
    Workspace,
    /// Beyond the call: filled by one entry, used by another.
    Persistent,
}

/// Memory of the program's own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Buffer {
    /// Name, for people.
    pub name: String,
    /// Element type.
    pub data_type: DataType,
    /// Extents, outermost first; fixed, or affine in run-time extents for workspaces. Empty: one element.
    pub shape: Vec<Affine>,
    /// Memory level where it is meant to live: `register`, `L1`, `L2`, `L3`, `memory`, `shared`, `sram`, …
    pub level: String,
    /// Order of its elements.
    pub layout: Layout,
    /// Resource with one instance each; `None`: one for the device.
    pub owner: Option<String>,
    /// Copies of it that are used in turn.
    pub stages: u32,
    /// How long it lives.
    pub lifetime: Lifetime,
}

/// A named entry point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// `run` for the main one.
    pub name: String,
    /// Run one after another, each by all instances of its resources; each ends with a barrier of the device.
    pub phases: Vec<Vec<Statement>>,
}

/// One step of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Statement {
    /// Declares a buffer for the rest of this body.
    Buffer(BufferId),
    /// Repeats a body.
    Loop(Loop),
    /// Does one of two bodies; the condition holds when all constraints do.
    When {
        /// Constraints over loop variables and extents.
        condition: Vec<Constraint>,
        /// Done when it holds.
        then: Vec<Statement>,
        /// Done when it does not.
        otherwise: Vec<Statement>,
    },
    /// A tile instruction.
    Instruction(Instruction),
    /// All instances inside one instance of `scope` (`device`, `block`) wait for each other.
    Barrier {
        /// `device`, or a resource's name.
        scope: String,
    },
}

/// What becomes of the iterations that do not fill a whole step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rest {
    /// A second body with its own constant extents; only where the extent is fixed.
    Peel,
    /// Full extents, guarded lanes.
    Mask,
    /// Copies fill, stores clip.
    Pad,
}

/// How iterations are dealt to the instances of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deal {
    /// Contiguous runs of `ceil(iterations / instances)`.
    Block,
    /// Iteration `i` to instance `i mod instances`.
    Cyclic,
    /// Whoever is free takes the next.
    Dynamic,
}

/// Parallel mapping of a loop.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Mapping {
    /// Name of the resource.
    pub resource: String,
    /// Who gets which iteration.
    pub deal: Deal,
    /// Added (modulo the number of instances) to the instance that `deal` names, so that a peeled rest goes
    /// to the instance whose turn it is.
    pub first: u64,
}

/// One dimension of a loop: `for variable in start..min(stop) step step`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Dimension {
    /// Holds the absolute offset in the axis that is split.
    pub variable: Variable,
    /// First value.
    pub start: Index,
    /// The loop ends before the least of these.
    pub stop: Bound,
    /// Distance between iterations, and full extent of the tile that each makes; at least 1.
    pub step: u64,
    /// What becomes of a last, shorter tile.
    pub rest: Rest,
}

/// A hint to bring a line closer some iterations before it is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Prefetch {
    /// What is read.
    pub target: Target,
    /// Iterations of this loop in advance.
    pub distance: u32,
}

/// A loop over the product of its dimensions, the last one running fastest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Loop {
    /// At least one; later ones may depend on the variables of earlier ones.
    pub dimensions: Vec<Dimension>,
    /// Parallel mapping; `None`: done in order by whoever arrives.
    pub over: Option<Mapping>,
    /// Copies of the body a code generator makes, at least 1.
    pub unroll: u32,
    /// Prefetch hints for operands read in the body.
    pub prefetch: Vec<Prefetch>,
    /// What is repeated.
    pub body: Vec<Statement>,
}

/// A tensor or a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Target {
    /// An operand.
    Tensor(TensorId),
    /// A buffer.
    Buffer(BufferId),
}

/// One element for each point of an instruction's axes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Access {
    /// What is read or written.
    pub target: Target,
    /// One index for each dimension, over loop variables, extents and the instruction's axes.
    pub indices: Vec<Index>,
}

/// An axis of a tile instruction: `0..extent`, cut off at the least `limit`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// Its variable.
    pub variable: Variable,
    /// Full extent, at least 1.
    pub extent: u64,
    /// Points at or beyond any of these are inactive; empty: all are active.
    pub limit: Vec<Index>,
}

/// A tile instruction: an operation for each point of its axes where the limits and masks hold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instruction {
    /// Axes, in the order of the notation.
    pub axes: Vec<Axis>,
    /// Further conditions on a point, over axes, loop variables and extents.
    pub mask: Vec<Constraint>,
    /// Axis whose neighbouring points go to neighbouring lanes; `None`: scalar.
    pub vector: Option<Variable>,
    /// What is done.
    pub operation: Operation,
}

/// How a contraction reads an element that it multiplies with several vectors; no matter for the values.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Broadcast {
    /// It is loaded once, into all lanes of a register.
    #[default]
    Register,
    /// Each multiply-add reads it from memory, and the vectors of the other factor stay in registers.
    Memory,
}

/// How a reduction, a scan or a collective combines values.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "the variants are the standard names")]
pub enum Combine {
    Sum,
    Maximum,
    Minimum,
    Product,
}

/// Kinds of exchange between the instances of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CollectiveKind {
    /// Every instance gets the combination of all.
    AllReduce(Combine),
    /// Instance `i` gets part `i` of the combination of all.
    ReduceScatter(Combine),
    /// Every instance gets the parts of all, one after another along the last dimension.
    AllGather,
    /// Every instance gets a copy of the source.
    Broadcast,
}

/// What an instruction does at each point.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// `destination ← value`.
    Fill {
        /// Written.
        destination: Access,
        /// A constant.
        value: Number,
    },
    /// `destination ← source`, converting (and for block types quantising) between their types.
    /// A source with a lookup gathers, a destination with one scatters (to distinct places).
    Copy {
        /// Written.
        destination: Access,
        /// Read.
        source: Access,
        /// Written where limit or mask does not hold; `None`: nothing is written there.
        pad: Option<Number>,
    },
    /// `accumulator ← accumulator + a·b`; axes absent from the accumulator are summed over.
    Contract {
        /// Read and written.
        accumulator: Access,
        /// Left factor.
        a: Access,
        /// Right factor.
        b: Access,
        /// Where elements that are multiplied with whole vectors come from.
        broadcast: Broadcast,
    },
    /// `destination ← expression`.
    Map {
        /// Written.
        destination: Access,
        /// Element-wise value.
        expression: Expression,
    },
    /// `destination ← combine of expression over the axes absent from the destination`.
    Reduce {
        /// Written.
        destination: Access,
        /// What is combined.
        expression: Expression,
        /// How.
        combine: Combine,
        /// Whether the destination's old value takes part.
        accumulate: bool,
        /// Also written: the position along the reduced axis of a maximum or minimum (first one on ties).
        position: Option<Access>,
    },
    /// Running combination along `axis`: `destination[i] ← combine of expression[0..=i]`.
    Scan {
        /// Written.
        destination: Access,
        /// What is combined.
        expression: Expression,
        /// How.
        combine: Combine,
        /// Along which axis.
        axis: Variable,
    },
    /// The `count` largest values along `axis`, in descending order (first one on ties), with positions.
    Select {
        /// Written: values, with the rank as index of `rank`.
        values: Access,
        /// Written: positions.
        positions: Access,
        /// Read.
        source: Expression,
        /// Axis that is searched.
        axis: Variable,
        /// Variable that counts the rank `0..count` in `values` and `positions`.
        rank: Variable,
        /// How many.
        count: u64,
    },
    /// A hint, without effect on any value: the elements are used soon.
    Prefetch {
        /// What is used.
        place: Access,
        /// Whether it is written: its lines are then asked for exclusively, so that the stores need not wait.
        write: bool,
    },
    /// Exchange between all instances of `resource`; a barrier of it.
    Collective {
        /// Which exchange.
        kind: CollectiveKind,
        /// Written, in every instance.
        destination: Access,
        /// Read, in every instance (for a broadcast from a tensor: once).
        source: Access,
        /// Who takes part.
        resource: String,
    },
}

/// A floating-point constant, compared and hashed by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Number(u64);

impl Number {
    /// The value.
    pub fn value(self) -> f64 {
        f64::from_bits(self.0)
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        Self(value.to_bits())
    }
}

impl Program {
    /// A tensor by its number.
    pub fn tensor(&self, id: TensorId) -> &Tensor {
        &self.tensors[id.0 as usize]
    }

    /// A buffer by its number.
    pub fn buffer(&self, id: BufferId) -> &Buffer {
        &self.buffers[id.0 as usize]
    }

    /// Name of a variable.
    pub fn variable_name(&self, variable: Variable) -> &str {
        &self.variables[variable.0 as usize]
    }

    /// Instances of a resource inside its parent, when fixed.
    pub fn resource_count(&self, name: &str) -> Option<u64> {
        match self.resources.iter().find(|resource| resource.name == name)?.count {
            Count::Fixed(count) => Some(count),
            Count::Grid => None,
        }
    }

    /// Number of workers of a CPU launch: instances of `thread`, 1 when the program has none.
    pub fn workers(&self) -> u64 {
        self.resource_count("thread").unwrap_or(1)
    }

    /// Identity of the program: a BLAKE3 digest of its printed form, the name left out.
    ///
    /// Programs with one digest are one candidate; a refactor that changes nothing keeps all digests.
    pub fn hash(&self) -> ProgramHash {
        ProgramHash(*blake3::hash(self.body_text().as_bytes()).as_bytes())
    }
}

/// Digest of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProgramHash(pub [u8; 32]);

impl std::fmt::Display for ProgramHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().take(8).try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
