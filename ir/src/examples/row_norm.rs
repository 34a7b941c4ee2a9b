//! 2. RMSNorm with residual, each row read once.

use crate::ProgramBuilder;
use crate::affine::Affine;
use crate::data_type::DataType;
use crate::expression::{Binary, Expression, Unary};
use crate::program::{
    Access, Axis, Buffer, Combine, Count, Deal, Instruction, Loop, Program, Role, Statement,
};

/// `y = x / √(mean(x²) + epsilon) · weight` with `x = a + residual`, for each row, f32.
#[derive(Debug, Clone, PartialEq)]
pub struct RowNorm {
    /// Number of rows.
    pub rows: u64,
    /// Length of a row.
    pub columns: u64,
    /// Lanes of a vector.
    pub lanes: u64,
    /// Added to the mean.
    pub epsilon: f64,
    /// Workers.
    pub threads: u64,
}

impl Default for RowNorm {
    fn default() -> Self {
        Self { rows: 512, columns: 4096, lanes: 8, epsilon: 1e-5, threads: 2 }
    }
}

impl RowNorm {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { rows, columns, lanes, epsilon, threads } = *self;
        let mut builder = ProgramBuilder::new("RMSNorm with residual");
        builder.resource("thread", Count::Fixed(threads));
        let a = builder.dense_tensor("a", DataType::F32, [rows, columns], Role::Input);
        let residual = builder.dense_tensor("residual", DataType::F32, [rows, columns], Role::Input);
        let weight = builder.dense_tensor("weight", DataType::F32, [columns], Role::Input);
        let y = builder.dense_tensor("y", DataType::F32, [rows, columns], Role::Output);
        let [r, c, c2, lane] = ["r", "c", "c2", "lane"].map(|name| builder.variable(name));
        let x = builder.buffer(Buffer::new("x", DataType::F32, [columns as i64], "L1").owned_by("thread"));
        let s =
            builder.buffer(Buffer::new("s", DataType::F32, [lanes as i64], "register").owned_by("thread"));
        let [t, q] = ["t", "q"]
            .map(|name| builder.buffer(Buffer::scalar(name, DataType::F32, "register").owned_by("thread")));

        let columns = columns as i64;
        let tail = |at| [Axis::new(lane, lanes).limited(Affine::from(columns) - at)];
        let all = || [Axis::new(lane, lanes)];
        let partial = || Access::new(s, [lane]);
        let add = Access::new(a, [Affine::from(r), c + lane])
            .load()
            .binary(Binary::Add, Access::new(residual, [Affine::from(r), c + lane]).load());
        let kept = |at| Access::new(x, [Affine::from(at) + lane]).load();
        let square = partial().load().binary(Binary::Add, kept(c).binary(Binary::Multiply, kept(c)));
        let root = Access::scalar(t)
            .load()
            .binary(Binary::Divide, Expression::constant(columns as f64))
            .binary(Binary::Add, Expression::constant(epsilon))
            .unary(Unary::ReciprocalSquareRoot);
        let scaled = kept(c2)
            .binary(Binary::Multiply, Access::scalar(q).load())
            .binary(Binary::Multiply, Access::new(weight, [c2 + lane]).load());
        let body: [Statement; 9] = [
            x.into(),
            s.into(),
            t.into(),
            q.into(),
            Instruction::fill(all(), partial(), 0.0).vector(lane).into(),
            Loop::over_range(c, 0, columns, lanes)
                .with_body([
                    Instruction::map(tail(c), Access::new(x, [c + lane]), add).vector(lane),
                    Instruction::map(tail(c), partial(), square).vector(lane),
                ])
                .into(),
            Instruction::reduce(all(), Access::scalar(t), Combine::Sum, partial().load()).vector(lane).into(),
            Instruction::map([], Access::scalar(q), root).into(),
            Loop::over_range(c2, 0, columns, lanes)
                .with_body([Instruction::map(tail(c2), Access::new(y, [Affine::from(r), c2 + lane]), scaled)
                    .vector(lane)])
                .into(),
        ];
        let over_rows = Loop::over_range(r, 0, rows as i64, 1).mapped("thread", Deal::Block).with_body(body);
        builder.finish_run([vec![over_rows.into()]])
    }
}
