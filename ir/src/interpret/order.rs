//! What happens before what: barriers of nested scopes, and who touched an element.
//!
//! A *scope instance* is a path of instance numbers, one for each resource from the outside in; the device is
//! the empty path. Each counts its completed barriers (its *epoch*). Of two accesses the first happens before
//! the second when the same scope instance made both, or when some scope instance around both completed a
//! barrier in between. That relation is exact, since nested barriers compose to the outermost of them.

use std::collections::BTreeMap;

use crate::program::Resource;

/// Who made an access, and when: a number of [`Order`].
pub(super) type Stamp = u32;

/// Nothing has touched the element.
pub(super) const NEVER: Stamp = 0;
/// Before the launch: ordered before everything.
pub(super) const BEFORE: Stamp = 1;

#[derive(Clone)]
struct Moment {
    /// Scope instance, as far as races are concerned.
    path: Vec<u32>,
    /// The same for people: dynamic iterations by the instance that took them.
    label: Vec<u32>,
    /// Epochs of the device and of every longer prefix of `path`.
    epochs: Vec<u32>,
}

/// Barriers and moments of one run.
pub(super) struct Order {
    moments: Vec<Moment>,
    epochs: BTreeMap<Vec<u32>, u32>,
    latest: BTreeMap<Vec<u32>, Stamp>,
    /// The pair that was last found to be ordered.
    known: (Stamp, Stamp),
    unique: u32,
}

impl Order {
    pub(super) fn new() -> Self {
        let outside = Moment { path: Vec::new(), label: Vec::new(), epochs: vec![0] };
        Self {
            moments: vec![outside.clone(), outside],
            epochs: BTreeMap::new(),
            latest: BTreeMap::new(),
            known: (NEVER, NEVER),
            unique: 1 << 31,
        }
    }

    /// The stamp of what the scope instance does from now until the next barrier around it.
    pub(super) fn enter(&mut self, path: &[u32], label: &[u32]) -> Stamp {
        let epochs: Vec<u32> =
            (0..=path.len()).map(|depth| *self.epochs.get(&path[..depth]).unwrap_or(&0)).collect();
        if !self.epochs.contains_key(path) {
            self.epochs.insert(path.to_vec(), 0);
        }
        if let Some(&stamp) = self.latest.get(path)
            && self.moments[stamp as usize].epochs == epochs
        {
            return stamp;
        }
        let stamp = self.moments.len() as Stamp;
        self.moments.push(Moment { path: path.to_vec(), label: label.to_vec(), epochs });
        self.latest.insert(path.to_vec(), stamp);
        stamp
    }

    /// A path component that no other scope instance has.
    pub(super) fn unique(&mut self) -> u32 {
        self.unique += 1;
        self.unique
    }

    /// A barrier of one scope instance.
    pub(super) fn join(&mut self, path: &[u32]) {
        *self.epochs.entry(path.to_vec()).or_insert(0) += 1;
    }

    /// A barrier in each scope instance at `depth` inside `path`.
    pub(super) fn join_inside(&mut self, path: &[u32], depth: usize) {
        for (inner, epoch) in &mut self.epochs {
            if inner.len() == depth && inner.starts_with(path) {
                *epoch += 1;
            }
        }
    }

    /// Whether `first` happens before `second`, given that it came first in this run.
    pub(super) fn ordered(&mut self, first: Stamp, second: Stamp) -> bool {
        if first <= BEFORE || first == second || self.known == (first, second) {
            return true;
        }
        let (a, b) = (&self.moments[first as usize], &self.moments[second as usize]);
        let common = a.path.iter().zip(&b.path).take_while(|(x, y)| x == y).count();
        let ordered = a.path == b.path || (0..=common).any(|depth| a.epochs[depth] < b.epochs[depth]);
        if ordered {
            self.known = (first, second);
        }
        ordered
    }

    /// Length of the path that two stamps share.
    fn shared_depth(&self, first: Stamp, second: Stamp) -> usize {
        let (a, b) = (&self.moments[first as usize].path, &self.moments[second as usize].path);
        a.iter().zip(b).take_while(|(x, y)| x == y).count()
    }

    /// Names a scope instance: `device`, `thread 1`, `block 3 warp 0`.
    pub(super) fn describe(&self, stamp: Stamp, resources: &[Resource]) -> String {
        let label = &self.moments[stamp as usize].label;
        if label.is_empty() {
            return "the device as a whole".to_owned();
        }
        let parts: Vec<String> = resources
            .iter()
            .zip(label)
            .map(|(resource, number)| format!("{} {number}", resource.name))
            .collect();
        parts.join(" ")
    }
}

