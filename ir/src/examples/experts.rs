//! 7. Mixture of experts of unequal size: gathered rows, ragged loops, a weighted sum of what each token chose.

use crate::ProgramBuilder;
use crate::affine::{Affine, Index};
use crate::data_type::DataType;
use crate::expression::{Binary, Unary};
use crate::program::{
    Access, Axis, Buffer, Count, Deal, Dimension, Instruction, Lifetime, Loop, Program, Role, Statement,
};

/// Each token goes to `chosen` experts, each a gated two-layer network; f32.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Experts {
    /// Number of tokens.
    pub tokens: u64,
    /// Experts of one token.
    pub chosen: u64,
    /// Number of experts.
    pub experts: u64,
    /// Length of a token's vector.
    pub hidden: u64,
    /// Width between the layers.
    pub inner: u64,
    /// Rows of a tile.
    pub rows: u64,
    /// Workers.
    pub threads: u64,
}

impl Default for Experts {
    fn default() -> Self {
        Self { tokens: 256, chosen: 2, experts: 8, hidden: 1024, inner: 512, rows: 16, threads: 2 }
    }
}

impl Experts {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { tokens, chosen, experts, hidden, inner, rows, threads } = *self;
        let slots = tokens * chosen;
        let mut builder = ProgramBuilder::new("mixture of experts of unequal size");
        builder.resource("thread", Count::Fixed(threads));
        let x = builder.dense_tensor("X", DataType::F32, [tokens, hidden], Role::Input);
        let [w_gate, w_up] = ["Wgate", "Wup"]
            .map(|name| builder.dense_tensor(name, DataType::F32, [experts, hidden, inner], Role::Input));
        let w_down = builder.dense_tensor("Wdown", DataType::F32, [experts, inner, hidden], Role::Input);
        let [tokens_of, offset] = ["tokens_of", "offset"]
            .map(|name| builder.dense_tensor(name, DataType::Int32, [experts], Role::Input));
        let index = builder.dense_tensor("index", DataType::Int32, [slots], Role::Input);
        let position = builder.dense_tensor("position", DataType::Int32, [tokens, chosen], Role::Input);
        let weight = builder.dense_tensor("weight", DataType::F32, [tokens, chosen], Role::Input);
        let out = builder.dense_tensor("out", DataType::F32, [tokens, hidden], Role::Output);
        let [e, i, t, s] = ["e", "i", "t", "s"].map(|name| builder.variable(name));
        let [r, c, f] = ["r", "c", "f"].map(|name| builder.variable(name));
        let slot = builder.buffer(
            Buffer::new("slot", DataType::F32, [slots as i64, hidden as i64], "memory")
                .living(Lifetime::Workspace),
        );
        let mut local = |name: &str, shape: &[u64], level: &str| {
            let shape = shape.iter().map(|&extent| extent as i64);
            builder.buffer(Buffer::new(name, DataType::F32, shape, level).owned_by("thread"))
        };
        let [xt, yt] = ["xt", "y"].map(|name| local(name, &[rows, hidden], "L2"));
        let [gate, up, h] = ["g", "u", "h"].map(|name| local(name, &[rows, inner], "L2"));
        let [sum, row] = ["o", "r_row"].map(|name| local(name, &[hidden], "L1"));

        // Where the rows of this expert's tile are listed: offset[e] + i + r.
        let listed = || Index::lookup(offset, [e], (0, slots as i64), 1).plus(i + r);
        let left = || {
            let count = Index::lookup(tokens_of, [e], (0, slots as i64), 1);
            Axis::new(r, rows).limited(count.plus(Affine::default() - i))
        };
        let all = |variable, extent| [Axis::new(r, rows), Axis::new(variable, extent)];
        let at = |buffer, variable| Access::new(buffer, [r, variable]);
        let weights = |tensor, from, to| Access::new(tensor, [e, from, to]);
        let layer = |destination, to, width, source, from, depth, tensor| {
            Instruction::contract(
                [left(), Axis::new(to, width), Axis::new(from, depth)],
                at(destination, to),
                at(source, from),
                weights(tensor, from, to),
            )
            .vector(to)
        };
        let gated = at(gate, f).load().unary(Unary::Silu).binary(Binary::Multiply, at(up, f).load());
        let token = Index::lookup(index, [listed()], (0, tokens as i64 - 1), 1);
        let mut body: Vec<Statement> = [xt, yt, gate, up, h].map(Statement::from).to_vec();
        body.extend(
            [
                Instruction::fill(all(f, inner), at(gate, f), 0.0),
                Instruction::fill(all(f, inner), at(up, f), 0.0),
                Instruction::fill(all(c, hidden), at(yt, c), 0.0),
                Instruction::copy(
                    [left(), Axis::new(c, hidden)],
                    at(xt, c),
                    Access::new(x, [token, c.into()]),
                ),
                layer(gate, f, inner, xt, c, hidden, w_gate),
                layer(up, f, inner, xt, c, hidden, w_up),
                Instruction::map([left(), Axis::new(f, inner)], at(h, f), gated).vector(f),
                layer(yt, c, hidden, h, f, inner, w_down),
                Instruction::copy(
                    [left(), Axis::new(c, hidden)],
                    Access::new(slot, [listed(), c.into()]),
                    at(yt, c),
                ),
            ]
            .map(Statement::from),
        );
        let ragged = Dimension::new(i, 0, Index::lookup(tokens_of, [e], (0, slots as i64), 1), rows);
        let networks = Loop::new([Dimension::new(e, 0, experts as i64, 1), ragged])
            .mapped("thread", Deal::Dynamic)
            .with_body(body);

        let place = Index::lookup(position, [t, s], (0, slots as i64 - 1), 1);
        let element = |buffer| Access::new(buffer, [c]);
        let vector = || [Axis::new(c, hidden)];
        let share = Access::new(weight, [t, s]).load().binary(Binary::Multiply, element(row).load());
        let choices = Loop::over_range(s, 0, chosen as i64, 1).with_body([
            Instruction::copy(vector(), element(row), Access::new(slot, [place, c.into()])).vector(c),
            Instruction::map(vector(), element(sum), element(sum).load().binary(Binary::Add, share))
                .vector(c),
        ]);
        let combined: [Statement; 5] = [
            sum.into(),
            row.into(),
            Instruction::fill(vector(), element(sum), 0.0).vector(c).into(),
            choices.into(),
            Instruction::copy(vector(), Access::new(out, [t, c]), element(sum)).vector(c).into(),
        ];
        let sums = Loop::over_range(t, 0, tokens as i64, 1).mapped("thread", Deal::Block).with_body(combined);
        builder.finish_run([vec![networks.into()], vec![sums.into()]])
    }
}
