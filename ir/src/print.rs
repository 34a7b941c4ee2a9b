//! Programs as text that a person can read; also what a program's hash is taken of.

use std::fmt::{self, Display, Write};

use crate::affine::{Affine, Constraint, Index};
use crate::expression::{Binary, Expression, Unary};
use crate::program::{
    Access, Broadcast, Buffer, CollectiveKind, Combine, Count, Deal, Instruction, Layout, Lifetime, Loop,
    Number, Operation, Program, Rest, Role, Statement, Target,
};

impl Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program {}", self.name)?;
        f.write_str(&self.body_text())
    }
}

impl Program {
    /// The printed form without its first line: equal texts mean equal programs.
    pub(crate) fn body_text(&self) -> String {
        let mut printer = Printer { program: self, text: String::with_capacity(2048), depth: 0 };
        printer.program();
        printer.text
    }
}

struct Printer<'a> {
    program: &'a Program,
    text: String,
    depth: usize,
}

/// Writing to a `String` cannot fail.
macro_rules! put {
    ($printer:expr, $($argument:tt)*) => { let _ = write!($printer.text, $($argument)*); };
}

impl<'a> Printer<'a> {
    fn program(&mut self) {
        let program = self.program;
        for extent in &program.extents {
            let name = program.variable_name(extent.variable);
            match extent.quotient {
                Some((of, divisor)) => {
                    put!(self, "extent {name} = ceil({}/{divisor})\n", program.variable_name(of));
                }
                None => {
                    put!(self, "extent {name}: run time, {}..{}\n", extent.range.0, extent.range.1);
                }
            }
        }
        for tensor in &program.tensors {
            put!(self, "tensor {} {}[", tensor.name, tensor.data_type);
            self.list(&tensor.shape, Self::affine);
            put!(self, "] strides {:?} ", tensor.strides);
            self.text.push_str(match tensor.role {
                Role::Input => "input\n",
                Role::Output => "output\n",
                Role::InputOutput => "input output\n",
            });
        }
        for resource in &program.resources {
            match resource.count {
                Count::Fixed(count) => {
                    put!(self, "resource {} {count}\n", resource.name);
                }
                Count::Grid => {
                    put!(self, "resource {} grid\n", resource.name);
                }
            }
        }
        for buffer in program.buffers.iter().filter(|buffer| buffer.lifetime != Lifetime::Scope) {
            let persistent = if buffer.lifetime == Lifetime::Persistent { " persistent" } else { "" };
            put!(self, "workspace{persistent} ");
            self.buffer(buffer);
        }
        for entry in &program.entries {
            for phase in &entry.phases {
                put!(self, "entry {} phase\n", entry.name);
                self.body(phase);
            }
        }
    }

