//! Builds programs in Rust code: gives fresh names and numbers. Its parts' constructors: `constructors.rs`.
//!
//! ```
//! use tilewright_ir::program::{Access, Axis, Instruction, Loop, Role};
//! use tilewright_ir::{DataType, ProgramBuilder};
//!
//! let mut builder = ProgramBuilder::new("double");
//! let (i, lane) = (builder.variable("i"), builder.variable("lane"));
//! let x = builder.dense_tensor("x", DataType::F32, [20], Role::InputOutput);
//! let lanes = [Axis::new(lane, 8).limited(-(i - 20))];
//! let clear = Instruction::fill(lanes, Access::new(x, [i + lane]), 0.0);
//! let body = Loop::over_range(i, 0, 20, 8).with_body([clear]);
//! let program = builder.finish_run([vec![body.into()]]);
//! assert_eq!(program.entries[0].name, "run");
//! ```

use std::collections::BTreeSet;

use crate::affine::{Affine, Variable};
use crate::data_type::DataType;
use crate::program::{
    Buffer, BufferId, Count, Entry, Extent, Program, Resource, Role, Statement, Tensor, TensorId,
};

/// A program in the making. Names that are taken get a number appended, so that the printed form is unambiguous.
#[derive(Debug, Clone)]
pub struct ProgramBuilder {
    program: Program,
    names: BTreeSet<String>,
}

impl ProgramBuilder {
    /// An empty program.
    pub fn new(name: impl Into<String>) -> Self {
        let program = Program {
            name: name.into(),
            variables: Vec::new(),
            extents: Vec::new(),
            tensors: Vec::new(),
            resources: Vec::new(),
            buffers: Vec::new(),
            entries: Vec::new(),
        };
        Self { program, names: BTreeSet::new() }
    }

    fn fresh(&mut self, name: &str) -> String {
        let numbered = (2..).map(|number| format!("{name}_{number}"));
        let fresh = std::iter::once(name.to_owned()).chain(numbered).find(|name| !self.names.contains(name));
        let fresh = fresh.expect("invariant: the candidates never end");
        self.names.insert(fresh.clone());
        fresh
    }

    /// A fresh variable.
    pub fn variable(&mut self, name: &str) -> Variable {
        let name = self.fresh(name);
        self.program.variables.push(name);
        Variable(self.program.variables.len() as u32 - 1)
    }

    /// A run-time length between `least` and `greatest`, passed by the launch.
    pub fn extent(&mut self, name: &str, least: u64, greatest: u64) -> Variable {
        let variable = self.variable(name);
        self.program.extents.push(Extent { variable, range: (least, greatest), quotient: None });
        variable
    }

    /// The derived length `ceil(of / divisor)` of an earlier run-time length.
    ///
    /// # Panics
    /// When `of` is no run-time length of this program, or `divisor` is 0.
    pub fn quotient_extent(&mut self, name: &str, of: Variable, divisor: u64) -> Variable {
        let range = self.program.extents.iter().find(|extent| extent.variable == of);
        let (least, greatest) = range.expect("invariant: derived from a run-time length").range;
        let range = (least.div_ceil(divisor), greatest.div_ceil(divisor));
        let variable = self.variable(name);
        self.program.extents.push(Extent { variable, range, quotient: Some((of, divisor)) });
        variable
    }

    /// An operand.
    pub fn tensor(&mut self, mut tensor: Tensor) -> TensorId {
        tensor.name = self.fresh(&tensor.name);
        self.program.tensors.push(tensor);
        TensorId(self.program.tensors.len() as u32 - 1)
    }

    /// An operand of fixed shape without gaps, last dimension contiguous.
    pub fn dense_tensor(
        &mut self,
        name: &str,
        data_type: DataType,
        shape: impl IntoIterator<Item = u64>,
        role: Role,
    ) -> TensorId {
        let shape: Vec<u64> = shape.into_iter().collect();
        let mut strides = vec![1; shape.len()];
        for dimension in (1..shape.len()).rev() {
            strides[dimension - 1] = strides[dimension] * shape[dimension] as i64;
        }
        let shape = shape.into_iter().map(|extent| Affine::from(extent as i64)).collect();
        self.tensor(Tensor { name: name.to_owned(), data_type, shape, strides, role })
    }

    /// A buffer.
    pub fn buffer(&mut self, mut buffer: Buffer) -> BufferId {
        buffer.name = self.fresh(&buffer.name);
        self.program.buffers.push(buffer);
        BufferId(self.program.buffers.len() as u32 - 1)
    }

    /// A resource, inside the one added before it.
    pub fn resource(&mut self, name: &str, count: Count) {
        self.program.resources.push(Resource { name: name.to_owned(), count });
    }

    /// The program with these entries.
    pub fn finish(mut self, entries: impl IntoIterator<Item = Entry>) -> Program {
        self.program.entries = entries.into_iter().collect();
        self.program
    }

    /// The program with the single entry `run` of these phases.
    pub fn finish_run(self, phases: impl IntoIterator<Item = Vec<Statement>>) -> Program {
        self.finish([Entry { name: "run".to_owned(), phases: phases.into_iter().collect() }])
    }
}
