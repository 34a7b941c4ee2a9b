//! Finding the open value of a gene that equals a wanted one, or is nearest to it.

use tilewright_ir::ScheduleValue;

use crate::gene::Gene;
use crate::walk::Position;

fn number(value: &ScheduleValue) -> u64 {
    match value {
        ScheduleValue::Number(number) => *number,
        ScheduleValue::Name(_) => 0,
    }
}

/// First index of an ordered gene whose number is not below `wanted`.
fn place(position: &dyn Position, gene: &Gene, wanted: u64) -> usize {
    let (mut low, mut high) = (0, gene.values.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        if number(&position.parameter(middle as u16)) < wanted { low = middle + 1 } else { high = middle }
    }
    low
}

/// The open index with exactly this value.
pub(crate) fn exactly(position: &dyn Position, gene: &Gene, wanted: &ScheduleValue) -> Option<u16> {
    let open = |index: u16| position.check(index).is_ok();
    match wanted {
        ScheduleValue::Number(wanted) if gene.is_ordered() => (place(position, gene, *wanted)
            ..gene.values.len())
            .map(|index| index as u16)
            .take_while(|&index| number(&position.parameter(index)) == *wanted)
            .find(|&index| open(index)),
        wanted => gene.index_of(wanted).filter(|&index| open(index)),
    }
}

/// The open index nearest to a value; `None` when a choice is not open.
pub(crate) fn nearest(position: &dyn Position, gene: &Gene, wanted: &ScheduleValue) -> Option<u16> {
    let ScheduleValue::Number(wanted) = wanted else {
        return exactly(position, gene, wanted);
    };
    if !gene.is_ordered() {
        return None;
    }
    let place = place(position, gene, *wanted);
    let open = |index: &u16| position.check(*index).is_ok();
    let above = (place..gene.values.len()).map(|index| index as u16).find(open);
    let below = (0..place).rev().map(|index| index as u16).find(open);
    let distance = |index: u16| {
        let found = number(&position.parameter(index));
        ((found + 1) as f64 / (*wanted + 1) as f64).ln().abs()
    };
    match (below, above) {
        (Some(below), Some(above)) => Some(if distance(below) < distance(above) { below } else { above }),
        (one, other) => one.or(other),
    }
}

/// The open index nearest to `wanted` in the list, the lower of two; `None` when a choice is not open.
pub(crate) fn around(position: &dyn Position, gene: &Gene, wanted: u16) -> Option<u16> {
    let last = gene.values.len().checked_sub(1)?;
    let wanted = usize::from(wanted).min(last);
    let open = |index: &usize| position.check(*index as u16).is_ok();
    if !gene.is_ordered() {
        return Some(wanted).filter(open).map(|index| index as u16);
    }
    (0..=wanted.max(last - wanted))
        .flat_map(|far| [wanted.checked_sub(far), Some(wanted + far).filter(|&index| index <= last)])
        .flatten()
        .find(open)
        .map(|index| index as u16)
}
