//! 5. Matmul on a GPU with tensor cores: blocks, warps, swizzled and staged tiles in shared memory.

use crate::ProgramBuilder;
use crate::affine::Affine;
use crate::data_type::DataType;
use crate::expression::{Binary, Unary};
use crate::program::{
    Access, Axis, Buffer, Count, Deal, Dimension, Instruction, Layout, Loop, Program, Rest, Role, Statement,
};

/// `C[m,n] = silu(A[m,k] · B[k,n] + bias[n])`, bf16 with f32 sums and output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorCore {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Length of the sums.
    pub k: u64,
    /// Tile of a block: rows, columns, depth.
    pub block: [u64; 3],
    /// Tile of a warp: rows and columns, which divide the block's, and depth of one instruction.
    pub warp: [u64; 3],
}

impl Default for TensorCore {
    fn default() -> Self {
        Self { m: 4096, n: 4096, k: 4096, block: [128, 256, 64], warp: [64, 64, 16] }
    }
}

impl TensorCore {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { m, n, k, block: [rows, columns, depth], warp: [height, width, step] } = *self;
        let mut builder = ProgramBuilder::new("matmul with bias and silu on tensor cores");
        builder.resource("block", Count::Grid);
        builder.resource("warp", Count::Fixed((rows / height) * (columns / width)));
        let a = builder.dense_tensor("A", DataType::Bf16, [m, k], Role::Input);
        let b = builder.dense_tensor("B", DataType::Bf16, [k, n], Role::Input);
        let c = builder.dense_tensor("C", DataType::F32, [m, n], Role::Output);
        let bias = builder.dense_tensor("bias", DataType::F32, [n], Role::Input);
        let [by, bx, p, wy, wx, q] = ["by", "bx", "p", "wy", "wx", "q"].map(|name| builder.variable(name));
        let [i, j, x] = ["i", "j", "x"].map(|name| builder.variable(name));
        let [m, n, k] = [m, n, k].map(|extent| Affine::from(extent as i64));
        let mut shared = |name: &str, shape: [u64; 2]| {
            let shape = shape.map(|extent| extent as i64);
            let buffer = Buffer::new(name, DataType::Bf16, shape, "shared").laid_out(Layout::Swizzled);
            builder.buffer(buffer.staged(3).owned_by("block"))
        };
        let (a_tile, b_tile) = (shared("As", [rows, depth]), shared("Bs", [depth, columns]));
        let acc = builder.buffer(
            Buffer::new("acc", DataType::F32, [height as i64, width as i64], "register").owned_by("warp"),
        );

        let warps = |body: Vec<Statement>| {
            let across = Dimension::new(wx, bx, bx + columns as i64, width);
            Loop::new([Dimension::new(wy, by, by + rows as i64, height), across])
                .mapped("warp", Deal::Block)
                .with_body(body)
        };
        let full = || [Axis::new(i, height), Axis::new(j, width)];
        let columns_left = || Axis::new(j, width).limited(n.clone() - wx);
        let element = || Access::new(acc, [i, j]);
        let copy_a = Instruction::copy_padded(
            [Axis::new(i, rows).limited(m.clone() - by), Axis::new(x, depth).limited(k.clone() - p)],
            Access::new(a_tile, [i, x]),
            Access::new(a, [by + i, p + x]),
            0.0,
        );
        let copy_b = Instruction::copy_padded(
            [Axis::new(x, depth).limited(k.clone() - p), Axis::new(j, columns).limited(n.clone() - bx)],
            Access::new(b_tile, [x, j]),
            Access::new(b, [p + x, bx + j]),
            0.0,
        );
        let multiply = Instruction::contract(
            [Axis::new(i, height), Axis::new(j, width), Axis::new(x, step)],
            element(),
            Access::new(a_tile, [wy - by + i, q - p + x]),
            Access::new(b_tile, [q - p + x, wx - bx + j]),
        );
        let finish =
            element().load().binary(Binary::Add, Access::new(bias, [wx + j]).load()).unary(Unary::Silu);
        let reduction = Loop::over_range(p, 0, k.clone(), depth).rest(Rest::Pad).with_body([
            copy_a.into(),
            copy_b.into(),
            Statement::barrier("block"),
            warps(vec![Loop::over_range(q, p, p + depth as i64, step).with_body([multiply]).into()]).into(),
            Statement::barrier("block"),
        ]);
        let store = Instruction::copy(
            [Axis::new(i, height).limited(m.clone() - wy), columns_left()],
            Access::new(c, [wy + i, wx + j]),
            element(),
        );
        let body: [Statement; 6] = [
            a_tile.into(),
            b_tile.into(),
            acc.into(),
            warps(vec![Instruction::fill(full(), element(), 0.0).into()]).into(),
            reduction.into(),
            warps(vec![
                Instruction::map([Axis::new(i, height), columns_left()], element(), finish).into(),
                store.into(),
            ])
            .into(),
        ];
        let blocks = [Dimension::new(by, 0, m.clone(), rows), Dimension::new(bx, 0, n.clone(), columns)];
        let grid = Loop::new(blocks).rest(Rest::Pad).mapped("block", Deal::Block).with_body(body);
        builder.finish_run([vec![grid.into()]])
    }
}
