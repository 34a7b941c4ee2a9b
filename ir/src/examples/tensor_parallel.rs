//! 6. Tensor-parallel matmul over in-memory-compute units, weights resident and prepared by an entry of their own.

use crate::ProgramBuilder;
use crate::affine::Affine;
use crate::data_type::DataType;
use crate::program::{
    Access, Axis, Buffer, CollectiveKind, Count, Deal, Entry, Instruction, Lifetime, Loop, Operation,
    Program, Rest, Role, Statement,
};

/// `Y[m,n] = X[m,k] · W[k,n]` with both factors in MXINT8, f32 outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorParallel {
    /// Rows of X and Y.
    pub m: u64,
    /// Columns of W and Y: a multiple of `units`.
    pub n: u64,
    /// Length of the sums.
    pub k: u64,
    /// Rows that are broadcast at a time.
    pub rows: u64,
    /// Compute units.
    pub units: u64,
}

impl Default for TensorParallel {
    fn default() -> Self {
        Self { m: 256, n: 4096, k: 1024, rows: 64, units: 32 }
    }
}

impl TensorParallel {
    /// The program: `prepare` once, then `run`.
    pub fn program(&self) -> Program {
        let Self { m, n, k, rows, units } = *self;
        let part = n / units;
        let mut builder = ProgramBuilder::new("tensor-parallel matmul over in-memory-compute units");
        builder.resource("unit", Count::Fixed(units));
        let x = builder.dense_tensor("X", DataType::F32, [m, k], Role::Input);
        let w = builder.dense_tensor("W", DataType::F32, [k, n], Role::Input);
        let y = builder.dense_tensor("Y", DataType::F32, [m, n], Role::Output);
        let [t, u, i, j, p] = ["t", "u", "i", "j", "p"].map(|name| builder.variable(name));
        let mut local = |name: &str, data_type, shape: [u64; 2], level: &str, stages, lifetime| {
            let shape = shape.map(|extent| extent as i64);
            let buffer = Buffer::new(name, data_type, shape, level).owned_by("unit");
            builder.buffer(buffer.staged(stages).living(lifetime))
        };
        let weights = local("Wu", DataType::MxInt8, [k, part], "sram", 1, Lifetime::Persistent);
        let xt = local("xt", DataType::MxInt8, [rows, k], "sram", 2, Lifetime::Scope);
        let yu = local("yu", DataType::Bf16, [rows, part], "sram", 1, Lifetime::Scope);
        let yt = local("yt", DataType::Bf16, [rows, n], "sram", 1, Lifetime::Scope);
        let acc = local("acc", DataType::F32, [rows, part], "accumulator", 1, Lifetime::Scope);

        let by_unit = |body: Vec<Statement>| {
            Loop::over_range(u, 0, n as i64, part).mapped("unit", Deal::Block).with_body(body)
        };
        let load = Instruction::copy(
            [Axis::new(p, k), Axis::new(j, part)],
            Access::new(weights, [p, j]),
            Access::new(w, [Affine::from(p), u + j]),
        );
        let prepare = by_unit(vec![load.into()]);

        let left = || Axis::new(i, rows).limited(Affine::from(m as i64) - t);
        let collective = |kind, axes: [Axis; 2], destination, source| {
            Instruction::new(
                axes,
                Operation::Collective { kind, destination, source, resource: "unit".to_owned() },
            )
        };
        let broadcast = collective(
            CollectiveKind::Broadcast,
            [left(), Axis::new(p, k)],
            Access::new(xt, [i, p]),
            Access::new(x, [t + i, p.into()]),
        );
        let multiply = by_unit(vec![
            acc.into(),
            Instruction::fill([Axis::new(i, rows), Axis::new(j, part)], Access::new(acc, [i, j]), 0.0).into(),
            Instruction::contract(
                [left(), Axis::new(j, part), Axis::new(p, k)],
                Access::new(acc, [i, j]),
                Access::new(xt, [i, p]),
                Access::new(weights, [p, j]),
            )
            .into(),
            Instruction::copy(
                [left(), Axis::new(j, part)],
                Access::new(yu, [i, j]),
                Access::new(acc, [i, j]),
            )
            .into(),
        ]);
        let gather = collective(
            CollectiveKind::AllGather,
            [left(), Axis::new(j, part)],
            Access::new(yt, [i, j]),
            Access::new(yu, [i, j]),
        );
        let store = Instruction::copy(
            [left(), Axis::new(j, n)],
            Access::new(y, [t + i, j.into()]),
            Access::new(yt, [i, j]),
        );
        let body: [Statement; 7] =
            [xt.into(), yu.into(), yt.into(), broadcast.into(), multiply.into(), gather.into(), store.into()];
        let run = Loop::over_range(t, 0, m as i64, rows).rest(Rest::Pad).with_body(body);
        builder.finish(
            [("prepare", prepare), ("run", run)]
                .map(|(name, phase)| Entry { name: name.to_owned(), phases: vec![vec![phase.into()]] }),
        )
    }
}
