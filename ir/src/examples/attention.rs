//! 3. Attention at decode: context known at run time, split over threads, cache in pages.

use crate::ProgramBuilder;
use crate::affine::{Affine, Constraint, Index, Variable};
use crate::data_type::DataType;
use crate::expression::{Binary, Expression, Unary};
use crate::program::{
    Access, Axis, Buffer, BufferId, Combine, Count, Deal, Dimension, Instruction, Lifetime, Loop, Operation,
    Program, Role, Statement, Tensor, TensorId,
};

/// One new token attends to a cached context of `ctx` tokens (run time), with grouped queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attention {
    /// Heads of the cache.
    pub heads: u64,
    /// Query heads that share one head of the cache.
    pub group: u64,
    /// Length of a head's vectors.
    pub width: u64,
    /// Rows of the cache.
    pub rows: u64,
    /// Tokens of a page.
    pub page: u64,
    /// Pages of one part of the context.
    pub pages: u64,
    /// Longest context.
    pub longest: u64,
    /// Workers.
    pub threads: u64,
}

impl Default for Attention {
    fn default() -> Self {
        Self { heads: 8, group: 4, width: 128, rows: 65536, page: 64, pages: 16, longest: 32768, threads: 2 }
    }
}

/// Names of one build.
struct Build {
    sizes: Attention,
    builder: ProgramBuilder,
    ctx: Variable,
    pages: Variable,
    parts: Variable,
    g: Variable,
    d: Variable,
    j: Variable,
    h: Variable,
    query: TensorId,
    keys: TensorId,
    values: TensorId,
    table: TensorId,
    out: TensorId,
    /// Partial outputs, maxima and sums of the parts.
    partial: [BufferId; 3],
}

impl Attention {
    /// The program.
    pub fn program(&self) -> Program {
        let Self { heads, group, width, rows, page, pages, longest, threads } = *self;
        let mut builder = ProgramBuilder::new("attention at decode, paged, split over the context");
        builder.resource("thread", Count::Fixed(threads));
        let ctx = builder.extent("ctx", 1, longest);
        let page_count = builder.quotient_extent("pages", ctx, page);
        let parts = builder.quotient_extent("parts", ctx, page * pages);
        let query = builder.dense_tensor("q", DataType::F32, [heads, group, width], Role::Input);
        let keys = builder.dense_tensor("K", DataType::F16, [rows, heads, width], Role::Input);
        let values = builder.dense_tensor("V", DataType::F16, [rows, heads, width], Role::Input);
        let table = builder.tensor(Tensor {
            name: "page".to_owned(),
            data_type: DataType::Int32,
            shape: vec![page_count.into()],
            strides: vec![1],
            role: Role::Input,
        });
        let out = builder.dense_tensor("out", DataType::F32, [heads, group, width], Role::Output);
        let [g, d, j, h] = ["g", "d", "j", "h"].map(|name| builder.variable(name));
        let workspace = |name: &str, width: Option<u64>| {
            let fixed = |extent: u64| Affine::from(extent as i64);
            let shape = [fixed(heads), parts.into(), fixed(group)].into_iter().chain(width.map(fixed));
            Buffer::new(name, DataType::F32, shape, "memory").living(Lifetime::Workspace)
        };
        let partial = [
            builder.buffer(workspace("po", Some(width))),
            builder.buffer(workspace("pm", None)),
            builder.buffer(workspace("pl", None)),
        ];
        let sizes = self.clone();
        let mut build = Build {
            sizes,
            builder,
            ctx,
            pages: page_count,
            parts,
            g,
            d,
            j,
            h,
            query,
            keys,
            values,
            table,
            out,
            partial,
        };
        let phases = [build.parts(), build.merge()];
        build.builder.finish_run(phases.map(|phase| vec![phase.into()]))
    }
}

impl Build {
    fn local(&mut self, name: &str, shape: &[u64], level: &str) -> BufferId {
        let shape = shape.iter().map(|&extent| extent as i64);
        self.builder.buffer(Buffer::new(name, DataType::F32, shape, level).owned_by("thread"))
    }

    fn groups(&self) -> [Axis; 1] {
        [Axis::new(self.g, self.sizes.group)]
    }

    fn vectors(&self) -> [Axis; 2] {
        [Axis::new(self.g, self.sizes.group), Axis::new(self.d, self.sizes.width)]
    }