    fn body(&mut self, body: &[Statement]) {
        self.depth += 1;
        for statement in body {
            self.indent();
            self.statement(statement);
        }
        self.depth -= 1;
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.text.push_str("  ");
        }
    }

    fn statement(&mut self, statement: &Statement) {
        match statement {
            Statement::Buffer(id) => self.buffer(self.program.buffer(*id)),
            Statement::Loop(body) => self.repeat(body),
            Statement::When { condition, then, otherwise } => {
                self.text.push_str("when ");
                self.constraints(condition);
                self.text.push('\n');
                self.body(then);
                if !otherwise.is_empty() {
                    self.indent();
                    self.text.push_str("otherwise\n");
                    self.body(otherwise);
                }
            }
            Statement::Instruction(instruction) => {
                self.instruction(instruction);
                self.text.push('\n');
            }
            Statement::Barrier { scope } => {
                put!(self, "barrier {scope}\n");
            }
        }
    }

    fn buffer(&mut self, buffer: &Buffer) {
        put!(self, "{} {}", buffer.name, buffer.data_type);
        if !buffer.shape.is_empty() {
            self.text.push('[');
            self.list(&buffer.shape, Self::affine);
            self.text.push(']');
        }
        put!(self, " in {}", buffer.level);
        match buffer.layout {
            Layout::RowMajor => {}
            Layout::Panels { dimension, width } => {
                put!(self, ", panels({dimension},{width})");
            }
            Layout::Padded { by } => {
                put!(self, ", padded({by})");
            }
            Layout::Swizzled => self.text.push_str(", swizzled"),
        }
        if buffer.stages != 1 {
            put!(self, ", stages {}", buffer.stages);
        }
        match &buffer.owner {
            Some(owner) => {
                put!(self, ", one for each {owner}\n");
            }
            None => self.text.push_str(", one for the device\n"),
        }
    }

    fn repeat(&mut self, repeated: &Loop) {
        self.text.push_str("for ");
        for (at, dimension) in repeated.dimensions.iter().enumerate() {
            if at > 0 {
                self.text.push_str(" x ");
            }
            put!(self, "{} in ", self.program.variable_name(dimension.variable));
            self.index(&dimension.start);
            self.text.push_str("..");
            self.bound(&dimension.stop);
            put!(self, " step {}", dimension.step);
            self.text.push_str(match dimension.rest {
                Rest::Peel => "",
                Rest::Mask => " rest mask",
                Rest::Pad => " rest pad",
            });
        }
        if let Some(mapping) = &repeated.over {
            let deal = match mapping.deal {
                Deal::Block => "block",
                Deal::Cyclic => "cyclic",
                Deal::Dynamic => "dynamic",
            };
            put!(self, " over {} {deal}", mapping.resource);
            if mapping.first != 0 {
                put!(self, " from {}", mapping.first);
            }
        }
        if repeated.unroll != 1 {
            put!(self, " unroll {}", repeated.unroll);
        }
        for prefetch in &repeated.prefetch {
            put!(self, " prefetch {} +{}", self.target_name(prefetch.target), prefetch.distance);
        }
        self.text.push('\n');
        self.body(&repeated.body);
    }

    fn instruction(&mut self, instruction: &Instruction) {
        match &instruction.operation {
            Operation::Fill { destination, value } => {
                self.text.push_str("fill ");
                self.access(destination);
                self.text.push_str(" <- ");
                self.number(*value);
            }
            Operation::Copy { destination, source, pad } => {
                let looks_up = |access: &Access| access.indices.iter().any(|index| index.lookup.is_some());
                self.text.push_str(match (looks_up(source), looks_up(destination)) {
                    (true, _) => "gather ",
                    (false, true) => "scatter ",
                    (false, false) => "copy ",
                });
                self.access(destination);
                self.text.push_str(" <- ");
                self.access(source);
                if let Some(pad) = pad {
                    self.text.push_str(" pad ");
                    self.number(*pad);
                }
            }
            Operation::Contract { accumulator, a, b, broadcast } => {
                self.text.push_str("contract ");
                self.access(accumulator);
                self.text.push_str(" += ");
                self.access(a);
                self.text.push_str(" * ");
                self.access(b);
                self.text.push_str(if *broadcast == Broadcast::Memory { " from memory" } else { "" });
            }
            Operation::Map { destination, expression } => {
                self.text.push_str("map ");
                self.access(destination);
                self.text.push_str(" <- ");
                self.expression(expression);
            }
            Operation::Reduce { destination, expression, combine, accumulate, position } => {
                self.text.push_str("reduce ");
                self.access(destination);
                if let Some(position) = position {
                    self.text.push_str(", ");
                    self.access(position);
                }
                put!(self, " {} {} of ", if *accumulate { "<-+" } else { "<-" }, combine_name(*combine));
                self.expression(expression);
            }
            Operation::Scan { destination, expression, combine, axis } => {
                self.text.push_str("scan ");
                self.access(destination);
                put!(self, " <- {} along {} of ", combine_name(*combine), self.program.variable_name(*axis));
                self.expression(expression);
            }
            Operation::Select { values, positions, source, axis, rank, count } => {
                self.text.push_str("select ");
                self.access(values);
                self.text.push_str(", ");
                self.access(positions);
                let (axis, rank) = (self.program.variable_name(*axis), self.program.variable_name(*rank));
                put!(self, " <- {count} largest, ranked {rank}, along {axis} of ");
                self.expression(source);
            }
            Operation::Prefetch { place, write } => {
                self.text.push_str("prefetch ");
                self.access(place);
                self.text.push_str(if *write { " to write" } else { "" });
            }
            Operation::Collective { kind, destination, source, resource } => {
                let kind = match kind {
                    CollectiveKind::AllReduce(combine) => format!("all-reduce {}", combine_name(*combine)),
                    CollectiveKind::ReduceScatter(combine) => {
                        format!("reduce-scatter {}", combine_name(*combine))
                    }
                    CollectiveKind::AllGather => "all-gather".to_owned(),
                    CollectiveKind::Broadcast => "broadcast".to_owned(),
                };
                put!(self, "collective {kind} ");
                self.access(destination);
                self.text.push_str(" <- ");
                self.access(source);
                put!(self, " over {resource}");
            }
        }
        self.domain(instruction);
    }

    fn domain(&mut self, instruction: &Instruction) {
        for (at, axis) in instruction.axes.iter().enumerate() {
            self.text.push_str(if at == 0 { " for " } else { ", " });
            put!(self, "{}<", self.program.variable_name(axis.variable));
            if axis.limit.is_empty() {
                put!(self, "{}", axis.extent);
            } else {
                put!(self, "min({},", axis.extent);
                self.list(&axis.limit, Self::index);
                self.text.push(')');
            }
            if instruction.vector == Some(axis.variable) {
                self.text.push_str(" vector");
            }
        }
        if !instruction.mask.is_empty() {
            self.text.push_str(" where ");
            self.constraints(&instruction.mask);
        }
    }

    fn constraints(&mut self, constraints: &[Constraint]) {
        for (at, constraint) in constraints.iter().enumerate() {
            if at > 0 {
                self.text.push_str(" and ");
            }
            self.index(&constraint.0);
            self.text.push_str(" >= 0");
        }
    }

    fn target_name(&self, target: Target) -> &'a str {
        match target {
            Target::Tensor(id) => &self.program.tensor(id).name,
            Target::Buffer(id) => &self.program.buffer(id).name,
        }
    }

    fn access(&mut self, access: &Access) {
        put!(self, "{}", self.target_name(access.target));
        if !access.indices.is_empty() {
            self.text.push('[');
            self.list(&access.indices, Self::index);
            self.text.push(']');
        }
    }

    fn list<T>(&mut self, items: &[T], print: fn(&mut Self, &T)) {
        for (at, item) in items.iter().enumerate() {
            if at > 0 {
                self.text.push(',');
            }
            print(self, item);
        }
    }

    fn bound(&mut self, bound: &[Index]) {
        if let [only] = bound {
            self.index(only);
        } else {
            self.text.push_str("min(");
            self.list(bound, Self::index);
            self.text.push(')');
        }
    }

    fn index(&mut self, index: &Index) {
        let bare = index.affine.as_constant() == Some(0) && index.lookup.is_some();
        if !bare {
            self.affine(&index.affine);
        }
        if let Some(lookup) = &index.lookup {
            if !bare {
                self.text.push('+');
            }
            if lookup.scale != 1 {
                put!(self, "{}*", lookup.scale);
            }
            put!(self, "{}[", self.program.tensor(lookup.table).name);
            self.list(&lookup.indices, Self::index);
            put!(self, " in {}..{}]", lookup.range.0, lookup.range.1);
        }
    }

    fn affine(&mut self, affine: &Affine) {
        let mut first = true;
        for &(variable, coefficient) in affine.terms() {
            let sign = if coefficient < 0 {
                "-"
            } else if first {
                ""
            } else {
                "+"
            };
            put!(self, "{sign}");
            if coefficient.abs() != 1 {
                put!(self, "{}*", coefficient.abs());
            }
            put!(self, "{}", self.program.variable_name(variable));
            first = false;
        }
        if first {
            put!(self, "{}", affine.constant());
        } else if affine.constant() != 0 {
            put!(self, "{:+}", affine.constant());
        }
    }

    fn number(&mut self, number: Number) {
        put!(self, "{}", number.value());
    }

    fn expression(&mut self, expression: &Expression) {
        match expression {
            Expression::Constant(value) => self.number(*value),
            Expression::Load(access) => self.access(access),
            Expression::Position(index) => {
                self.text.push_str("position(");
                self.index(index);
                self.text.push(')');
            }
            Expression::Unary(function, value) => {
                self.text.push_str(unary_name(*function));
                self.text.push('(');
                self.expression(value);
                self.text.push(')');
            }
            Expression::Binary(function, first, second) => {
                let (name, infix) = binary_name(*function);
                self.text.push_str(if infix { "(" } else { name });
                if !infix {
                    self.text.push('(');
                }
                self.expression(first);
                if infix {
                    put!(self, " {name} ");
                } else {
                    self.text.push_str(", ");
                }
                self.expression(second);
                self.text.push(')');
            }
            Expression::Choose { condition, then, otherwise } => {
                self.text.push_str("(when ");
                self.constraints(condition);
                self.text.push_str(": ");
                self.expression(then);
                self.text.push_str("; otherwise: ");
                self.expression(otherwise);
                self.text.push(')');
            }
            Expression::Random { seed, counter } => {
                put!(self, "random({seed}, ");
                self.index(counter);
                self.text.push(')');
            }
        }
    }
}

fn combine_name(combine: Combine) -> &'static str {
    match combine {
        Combine::Sum => "sum",
        Combine::Maximum => "max",
        Combine::Minimum => "min",
        Combine::Product => "product",
    }
}

fn unary_name(function: Unary) -> &'static str {
    match function {
        Unary::Negate => "-",
        Unary::Absolute => "abs",
        Unary::Exponential => "exp",
        Unary::Logarithm => "log",
        Unary::SquareRoot => "sqrt",
        Unary::ReciprocalSquareRoot => "rsqrt",
        Unary::HyperbolicTangent => "tanh",
        Unary::ErrorFunction => "erf",
        Unary::Silu => "silu",
        Unary::Relu => "relu",
    }
}

/// The name, and whether it stands between its operands.
fn binary_name(function: Binary) -> (&'static str, bool) {
    match function {
        Binary::Add => ("+", true),
        Binary::Subtract => ("-", true),
        Binary::Multiply => ("*", true),
        Binary::Divide => ("/", true),
        Binary::Maximum => ("max", false),
        Binary::Minimum => ("min", false),
    }
}
