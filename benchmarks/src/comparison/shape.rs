//! The shapes that are compared, in the syntax that names a workload everywhere else.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// How the two operands are stored; the result is always row-major `m × n`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Layout {
    /// A is `m × k`, B is `k × n`.
    Nn,
    /// A is `m × k`, B is `n × k`, as a linear layer stores its weights.
    Nt,
    /// A is `k × m`, B is `k × n`.
    Tn,
    /// A is `k × m`, B is `n × k`.
    Tt,
}

/// One single-precision matrix product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shape {
    /// Rows of the result.
    pub m: usize,
    /// Columns of the result.
    pub n: usize,
    /// Length of the reduction.
    pub k: usize,
    /// Storage of the operands.
    pub layout: Layout,
}

/// Why a text names no shape that can be compared.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShapeError {
    /// The text does not begin with `matmul:`.
    #[error("expected `matmul:m=…,n=…,k=…`, got `{0}`")]
    NotMatmul(String),
    /// A part is not `key=value` with a known key.
    #[error("`{0}` is not one of m=, n=, k=, dtype=, layout=")]
    UnknownPart(String),
    /// An extent that is no positive integer; a range has to be resolved by the caller.
    #[error("`{0}` is not a positive integer")]
    NotAnExtent(String),
    /// Only `f32` has peers.
    #[error("dtype `{0}` is not compared; use f32")]
    UnsupportedType(String),
    /// A layout other than the four.
    #[error("layout `{0}` is not one of nn, nt, tn, tt")]
    UnknownLayout(String),
    /// One of the three extents is missing.
    #[error("`{0}=` is missing")]
    Missing(&'static str),
}

impl Layout {
    /// Whether A is stored transposed (`k × m`).
    pub fn a_transposed(self) -> bool {
        matches!(self, Layout::Tn | Layout::Tt)
    }

    /// Whether B is stored transposed (`n × k`).
    pub fn b_transposed(self) -> bool {
        matches!(self, Layout::Nt | Layout::Tt)
    }

    fn text(self) -> &'static str {
        match self {
            Layout::Nn => "nn",
            Layout::Nt => "nt",
            Layout::Tn => "tn",
            Layout::Tt => "tt",
        }
    }
}

impl Shape {
    /// Floating-point operations of one product.
    pub fn flops(&self) -> f64 {
        2.0 * self.m as f64 * self.n as f64 * self.k as f64
    }

    /// Leading dimension of A: the distance between its stored rows.
    pub fn lda(&self) -> usize {
        if self.layout.a_transposed() { self.m } else { self.k }
    }

    /// Leading dimension of B: the distance between its stored rows.
    pub fn ldb(&self) -> usize {
        if self.layout.b_transposed() { self.k } else { self.n }
    }

    /// Row and column stride of the logical `m × k` operand A.
    pub fn a_strides(&self) -> (isize, isize) {
        if self.layout.a_transposed() { (1, self.m as isize) } else { (self.k as isize, 1) }
    }

    /// Row and column stride of the logical `k × n` operand B.
    pub fn b_strides(&self) -> (isize, isize) {
        if self.layout.b_transposed() { (1, self.k as isize) } else { (self.n as isize, 1) }
    }

    /// A short name for tables: `512x512x512 nn`.
    pub fn short(&self) -> String {
        format!("{}x{}x{} {}", self.m, self.n, self.k, self.layout.text())
    }
}

impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Shape { m, n, k, layout } = self;
        write!(f, "matmul:m={m},n={n},k={k},dtype=f32,layout={}", layout.text())
    }
}

impl FromStr for Shape {
    type Err = ShapeError;

