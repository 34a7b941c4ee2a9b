//! 8. Dedispersion, as in recorded GPU spaces: each trial measure shifts the channels by a table.

use crate::ProgramBuilder;
use crate::affine::{Affine, Index};
use crate::data_type::DataType;
use crate::expression::Binary;
use crate::program::{Access, Buffer, Count, Deal, Dimension, Instruction, Loop, Program, Role, Statement};

/// `out[y,x] = Σ over channels c of in[c, x + shift[y,c]]`, uint8 summed in f32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dedispersion {
    /// Samples of the output.
    pub samples: u64,
    /// Dispersion measures.
    pub measures: u64,
    /// Frequency channels.
    pub channels: u64,
    /// Greatest shift; the input has so many samples more.
    pub longest: u64,
    /// Lanes of a block along samples and measures.
    pub lanes: [u64; 2],
    /// Points of a lane along samples and measures.
    pub points: [u64; 2],
}

impl Default for Dedispersion {
    fn default() -> Self {
        Self { samples: 25000, measures: 2048, channels: 1536, longest: 650, lanes: [32, 8], points: [4, 2] }
    }
}

impl Dedispersion {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { samples, measures, channels, longest, lanes: [bx, by], points: [tx, ty] } = *self;
        let mut builder = ProgramBuilder::new("dedispersion");
        builder.resource("block", Count::Grid);
        builder.resource("lane", Count::Fixed(bx * by));
        let input = builder.dense_tensor("in", DataType::Uint8, [channels, samples + longest], Role::Input);
        let shift = builder.dense_tensor("shift", DataType::Int32, [measures, channels], Role::Input);
        let out = builder.dense_tensor("out", DataType::F32, [measures, samples], Role::Output);
        let [x, y, sx, sy, lx, ly, c] =
            ["x", "y", "sx", "sy", "lx", "ly", "c"].map(|name| builder.variable(name));
        let acc = builder.buffer(Buffer::scalar("acc", DataType::F32, "register").owned_by("lane"));

        let [samples, measures] = [samples, measures].map(|extent| Affine::from(extent as i64));
        let shifted = Index::lookup(shift, [ly, c], (0, longest as i64), 1).plus(lx);
        let sample = Access::new(input, [c.into(), shifted]).load();
        let add = Access::scalar(acc).load().binary(Binary::Add, sample);
        let point: [Statement; 4] = [
            acc.into(),
            Instruction::fill([], Access::scalar(acc), 0.0).into(),
            Loop::over_range(c, 0, channels as i64, 1)
                .with_body([Instruction::map([], Access::scalar(acc), add)])
                .into(),
            Instruction::copy([], Access::new(out, [ly, lx]), Access::scalar(acc)).into(),
        ];
        let lanes = Loop::new([
            Dimension::new(lx, sx, sx + bx as i64, 1).limited(samples.clone()),
            Dimension::new(ly, sy, sy + by as i64, 1).limited(measures.clone()),
        ])
        .mapped("lane", Deal::Block)
        .with_body(point);
        let tiles = Loop::new([
            Dimension::new(sx, x, x + (bx * tx) as i64, bx).limited(samples.clone()),
            Dimension::new(sy, y, y + (by * ty) as i64, by).limited(measures.clone()),
        ])
        .with_body([lanes]);
        let blocks = [Dimension::new(x, 0, samples, bx * tx), Dimension::new(y, 0, measures, by * ty)];
        let grid = Loop::new(blocks).mapped("block", Deal::Block).with_body([tiles]);
        builder.finish_run([vec![grid.into()]])
    }
}
