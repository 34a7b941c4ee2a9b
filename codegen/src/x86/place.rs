//! Turns accesses into addresses: layouts become strides, panels keep their constant addresses affine.

use tilewright_ir::DataType;
use tilewright_ir::affine::Affine;
use tilewright_ir::program::{Access, Axis, Buffer, Layout, Target};
use tilewright_ir::workspace::{REGISTER_LEVEL, fixed_shape};

use super::prepare::{Preparer, affine};
use super::tree::{Base, ELEMENT_BYTES, MemoryPlace, PanelPlace, Place, RegisterPlace};
use crate::error::{CompileError, unsupported};

impl Preparer<'_> {
    /// Where an access finds its elements; `axes` are the instruction's.
    pub(super) fn place(&mut self, access: &Access, axes: &[Axis]) -> Result<Place, CompileError> {
        let program = self.program;
        let indices: Vec<&Affine> = access.indices.iter().map(affine).collect::<Result<_, _>>()?;
        let (name, data_type) = match access.target {
            Target::Tensor(id) => (&program.tensor(id).name, program.tensor(id).data_type),
            Target::Buffer(id) => (&program.buffer(id).name, program.buffer(id).data_type),
        };
        if data_type != DataType::F32 {
            return unsupported(format!("`{name}` of type {data_type}"));
        }
        match access.target {
            Target::Tensor(id) => {
                let tensor = program.tensor(id);
                let total = total(indices.iter().copied().zip(tensor.strides.iter().copied()));
                self.memory(Base::Tensor(id.0), total, axes, None, false)
            }
            Target::Buffer(id) => {
                let buffer = program.buffer(id);
                if buffer.level == REGISTER_LEVEL {
                    return register(buffer, id.0, &indices, axes);
                }
                let Some(shape) = fixed_shape(buffer) else {
                    return unsupported(format!("`{name}`, a buffer of run-time size"));
                };
                match buffer.layout {
                    Layout::RowMajor => {
                        let total = total(indices.into_iter().zip(row_strides(&shape, 0)));
                        self.memory(Base::Buffer(id.0), total, axes, None, true)
                    }
                    Layout::Padded { by } => {
                        let total = total(indices.into_iter().zip(row_strides(&shape, by as i64)));
                        self.memory(Base::Buffer(id.0), total, axes, None, true)
                    }
                    Layout::Panels { dimension, width } => {
                        let panels = Panels { dimension, width: width as i64, shape: &shape };
                        self.panels(id.0, &indices, axes, &panels)
                    }
                    Layout::Swizzled => unsupported(format!("`{name}`, a swizzled buffer")),
                }
            }
        }
    }

    /// `total` is the offset in elements, without the panel dimension when there is one.
    fn memory(
        &mut self,
        base: Base,
        total: Affine,
        axes: &[Axis],
        panel: Option<PanelPlace>,
        room: bool,
    ) -> Result<Place, CompileError> {
        let (outside, strides) = split(&(total * ELEMENT_BYTES), axes);
        let address = self.linear(base, outside)?;
        Ok(Place::Memory(MemoryPlace { address, strides, panel, room }))
    }

    fn panels(
        &mut self,
        buffer: u32,
        indices: &[&Affine],
        axes: &[Axis],
        panels: &Panels<'_>,
    ) -> Result<Place, CompileError> {
        let others = |dimension: &usize| *dimension != panels.dimension;
        let inner: Vec<u64> = (0..panels.shape.len()).filter(others).map(|d| panels.shape[d]).collect();
        let rest = (0..indices.len()).filter(others).map(|dimension| indices[dimension]);
        let mut total = total(rest.zip(row_strides(&inner, 0))) * panels.width;
        let inner_elements = inner.iter().product::<u64>() as i64;

        // Whole panels go to the address, what remains depends on the point alone.
        let (cut, coefficients) = split(indices[panels.dimension], axes);
        let constant = cut.constant().rem_euclid(panels.width);
        let Some(entry) = self.entry(cut - constant, panels.width) else {
            return unsupported("a panel that is entered in its middle");
        };
        let reach = axes.iter().zip(&coefficients).map(|(axis, by)| by * (axis.extent as i64 - 1));
        let strip = constant..constant + reach.clone().filter(|by| *by > 0).sum::<i64>() + 1;
        if entry.strip < panels.width && (strip.start < 0 || strip.end > entry.strip || reach.min() < Some(0))
        {
            return unsupported("a strip of a panel that reaches into the next");
        }
        total = total + entry.panel * inner_elements + entry.inside;
        let panel = PanelPlace {
            constant,
            coefficients,
            width: panels.width,
            panel_bytes: inner_elements * panels.width * ELEMENT_BYTES,
        };
        self.memory(Base::Buffer(buffer), total, axes, Some(panel), true)
    }

    /// Where in which panel an expression over the loops around lies, if that is the same for each loop's
    /// every iteration: loops go from panel to panel, and at most one goes through a panel in strips.
    fn entry(&self, expression: Affine, width: i64) -> Option<PanelEntry> {
        let mut entry = PanelEntry { panel: expression.clone(), inside: Affine::default(), strip: width };
        let mut first = expression;
        for open in self.loops.iter().rev() {
            let coefficient = first.coefficient(open.variable);
            if coefficient == 0 {
                continue;
            }
            if coefficient * open.step % width != 0 {
                let strips = coefficient == 1 && width % open.step == 0 && entry.strip == width;
                if !strips || open.span.is_none_or(|span| span > width) {
                    return None;
                }
                entry.strip = open.step;
                entry.inside = Affine::from(open.variable) - open.start.clone();
                entry.panel = entry.panel.substitute(open.variable, &open.start);
            }
            first = first.substitute(open.variable, &open.start);
        }
        (first.as_constant()? % width == 0).then_some(entry)
    }
}

