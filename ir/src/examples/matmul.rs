//! 1. Matmul on a CPU: two levels of cache tiles, both operands packed, epilogue fused.

use crate::ProgramBuilder;
use crate::affine::{Affine, Constraint};
use crate::data_type::DataType;
use crate::expression::{Binary, Unary};
use crate::program::{
    Access, Axis, Buffer, Count, Deal, Dimension, Instruction, Layout, Loop, Prefetch, Program, Rest, Role,
    Statement, Target,
};

/// `C[m,n] = silu(A[m,k] · B[k,n] + bias[n])`, f32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matmul {
    /// Rows of A and C.
    pub m: u64,
    /// Columns of B and C.
    pub n: u64,
    /// Length of the sums.
    pub k: u64,
    /// Rows of one thread's turn, of the packed tile of A, and of the register tile.
    pub rows: [u64; 3],
    /// Columns of the packed tile of B, and of the register tile.
    pub columns: [u64; 2],
    /// Depth of the packed tiles.
    pub depth: u64,
    /// Workers.
    pub threads: u64,
}

impl Default for Matmul {
    fn default() -> Self {
        Self { m: 1024, n: 2048, k: 1024, rows: [512, 96, 6], columns: [1024, 16], depth: 256, threads: 2 }
    }
}

impl Matmul {
    /// The program. The tile of A should be a multiple of the register tile in rows, that of B in columns.
    pub fn program(&self) -> Program {
        let Self { m, n, k, rows: [turn, tile, height], columns: [panel, width], depth, threads } = *self;
        let mut builder = ProgramBuilder::new("matmul with bias and silu, packed, on threads");
        builder.resource("thread", Count::Fixed(threads));
        let a = builder.dense_tensor("A", DataType::F32, [m, k], Role::Input);
        let b = builder.dense_tensor("B", DataType::F32, [k, n], Role::Input);
        let c = builder.dense_tensor("C", DataType::F32, [m, n], Role::Output);
        let bias = builder.dense_tensor("bias", DataType::F32, [n], Role::Input);
        let [jc, pc, jp, im, ic, jr, ir, p] =
            ["jc", "pc", "jp", "im", "ic", "jr", "ir", "p"].map(|name| builder.variable(name));
        let [i, j, q] = ["i", "j", "q"].map(|name| builder.variable(name));
        let [m, n, k] = [m, n, k].map(|extent| Affine::from(extent as i64));
        let packed_b = builder.buffer(
            Buffer::new("Bp", DataType::F32, [depth as i64, panel as i64], "L3")
                .laid_out(Layout::Panels { dimension: 1, width }),
        );
        let packed_a = builder.buffer(
            Buffer::new("Ap", DataType::F32, [tile as i64, depth as i64], "L2")
                .laid_out(Layout::Panels { dimension: 0, width: height })
                .owned_by("thread"),
        );
        let acc = builder.buffer(
            Buffer::new("acc", DataType::F32, [height as i64, width as i64], "register").owned_by("thread"),
        );

        let pack_b = Instruction::copy_padded(
            [
                Axis::new(q, depth).limited(k.clone() - pc),
                Axis::new(j, width).limited(n.clone() - jp).limited(jc + panel as i64 - jp),
            ],
            Access::new(packed_b, [Affine::from(q), jp - jc + j]),
            Access::new(b, [pc + q, jp + j]),
            0.0,
        );
        let pack_a = Instruction::copy_padded(
            [
                Axis::new(i, tile).limited(m.clone() - ic).limited(im + turn as i64 - ic),
                Axis::new(q, depth).limited(k.clone() - pc),
            ],
            Access::new(packed_a, [i, q]),
            Access::new(a, [ic + i, pc + q]),
            0.0,
        );
        let full = || [Axis::new(i, height), Axis::new(j, width)];
        let rows_left = Axis::new(i, height).limited(m.clone() - ir).limited(im + turn as i64 - ir);
        let clipped = || [rows_left.clone(), Axis::new(j, width).limited(n.clone() - jr)];
        let tile_of_c = || Access::new(c, [ir + i, jr + j]);
        let element = || Access::new(acc, [i, j]);
        let multiply = Instruction::contract(
            full(),
            element(),
            Access::new(packed_a, [ir - ic + i, p - pc]),
            Access::new(packed_b, [p - pc, jr - jc + j]),
        );
        let mut reduction = Loop::new([Dimension::new(p, pc, pc + depth as i64, 1).limited(k.clone())])
            .unrolled(8)
            .with_body([multiply.vector(j)]);
        reduction.prefetch = vec![Prefetch { target: Target::Buffer(packed_a), distance: 8 }];
        let finish =
            element().load().binary(Binary::Add, Access::new(bias, [jr + j]).load()).unary(Unary::Silu);
        let register_tile: Vec<Statement> = vec![
            acc.into(),
            Statement::when(
                [Constraint::at_most(pc, 0)],
                vec![Instruction::fill(full(), element(), 0.0).vector(j).into()],
                vec![Instruction::copy_padded(clipped(), element(), tile_of_c(), 0.0).vector(j).into()],
            ),
            reduction.into(),
            Statement::when(
                [Constraint::at_most(k.clone(), pc + depth as i64)],
                vec![Instruction::map(clipped(), element(), finish).vector(j).into()],
                Vec::new(),
            ),
            Instruction::copy(clipped(), tile_of_c(), element()).vector(j).into(),
        ];
        let turn_end = im + turn as i64;
        let over_ir = Loop::new([Dimension::new(ir, ic, ic + tile as i64, height)
            .limited(turn_end.clone())
            .limited(m.clone())])
        .with_body(register_tile);
        let over_jr = Loop::new([Dimension::new(jr, jc, jc + panel as i64, width).limited(n.clone())])
            .with_body([over_ir]);
        let over_ic = Loop::new([Dimension::new(ic, im, turn_end, tile).limited(m.clone()).rest(Rest::Peel)])
            .with_body([packed_a.into(), pack_a.into(), over_jr.into()] as [Statement; 3]);
        let over_im = Loop::over_range(im, 0, m, turn)
            .rest(Rest::Peel)
            .mapped("thread", Deal::Block)
            .with_body([over_ic]);
        let packing =
            Loop::new([Dimension::new(jp, jc, jc + panel as i64, width).limited(n.clone()).rest(Rest::Pad)])
                .mapped("thread", Deal::Cyclic)
                .with_body([pack_b.vector(j)]);
        let over_pc = Loop::over_range(pc, 0, k, depth).rest(Rest::Peel).with_body([
            packed_b.into(),
            packing.into(),
            Statement::barrier("device"),
            over_im.into(),
            Statement::barrier("device"),
        ]);
        let over_jc = Loop::over_range(jc, 0, n, panel).rest(Rest::Peel).with_body([over_pc]);
        builder.finish_run([vec![over_jc.into()]])
    }
}
