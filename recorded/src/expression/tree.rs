//! What an expression is made of. Chains of one kind of operator are lists, so that a long text is not deep.

use crate::value::Value;

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Node {
    Constant(Value),
    Name(String),
    List(Vec<Node>),
    /// `[element for name in source if condition]`
    Comprehension(Box<Comprehension>),
    Call(String, Vec<Node>),
    /// Operators of one strength, from left to right.
    Chain(Box<Node>, Vec<(Operator, Node)>),
    Power(Box<Node>, Box<Node>),
    Negative(Box<Node>),
    Not(Box<Node>),
    /// The first that is true, or the last.
    Or(Vec<Node>),
    /// The first that is false, or the last.
    And(Vec<Node>),
    /// Each neighbouring pair must hold.
    Compare(Box<Node>, Vec<(Comparison, Node)>),
    /// Condition, value if it holds, value if not.
    If(Box<[Node; 3]>),
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Comprehension {
    pub(super) element: Node,
    pub(super) name: String,
    pub(super) source: Node,
    pub(super) condition: Option<Node>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    FloorDivide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    In,
    NotIn,
}
