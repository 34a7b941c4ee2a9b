//! 4. GEMV with `Q4_0` weights; the vector is quantised to `Q8_0` in a phase of its own.

use crate::ProgramBuilder;
use crate::affine::Affine;
use crate::data_type::DataType;
use crate::program::{
    Access, Axis, Buffer, Count, Deal, Instruction, Lifetime, Loop, Program, Rest, Role, Statement,
};

/// `y[n] = W[n,k] · x[k]`, f32 outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuantisedGemv {
    /// Rows of the weights.
    pub n: u64,
    /// Length of a row: a multiple of 32.
    pub k: u64,
    /// Rows of a register tile.
    pub rows: u64,
    /// Workers.
    pub threads: u64,
}

impl Default for QuantisedGemv {
    fn default() -> Self {
        Self { n: 4096, k: 4096, rows: 4, threads: 2 }
    }
}

impl QuantisedGemv {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { n, k, rows, threads } = *self;
        let mut builder = ProgramBuilder::new("GEMV with Q4_0 weights");
        builder.resource("thread", Count::Fixed(threads));
        let weights = builder.dense_tensor("W", DataType::Q4_0, [n, k], Role::Input);
        let x = builder.dense_tensor("x", DataType::F32, [k], Role::Input);
        let y = builder.dense_tensor("y", DataType::F32, [n], Role::Output);
        let [b, j, b2, i, lane] = ["b", "j", "b2", "i", "lane"].map(|name| builder.variable(name));
        let quantised = builder
            .buffer(Buffer::new("xq", DataType::Q8_0, [k as i64], "memory").living(Lifetime::Workspace));
        let acc =
            builder.buffer(Buffer::new("acc", DataType::F32, [rows as i64], "register").owned_by("thread"));

        let quantise = Loop::over_range(b, 0, k as i64, 32).mapped("thread", Deal::Block).with_body([
            Instruction::copy(
                [Axis::new(lane, 32)],
                Access::new(quantised, [b + lane]),
                Access::new(x, [b + lane]),
            )
            .vector(lane),
        ]);
        let rows_left = || Axis::new(i, rows).limited(Affine::from(n as i64) - j);
        let multiply = Instruction::contract(
            [rows_left(), Axis::new(lane, 32)],
            Access::new(acc, [i]),
            Access::new(weights, [j + i, b2 + lane]),
            Access::new(quantised, [b2 + lane]),
        );
        let body: [Statement; 4] = [
            acc.into(),
            Instruction::fill([Axis::new(i, rows)], Access::new(acc, [i]), 0.0).into(),
            Loop::over_range(b2, 0, k as i64, 32).unrolled(4).with_body([multiply.vector(lane)]).into(),
            Instruction::copy([rows_left()], Access::new(y, [j + i]), Access::new(acc, [i])).into(),
        ];
        let product = Loop::over_range(j, 0, n as i64, rows)
            .rest(Rest::Peel)
            .mapped("thread", Deal::Block)
            .with_body(body);
        builder.finish_run([vec![quantise.into()], vec![product.into()]])
    }
}