    fn from_str(text: &str) -> Result<Self, ShapeError> {
        let parts = text.strip_prefix("matmul:").ok_or_else(|| ShapeError::NotMatmul(text.to_owned()))?;
        let (mut m, mut n, mut k, mut layout) = (None, None, None, Layout::Nn);
        for part in parts.split(',') {
            match part.trim().split_once('=') {
                Some(("m", value)) => m = Some(extent(value)?),
                Some(("n", value)) => n = Some(extent(value)?),
                Some(("k", value)) => k = Some(extent(value)?),
                Some(("dtype", "f32")) => {}
                Some(("dtype", other)) => return Err(ShapeError::UnsupportedType(other.to_owned())),
                Some(("layout", value)) => layout = parse_layout(value)?,
                _ => return Err(ShapeError::UnknownPart(part.to_owned())),
            }
        }
        Ok(Shape {
            m: m.ok_or(ShapeError::Missing("m"))?,
            n: n.ok_or(ShapeError::Missing("n"))?,
            k: k.ok_or(ShapeError::Missing("k"))?,
            layout,
        })
    }
}

/// The standard table: squares, a tiny and an odd one, and those of transformer layers.
pub fn standard_shapes() -> Vec<Shape> {
    use Layout::{Nn, Nt};
    [
        (512, 512, 512, Nn),
        (1024, 1024, 1024, Nn),
        (2048, 2048, 2048, Nn),
        (64, 64, 64, Nn),
        (13, 17, 19, Nn),
        (509, 511, 513, Nn),
        (4096, 64, 64, Nn),
        (128, 3072, 1024, Nn),
        (128, 3072, 1024, Nt),
        (32, 1024, 3072, Nn),
        (8, 4096, 1024, Nn),
        (8, 4096, 1024, Nt),
        (1, 3072, 1024, Nt),
    ]
    .into_iter()
    .map(|(m, n, k, layout)| Shape { m, n, k, layout })
    .collect()
}

fn extent(text: &str) -> Result<usize, ShapeError> {
    match text.parse() {
        Ok(value) if value > 0 => Ok(value),
        _ => Err(ShapeError::NotAnExtent(text.to_owned())),
    }
}

fn parse_layout(text: &str) -> Result<Layout, ShapeError> {
    match text {
        "nn" => Ok(Layout::Nn),
        "nt" => Ok(Layout::Nt),
        "tn" => Ok(Layout::Tn),
        "tt" => Ok(Layout::Tt),
        other => Err(ShapeError::UnknownLayout(other.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_reads_back_what_it_prints() {
        for shape in standard_shapes() {
            assert_eq!(shape.to_string().parse(), Ok(shape));
        }
    }

    #[test]
    fn layout_is_nn_and_the_type_f32_by_default() {
        let shape: Shape = "matmul:m=2,n=3,k=4".parse().unwrap();
        assert_eq!(shape, Shape { m: 2, n: 3, k: 4, layout: Layout::Nn });
        assert_eq!((shape.lda(), shape.ldb()), (4, 3));
    }

    #[test]
    fn what_cannot_be_compared_is_refused_with_its_reason() {
        let parse = |text: &str| text.parse::<Shape>().unwrap_err();
        assert!(matches!(parse("softmax:m=1"), ShapeError::NotMatmul(_)));
        assert!(matches!(parse("matmul:m=1..4,n=1,k=1"), ShapeError::NotAnExtent(_)));
        assert!(matches!(parse("matmul:m=0,n=1,k=1"), ShapeError::NotAnExtent(_)));
        assert!(matches!(parse("matmul:m=1,n=1,k=1,dtype=i8"), ShapeError::UnsupportedType(_)));
        assert!(matches!(parse("matmul:m=1,n=1,k=1,layout=xx"), ShapeError::UnknownLayout(_)));
        assert!(matches!(parse("matmul:m=1,n=1,k=1,speed=9"), ShapeError::UnknownPart(_)));
        assert_eq!(parse("matmul:m=1,n=1"), ShapeError::Missing("k"));
    }

    #[test]
    fn strides_follow_the_layout() {
        let shape: Shape = "matmul:m=2,n=3,k=4,layout=tt".parse().unwrap();
        assert_eq!((shape.a_strides(), shape.b_strides()), ((1, 2), (1, 4)));
        assert_eq!((shape.lda(), shape.ldb()), (2, 4));
    }
}