/// How a panel is entered.
struct PanelEntry {
    /// A multiple of the panel's width: where the panel begins.
    panel: Affine,
    /// Where the strip begins in it, a multiple of the strip's width.
    inside: Affine,
    /// Width of a strip; the panel's when it is not entered in strips.
    strip: i64,
}

/// Layout of panels.
struct Panels<'a> {
    dimension: usize,
    width: i64,
    shape: &'a [u64],
}

fn total<'a>(terms: impl Iterator<Item = (&'a Affine, i64)>) -> Affine {
    terms.fold(Affine::default(), |sum, (index, stride)| sum + index.clone() * stride)
}

/// Row-major strides; rows are `pad` elements longer.
fn row_strides(shape: &[u64], pad: i64) -> Vec<i64> {
    let mut strides = vec![1; shape.len()];
    for dimension in (1..shape.len()).rev() {
        let pad = if dimension + 1 == shape.len() { pad } else { 0 };
        strides[dimension - 1] = strides[dimension] * (shape[dimension] as i64 + pad);
    }
    strides
}

/// The part without the axes, and the coefficient of each axis.
fn split(expression: &Affine, axes: &[Axis]) -> (Affine, Vec<i64>) {
    let coefficients: Vec<i64> = axes.iter().map(|axis| expression.coefficient(axis.variable)).collect();
    let mut outside = expression.clone();
    for (axis, &coefficient) in axes.iter().zip(&coefficients) {
        if coefficient != 0 {
            outside = outside - Affine::from(axis.variable) * coefficient;
        }
    }
    (outside, coefficients)
}

fn register(buffer: &Buffer, id: u32, indices: &[&Affine], axes: &[Axis]) -> Result<Place, CompileError> {
    let mut place = RegisterPlace { buffer: id, constants: Vec::new(), coefficients: Vec::new() };
    for index in indices {
        let (outside, coefficients) = split(index, axes);
        let Some(constant) = outside.as_constant() else {
            return unsupported(format!("`{}`, a register buffer with a varying index", buffer.name));
        };
        place.constants.push(constant);
        place.coefficients.push(coefficients);
    }
    Ok(Place::Register(place))
}
