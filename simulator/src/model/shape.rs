//! Instructions and accesses as the cost functions see them: counts of vectors, and how their lanes lie.

/// Most axes of an instruction.
pub(super) const MOST_AXES: usize = 8;

/// An axis as the cost functions see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct AxisShape {
    /// Mean number of active points.
    pub(super) active: f64,
    /// Full extent.
    pub(super) extent: f64,
    /// Share of executions in which a limit cuts it.
    pub(super) cut: f64,
    pub(super) vector: bool,
}

/// The axes of an instruction, and the lanes of its vectors.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) axes: [AxisShape; MOST_AXES],
    pub(super) count: usize,
    pub(super) lanes: f64,
}

/// One access as the cost functions see it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Form {
    /// Position among the places.
    pub(super) place: usize,
    pub(super) register: bool,
    /// Whether elements depend on each axis.
    pub(super) depends: [bool; MOST_AXES],
    /// Bytes between neighbours along each axis.
    pub(super) bytes: [f64; MOST_AXES],
    pub(super) element_bytes: f64,
    /// Share of vectors that lie in two lines.
    pub(super) crossing: f64,
}

impl Shape {
    pub(super) fn axes(&self) -> &[AxisShape] {
        &self.axes[..self.count]
    }

    /// Vectors along an axis, or points of it.
    pub(super) fn groups(&self, axis: usize) -> f64 {
        let axis = &self.axes[axis];
        if axis.vector { (axis.extent / self.lanes).ceil() } else { axis.active }
    }

    /// Vectors of all axes that satisfy `which`.
    pub(super) fn vectors(&self, which: impl Fn(usize) -> bool) -> f64 {
        (0..self.count).filter(|&axis| which(axis)).map(|axis| self.groups(axis)).product()
    }

    /// Active points.
    pub(super) fn points(&self) -> f64 {
        self.axes().iter().map(|axis| axis.active).product()
    }

    pub(super) fn vector_axis(&self) -> Option<usize> {
        self.axes().iter().position(|axis| axis.vector)
    }

    /// The last vector along the vector axis when the extent is no multiple of the lanes, and the share of
    /// executions in which a limit leaves lanes out.
    pub(super) fn partial(&self) -> Partial {
        let Some(axis) = self.vector_axis() else { return Partial { short: 0.0, pieces: 0.0, cut: 0.0 } };
        let AxisShape { extent, cut, .. } = self.axes[axis];
        let rest = extent % self.lanes;
        let short = if rest == 0.0 { 0.0 } else { 1.0 / (extent / self.lanes).ceil() };
        // Parts of 4, 2 and 1 lanes.
        let pieces = f64::from((rest as u64).count_ones());
        Partial { short, pieces, cut }
    }
}

/// Vectors with fewer elements than lanes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Partial {
    /// Share of all vectors that are short.
    pub(super) short: f64,
    /// Accesses of sizes that are powers of two that make up a short one.
    pub(super) pieces: f64,
    /// Share of executions in which a limit binds.
    pub(super) cut: f64,
}

impl Partial {
    /// Accesses beyond one that a short vector takes on average.
    pub(super) fn extra(&self) -> f64 {
        self.short * (self.pieces - 1.0).max(0.0)
    }

    /// Share of vectors that are read under a mask.
    pub(super) fn masked(&self) -> f64 {
        if self.pieces > 1.0 { self.short.max(self.cut) } else { self.cut }
    }
}

/// How neighbouring lanes of an access lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lanes {
    /// One element for all of them, or a scalar.
    Same,
    /// Next to each other.
    Next,
    /// Apart.
    Apart,
}

impl Form {
    pub(super) fn lanes(&self, shape: &Shape) -> Lanes {
        match shape.vector_axis() {
            None => Lanes::Same,
            Some(axis) if !self.depends[axis] => Lanes::Same,
            // A single lane lies next to itself.
            Some(axis) if self.register || self.bytes[axis] == self.element_bytes => Lanes::Next,
            Some(axis) if shape.axes()[axis].extent <= 1.0 => Lanes::Next,
            Some(_) => Lanes::Apart,
        }
    }

    /// Vectors (or repeated elements) that it names.
    pub(super) fn count(&self, shape: &Shape) -> f64 {
        shape.vectors(|axis| self.depends[axis])
    }
}