/// Marks an element as written since its declaration.
const WRITTEN: Stamp = 1 << 31;

/// One element with its last writer and readers since then.
///
/// Two readers suffice: of readers that are not ordered among each other, those two whose scopes part
/// outermost. Whatever is ordered after both is ordered after every reader inside the scope where they part.
#[derive(Clone, Copy)]
pub(super) struct Cell {
    pub(super) value: f64,
    writer: Stamp,
    readers: [Stamp; 2],
}

impl Cell {
    pub(super) const fn unwritten() -> Self {
        Self { value: f64::NAN, writer: NEVER, readers: [NEVER; 2] }
    }

    pub(super) const fn holding(value: f64) -> Self {
        Self { value, writer: BEFORE | WRITTEN, readers: [NEVER; 2] }
    }

    pub(super) const fn is_written(&self) -> bool {
        self.writer & WRITTEN != 0
    }

    /// Declared anew: the content is gone, but who touched the memory still matters.
    pub(super) const fn forget(&mut self) {
        self.writer &= !WRITTEN;
    }

    /// Records a read.
    ///
    /// # Errors
    /// With the writer that it races with.
    #[inline]
    pub(super) fn read(&mut self, by: Stamp, order: &mut Order) -> Result<f64, Stamp> {
        // The writer's own reads need no record: whoever races with them races with the write.
        if self.readers[0] == by || self.writer == by | WRITTEN {
            return Ok(self.value);
        }
        self.read_first(by, order)
    }

    fn read_first(&mut self, by: Stamp, order: &mut Order) -> Result<f64, Stamp> {
        let writer = self.writer & !WRITTEN;
        if !order.ordered(writer, by) {
            return Err(writer);
        }
        let [first, second] =
            self.readers.map(|reader| if order.ordered(reader, by) { NEVER } else { reader });
        self.readers = match (first, second) {
            (NEVER, other) | (other, NEVER) => [by, other],
            _ => {
                let parting = order.shared_depth(first, second);
                // `by` replaces one only where that moves the parting outwards.
                if order.shared_depth(first, by) < parting { [by, first] } else { [first, second] }
            }
        };
        Ok(self.value)
    }

    /// Records a write.
    ///
    /// # Errors
    /// With the stamp that it races with, and whether that one wrote.
    #[inline]
    pub(super) fn write(&mut self, value: f64, by: Stamp, order: &mut Order) -> Result<(), (Stamp, bool)> {
        if self.writer != by | WRITTEN || self.readers != [NEVER; 2] {
            let writer = self.writer & !WRITTEN;
            if !order.ordered(writer, by) {
                return Err((writer, true));
            }
            for reader in self.readers {
                if !order.ordered(reader, by) {
                    return Err((reader, false));
                }
            }
            self.writer = by | WRITTEN;
            self.readers = [NEVER; 2];
        }
        self.value = value;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_barrier_orders_what_is_inside_its_scope_only() {
        let mut order = Order::new();
        let inside = order.enter(&[0, 0], &[0, 0]);
        let outside = order.enter(&[1, 0], &[1, 0]);
        order.join(&[0]);
        let neighbour = order.enter(&[0, 1], &[0, 1]);
        assert!(order.ordered(inside, neighbour));
        assert!(!order.ordered(outside, neighbour));
        order.join(&[]);
        let later = order.enter(&[0, 1], &[0, 1]);
        assert!(order.ordered(outside, later));
    }

    #[test]
    fn a_whole_and_its_part_need_a_barrier() {
        let mut order = Order::new();
        let whole = order.enter(&[], &[]);
        let part = order.enter(&[1], &[1]);
        assert!(!order.ordered(whole, part));
        assert!(!order.ordered(part, whole));
    }

    #[test]
    fn two_kept_readers_stand_for_all() {
        let mut order = Order::new();
        let mut cell = Cell::holding(1.0);
        for path in [[0, 0], [0, 1], [1, 0], [0, 2]] {
            let stamp = order.enter(&path, &path);
            assert_eq!(cell.read(stamp, &mut order), Ok(1.0));
        }
        order.join(&[0]);
        let writer = order.enter(&[0, 1], &[0, 1]);
        // The barrier of scope 0 does not cover the reader in scope 1.
        assert!(matches!(cell.write(2.0, writer, &mut order), Err((_, false))));
        order.join(&[]);
        let writer = order.enter(&[0, 1], &[0, 1]);
        assert_eq!(cell.write(2.0, writer, &mut order), Ok(()));
    }
}
