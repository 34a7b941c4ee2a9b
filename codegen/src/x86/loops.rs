//! Statements and loops.

use iced_x86::{Code, Register};
use tilewright_ir::program::Deal;

use super::emitter::{DATA, Emitter, Location};
use super::frame;
use super::guard::{self, LimitUse};
use super::observed::observed;
use super::operand::{Memory, Operand};
use super::tree::{Linear, LoopNode, Moved, Node, Operation, Trip};
use crate::error::CompileError;

/// Iterations of a loop part.
#[derive(Debug, Clone, Copy)]
enum Count {
    Constant(u64),
    /// In the counter's location.
    Counter,
}

type Emitted = Result<(), CompileError>;

impl Emitter<'_> {
    /// Emits statements; register buffers that they declare are free again afterwards.
    pub(super) fn body(&mut self, nodes: &[Node]) -> Emitted {
        let mut declared = Vec::new();
        for (at, node) in nodes.iter().enumerate() {
            if let Node::Buffer(id) = node {
                self.observed[*id as usize] = observed(&nodes[at + 1..], *id);
            }
            match node {
                Node::Buffer(id) if self.buffers[*id as usize].is_empty() => {
                    let shape = self.shapes[*id as usize].as_ref();
                    let count = shape.map_or(0, super::registers::RegisterShape::registers);
                    self.buffers[*id as usize] = self.pool.take_high(count)?;
                    declared.push(*id as usize);
                }
                // A peeled rest declares the buffers of its loop again.
                Node::Buffer(_) => {}
                Node::Loop(node) => self.repeat(node)?,
                Node::When { condition, then, otherwise } => self.when(condition, then, otherwise)?,
                Node::Operation(operation) => self.guarded_operation(operation)?,
                Node::Barrier => self.barrier(),
            }
        }
        for id in declared {
            let registers = std::mem::take(&mut self.buffers[id]);
            self.pool.give_all(&registers);
        }
        Ok(())
    }

    fn when(&mut self, condition: &[Linear], then: &[Node], otherwise: &[Node]) -> Emitted {
        let (other, end) = (self.asm.label(), self.asm.label());
        for linear in condition {
            self.branch_if_less(*linear, 0, other);
        }
        self.body(then)?;
        if otherwise.is_empty() {
            self.asm.bind(other);
        } else {
            self.asm.branch(Code::Jmp_rel32_64, end);
            self.asm.bind(other);
            self.body(otherwise)?;
        }
        self.asm.bind(end);
        Ok(())
    }

    /// An operation outside innermost loops.
    fn guarded_operation(&mut self, operation: &Operation) -> Emitted {
        let mut uses = Vec::new();
        guard::collect(operation, &mut uses);
        let mut emit = |emitter: &mut Self| emitter.operation(operation);
        let mut emit_again = |emitter: &mut Self| emitter.operation(operation);
        self.versions(&uses, &mut emit, &mut emit_again)
    }

    fn repeat(&mut self, node: &LoopNode) -> Emitted {
        let counter = self.location(node.location);
        let end = self.asm.label();
        let mut count = match &node.trip {
            Trip::Constant(trip) => Count::Constant(*trip),
            Trip::Least(lengths) => {
                self.least(lengths, node.step);
                self.store(counter, Register::RAX);
                Count::Counter
            }
        };
        // The counter holds this worker's iterations, `rcx` its first one.
        if let Some((deal, first)) = node.dealt {
            self.share(count, counter, deal, first);
            count = Count::Counter;
        }
        if matches!(count, Count::Counter) {
            self.compare(counter.operand(), 0);
            self.asm.branch(Code::Jle_rel32_64, end);
        }
        let advances = self.enter(node);
        if node.leaf {
            self.leaf(node, count, counter, &advances)?;
        } else {
            self.plain(node, count, counter, &advances)?;
        }
        for moved in &node.moved {
            self.locations[moved.class] = None;
        }
        self.asm.bind(end);
        Ok(())
    }

    /// `rax ← ceil(least / step)`; at most 0 when there is no iteration.
    fn least(&mut self, lengths: &[Linear], step: u64) {
        let (least, other) = (Register::RAX, Register::RDX);
        for (at, length) in lengths.iter().enumerate() {
            if at == 0 {
                self.load(least, *length);
            } else {
                self.load(other, *length);
                self.emit(Code::Cmp_r64_rm64, &[other.into(), least.into()]);
                self.emit(Code::Cmovl_r64_rm64, &[least.into(), other.into()]);
            }
        }
        self.add(Location::Register(least), step as i64 - 1);
        self.divide(step);
    }

    /// `rax ← floor(rax / divisor)`; anything not positive stays so. Uses `rdx`.
    fn divide(&mut self, divisor: u64) {
        if divisor == 1 {
        } else if divisor.is_power_of_two() {
            let shift = Operand::Immediate(divisor.trailing_zeros().into());
            self.emit(Code::Sar_rm64_imm8, &[Register::RAX.into(), shift]);
        } else {
            self.load_constant(DATA, divisor as i64);
            self.emit(Code::Cqo, &[]);
            self.emit(Code::Idiv_rm64, &[DATA.into()]);
        }
    }

    /// The counter becomes this worker's number of iterations, `rcx` the number of its first one.
    fn share(&mut self, count: Count, counter: Location, deal: Deal, first: u64) {
        let workers = self.workers as i64;
        let (mine, number) = (Register::RAX, Register::RCX);
        let worker = Memory::new(Register::RSP, frame::WORKER);
        self.emit(Code::Mov_r64_rm64, &[number.into(), worker.into()]);
        if !first.is_multiple_of(self.workers) {
            // (worker − first) modulo the number of workers.
            let behind = workers - (first % self.workers) as i64;
            self.add(Location::Register(number), behind);
            self.emit(Code::Lea_r64_m, &[mine.into(), Memory::new(number, -workers).into()]);
            self.compare(number.into(), workers);
            self.emit(Code::Cmovge_r64_rm64, &[number.into(), mine.into()]);
        }
        self.load_count(mine, count, counter);
        self.add(Location::Register(mine), workers - 1);
        match deal {
            Deal::Block => {
                // Contiguous runs of ceil(trip / workers), the last one shorter.
                let left = Register::RDX;
                self.divide(self.workers);
                self.emit(Code::Imul_r64_rm64, &[number.into(), mine.into()]);
                self.load_count(left, count, counter);
                self.emit(Code::Sub_r64_rm64, &[left.into(), number.into()]);
                self.emit(Code::Cmp_r64_rm64, &[left.into(), mine.into()]);
                self.emit(Code::Cmovl_r64_rm64, &[mine.into(), left.into()]);
            }
            Deal::Cyclic | Deal::Dynamic => {
                // ceil((trip − number) / workers).
                self.emit(Code::Sub_r64_rm64, &[mine.into(), number.into()]);
                self.divide(self.workers);
            }
        }
        self.store(counter, mine);
    }

    fn load_count(&mut self, register: Register, count: Count, counter: Location) {
        match count {
            Count::Constant(trip) => self.load_constant(register, trip as i64),
            Count::Counter => self.emit(Code::Mov_r64_rm64, &[register.into(), counter.operand()]),
        }
    }

    /// Puts the moved classes at the first iteration; returns how far each moves with an iteration.
    fn enter(&mut self, node: &LoopNode) -> Vec<(Location, i64)> {
        let mut advances = Vec::with_capacity(node.moved.len());
        for (at, moved) in node.moved.iter().enumerate() {
            let location = self.location(node.location + 1 + at);
            self.set(location, moved.source);
            if node.dealt.is_some() {
                self.scaled_add(location, moved);
            }
            let workers = match node.dealt {
                Some((Deal::Cyclic | Deal::Dynamic, _)) => self.workers as i64,
                _ => 1,
            };
            advances.push((location, moved.advance * workers));
        }
        for (moved, advance) in node.moved.iter().zip(&advances) {
            self.locations[moved.class] = Some(advance.0);
        }
        advances
    }

    /// `location ← location + rcx · advance`.
    fn scaled_add(&mut self, location: Location, moved: &Moved) {
        if i32::try_from(moved.advance).is_ok() {
            let operands = [DATA.into(), Register::RCX.into(), Operand::Immediate(moved.advance)];
            self.emit(Code::Imul_r64_rm64_imm32, &operands);
        } else {
            self.load_constant(DATA, moved.advance);
            self.emit(Code::Imul_r64_rm64, &[DATA.into(), Register::RCX.into()]);
        }
        self.emit(Code::Add_rm64_r64, &[location.operand(), DATA.into()]);
    }

    fn advance(&mut self, advances: &[(Location, i64)], iterations: i64) {
        for (location, advance) in advances {
            self.add(*location, advance * iterations);
        }
    }

    /// `counter ← counter − 1`, and back to `head` while it is positive.
    fn count_down(&mut self, counter: Location, head: super::assembler::Label) {
        self.emit(Code::Sub_rm64_imm8, &[counter.operand(), Operand::Immediate(1)]);
        self.asm.branch(Code::Jg_rel32_64, head);
    }

    /// A loop with loops inside.
    fn plain(
        &mut self,
        node: &LoopNode,
        count: Count,
        counter: Location,
        advances: &[(Location, i64)],
    ) -> Emitted {
        if let Count::Constant(1) = count {
            return self.body(&node.body);
        }
        if let Count::Constant(trip) = count {
            self.set(counter, Linear { class: None, constant: trip as i64 });
        }
        let head = self.asm.here();
        self.body(&node.body)?;
        self.advance(advances, 1);
        self.count_down(counter, head);
        Ok(())
    }

    /// An innermost loop: limits are looked at outside of it.
    fn leaf(
        &mut self,
        node: &LoopNode,
        count: Count,
        counter: Location,
        advances: &[(Location, i64)],
    ) -> Emitted {
        let operations: Vec<&Operation> = node
            .body
            .iter()
            .filter_map(|body| if let Node::Operation(operation) = body { Some(&**operation) } else { None })
            .collect();
        let mut uses = Vec::new();
        for operation in &operations {
            guard::collect(operation, &mut uses);
        }
        let moves = |linear: &Linear| node.moved.iter().any(|moved| Some(moved.class) == linear.class);
        let (varying, fixed): (Vec<LimitUse>, Vec<LimitUse>) =
            uses.into_iter().partition(|limit| limit.values().iter().any(moves));
        let part = LeafPart { node, counter, advances, operations: &operations, varying: &varying };
        self.versions(
            &fixed,
            &mut |emitter| {
                if varying.is_empty() {
                    return emitter.counted(&part, count, node.unroll, false);
                }
                emitter.full_then_rest(&part, count)
            },
            &mut |emitter| emitter.counted(&part, count, 1, true),
        )?;
        self.limits.clear();
        Ok(())
    }

    /// The iterations where no varying limit binds, then those where one does.
    fn full_then_rest(&mut self, part: &LeafPart<'_>, count: Count) -> Emitted {
        let node = part.node;
        let rest = self.frame.slot(8);
        let rest_slot = Memory::new(Register::RSP, rest);
        let (total, full) = (Register::RCX, Register::RAX);
        self.load_count(total, count, part.counter);
        self.emit(Code::Mov_rm64_r64, &[rest_slot.into(), total.into()]);
        for limit in part.varying {
            for value in limit.values() {
                let advance = part.advance_of(node, *value);
                if advance >= 0 {
                    // Grows or stays: full iterations are not the first ones.
                    return self.counted(part, count, 1, true);
                }
                // Full while value + i·advance ≥ extent: i ≤ (value − extent) / −advance.
                self.load(full, *value);
                self.add(Location::Register(full), -(limit.extent() as i64) - advance);
                self.divide(advance.unsigned_abs());
                self.load_constant(DATA, 0);
                self.emit(Code::Test_rm64_r64, &[full.into(), full.into()]);
                self.emit(Code::Cmovs_r64_rm64, &[full.into(), DATA.into()]);
                self.emit(Code::Cmp_r64_rm64, &[full.into(), total.into()]);
                self.emit(Code::Cmovl_r64_rm64, &[total.into(), full.into()]);
            }
        }
        self.store(part.counter, total);
        self.emit(Code::Sub_rm64_r64, &[rest_slot.into(), total.into()]);
        self.counted(part, Count::Counter, node.unroll, false)?;
        let end = self.asm.label();
        self.emit(Code::Mov_r64_rm64, &[Register::RAX.into(), rest_slot.into()]);
        self.store(part.counter, Register::RAX);
        self.compare(part.counter.operand(), 0);
        self.asm.branch(Code::Jle_rel32_64, end);
        self.counted(part, Count::Counter, 1, true)?;
        self.asm.bind(end);
        Ok(())
    }

    /// A counted loop over one version of the body.
    fn counted(&mut self, part: &LeafPart<'_>, count: Count, unroll: u64, guards: bool) -> Emitted {
        let (counter, advances) = (part.counter, part.advances);
        match count {
            Count::Constant(trip) if trip <= unroll => self.copies(part, trip, guards),
            Count::Constant(trip) => {
                let (rounds, rest) = (trip / unroll, trip % unroll);
                if rounds == 1 {
                    self.copies(part, unroll, guards)?;
                    self.advance(advances, unroll as i64);
                } else {
                    self.set(counter, Linear { class: None, constant: rounds as i64 });
                    self.asm.align(HEAD_ALIGNMENT);
                    let head = self.asm.here();
                    self.copies(part, unroll, guards)?;
                    self.advance(advances, unroll as i64);
                    self.count_down(counter, head);
                }
                self.copies(part, rest, guards)
            }
            Count::Counter => {
                let end = self.asm.label();
                if unroll > 1 {
                    let rest = self.asm.label();
                    self.add(counter, -(unroll as i64));
                    self.compare(counter.operand(), 0);
                    self.asm.branch(Code::Jl_rel32_64, rest);
                    self.asm.align(HEAD_ALIGNMENT);
                    let head = self.asm.here();
                    self.copies(part, unroll, guards)?;
                    self.advance(advances, unroll as i64);
                    self.emit(Code::Sub_rm64_imm8, &[counter.operand(), Operand::Immediate(unroll as i64)]);
                    self.asm.branch(Code::Jge_rel32_64, head);
                    self.asm.bind(rest);
                    self.add(counter, unroll as i64);
                }
                self.compare(counter.operand(), 0);
                self.asm.branch(Code::Jle_rel32_64, end);
                let head = self.asm.here();
                self.copies(part, 1, guards)?;
                self.advance(advances, 1);
                self.count_down(counter, head);
                self.asm.bind(end);
                Ok(())
            }
        }
    }

    /// So many copies of the body, each a step further on.
    fn copies(&mut self, part: &LeafPart<'_>, copies: u64, guards: bool) -> Emitted {
        let node = part.node;
        let mut first = None;
        for copy in 0..copies as i64 {
            for (moved, (_, advance)) in node.moved.iter().zip(part.advances) {
                self.bias[moved.class] = copy * advance;
            }
            if guards {
                self.activate(part.varying)?;
            }
            self.prefetches(part, copy, copies as i64)?;
            if let Some(first) = &first {
                let bias = &self.bias;
                self.asm.repeat(first, |class| bias[class]);
                continue;
            }
            let repeats = copies > 1 && !guards;
            if repeats {
                self.asm.record();
            }
            for operation in part.operations {
                self.operation(operation)?;
            }
            if repeats {
                first = self.asm.recorded();
            }
        }
        for moved in &node.moved {
            self.bias[moved.class] = 0;
        }
        Ok(())
    }

    /// Prefetches each line once, in the copy that comes to it first.
    fn prefetches(&mut self, part: &LeafPart<'_>, copy: i64, copies: i64) -> Emitted {
        for hint in &part.node.prefetch {
            let travelled = hint.advance.abs() * copy;
            let new_line =
                hint.advance.abs() >= 64 || travelled / 64 != (travelled - hint.advance.abs()) / 64;
            if copy == 0 || (new_line && copies > 1) {
                let memory = self.memory(hint.address, hint.advance * hint.distance)?;
                self.emit(Code::Prefetcht0_m8, &[memory.into()]);
            }
        }
        Ok(())
    }
}

/// Alignment of the heads of innermost loops: two windows of 32 bytes are fetched a cycle.
const HEAD_ALIGNMENT: usize = 32;

/// An innermost loop, as its versions share it.
struct LeafPart<'a> {
    node: &'a LoopNode,
    counter: Location,
    advances: &'a [(Location, i64)],
    operations: &'a [&'a Operation],
    /// Limits that depend on the loop's own variable.
    varying: &'a [LimitUse],
}

impl LeafPart<'_> {
    /// How far a value moves with an iteration.
    fn advance_of(&self, node: &LoopNode, value: Linear) -> i64 {
        let at = node.moved.iter().position(|moved| Some(moved.class) == value.class);
        at.map_or(0, |at| self.advances[at].1)
    }
}