    /// First phase: online softmax over the pages of one part.
    fn parts(&mut self) -> Loop {
        let Attention { heads, group, width, page, pages, rows, .. } = self.sizes;
        let [part, b] = ["part", "b"].map(|name| self.builder.variable(name));
        let o = self.local("o", &[group, width], "L1");
        let [s, p] = ["s", "p"].map(|name| self.local(name, &[group, page], "L1"));
        let [m, mn, c, l] = ["m", "mn", "c", "l"].map(|name| self.local(name, &[group], "register"));
        let Self { ctx, g, d, j, h, .. } = *self;
        let of_group = |buffer: BufferId| Access::new(buffer, [g]);
        let load = |buffer: BufferId| of_group(buffer).load();
        let [score, weight] = [s, p].map(|buffer| Access::new(buffer, [g, j]));
        let vector = || Access::new(o, [g, d]);
        let left = Affine::from(ctx) - b * page as i64;
        let tile = || [Axis::new(g, group), Axis::new(j, page)];
        let known = Axis::new(j, page).limited(left.clone());
        let row = |cache: TensorId| {
            let first = Index::lookup(self.table, [b], (0, (rows - page) as i64), 1);
            Access::new(cache, [first.plus(j), h.into(), d.into()])
        };
        let scale = Expression::constant(1.0 / (width as f64).sqrt());
        let scaled = Expression::Choose {
            condition: vec![Constraint::less(j, left)],
            then: Box::new(score.clone().load().binary(Binary::Multiply, scale)),
            otherwise: Box::new(Expression::constant(f64::NEG_INFINITY)),
        };
        let over = |combine, destination: BufferId, source: &Access| {
            let operation = Operation::Reduce {
                destination: of_group(destination),
                expression: source.clone().load(),
                combine,
                accumulate: true,
                position: None,
            };
            Instruction::new(tile(), operation)
        };
        let exponential =
            |x: Expression, y: BufferId| x.binary(Binary::Subtract, load(y)).unary(Unary::Exponential);
        let page_body = vec![
            Instruction::fill(tile(), score.clone(), 0.0).vector(j),
            Instruction::contract(
                [Axis::new(g, group), known.clone(), Axis::new(d, width)],
                score.clone(),
                Access::new(self.query, [h, g, d]),
                row(self.keys),
            )
            .vector(d),
            Instruction::map(tile(), score.clone(), scaled).vector(j),
            Instruction::map(self.groups(), of_group(mn), load(m)),
            over(Combine::Maximum, mn, &score).vector(j),
            Instruction::map(self.groups(), of_group(c), exponential(load(m), mn)),
            Instruction::map(tile(), weight.clone(), exponential(score.load(), mn)).vector(j),
            Instruction::map(self.groups(), of_group(l), load(l).binary(Binary::Multiply, load(c))),
            over(Combine::Sum, l, &weight).vector(j),
            Instruction::map(self.vectors(), vector(), vector().load().binary(Binary::Multiply, load(c)))
                .vector(d),
            Instruction::contract(
                [Axis::new(g, group), known, Axis::new(d, width)],
                vector(),
                weight,
                row(self.values),
            )
            .vector(d),
            Instruction::map(self.groups(), of_group(m), load(mn)),
        ];
        let over_pages =
            Loop::new([Dimension::new(b, part * pages as i64, part * pages as i64 + pages as i64, 1)
                .limited(self.pages)])
            .with_body(page_body);
        let [po, pm, pl] = self.partial;
        let mut body: Vec<Statement> = [o, s, p, m, mn, c, l].map(Statement::from).to_vec();
        body.extend([
            Instruction::fill(self.vectors(), vector(), 0.0).vector(d).into(),
            Instruction::fill(self.groups(), of_group(l), 0.0).into(),
            Instruction::fill(self.groups(), of_group(m), f64::from(f32::MIN)).into(),
            over_pages.into(),
            Instruction::copy(self.vectors(), Access::new(po, [h, part, g, d]), vector()).vector(d).into(),
            Instruction::copy(self.groups(), Access::new(pm, [h, part, g]), of_group(m)).into(),
            Instruction::copy(self.groups(), Access::new(pl, [h, part, g]), of_group(l)).into(),
        ]);
        Loop::new([Dimension::new(h, 0, heads as i64, 1), Dimension::new(part, 0, self.parts, 1)])
            .mapped("thread", Deal::Dynamic)
            .with_body(body)
    }

    /// Second phase: the parts of each head as one.
    fn merge(&mut self) -> Loop {
        let Attention { heads, group, width, .. } = self.sizes;
        let part = self.builder.variable("i");
        let o = self.local("o", &[group, width], "L1");
        let [m, mn, c, w, l] = ["m", "mn", "c", "w", "l"].map(|name| self.local(name, &[group], "register"));
        let Self { g, d, h, partial: [po, pm, pl], .. } = *self;
        let of_group = |buffer: BufferId| Access::new(buffer, [g]);
        let load = |buffer: BufferId| of_group(buffer).load();
        let of_part = |buffer: BufferId| Access::new(buffer, [h, part, g]).load();
        let vector = || Access::new(o, [g, d]);
        let times = |x: Expression, y: BufferId| x.binary(Binary::Multiply, load(y));
        let weight = |x: Expression| x.binary(Binary::Subtract, load(mn)).unary(Unary::Exponential);
        let groups =
            |destination, expression| Instruction::map(self.groups(), of_group(destination), expression);
        let merged =
            times(vector().load(), c).binary(Binary::Add, times(Access::new(po, [h, part, g, d]).load(), w));
        let over_parts = Loop::over_range(part, 0, self.parts, 1).with_body([
            groups(mn, load(m).binary(Binary::Maximum, of_part(pm))),
            groups(c, weight(load(m))),
            groups(w, weight(of_part(pm))),
            groups(l, times(load(l), c).binary(Binary::Add, times(of_part(pl), w))),
            Instruction::map(self.vectors(), vector(), merged).vector(d),
            groups(m, load(mn)),
        ]);
        let quotient = vector().load().binary(Binary::Divide, load(l));
        let mut body: Vec<Statement> = [o, m, mn, c, w, l].map(Statement::from).to_vec();
        body.extend([
            Instruction::fill(self.vectors(), vector(), 0.0).vector(d).into(),
            Instruction::fill(self.groups(), of_group(l), 0.0).into(),
            Instruction::fill(self.groups(), of_group(m), f64::from(f32::MIN)).into(),
            over_parts.into(),
            Instruction::map(self.vectors(), Access::new(self.out, [h, g, d]), quotient).vector(d).into(),
        ]);
        Loop::over_range(h, 0, heads as i64, 1).mapped("thread", Deal::Block).with_body(body)
    }
}
