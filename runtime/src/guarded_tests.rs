//! Guard pages fault, margins tell, alignment holds.

use super::*;
use crate::testing::{Ended, child};

const SEGV: Ended = Ended::By(rustix::process::Signal::SEGV);

/// Stores one byte at this distance from the start of the data.
fn poke(buffer: &GuardedBuffer, offset: isize) {
    // SAFETY: none beyond the data: these are the faults under test, in processes of their own.
    unsafe { buffer.as_ptr().wrapping_offset(offset).write_volatile(1) };
}

#[test]
fn data_is_aligned_placed_and_poisoned() {
    for bytes in [0, 1, 4, 100, 4092, 4096, 4100, 70_000, HUGE_PAGE + 4] {
        for placement in [Placement::AgainstStart, Placement::AgainstEnd] {
            for alignment in [1, 4, 64, 4096] {
                let spec = BufferSpec::new(bytes, placement).aligned(alignment).huge();
                let mut buffer = GuardedBuffer::new(&spec).unwrap();
                assert_eq!(buffer.as_ptr() as usize % alignment, 0);
                let edge =
                    buffer.as_ptr() as usize + if placement == Placement::AgainstEnd { bytes } else { 0 };
                assert!(edge.next_multiple_of(4096) - edge < alignment.max(1));
                assert!(buffer.bytes().iter().all(|&byte| byte == 0xA5));
                assert_eq!(buffer.len(), bytes);
                buffer.bytes_mut().unwrap().fill(1);
                assert!(buffer.margins_intact());
            }
        }
    }
}

#[test]
fn refuses_impossible_wishes() {
    let spec = BufferSpec::new(8, Placement::AgainstEnd);
    for alignment in [0, 3, 8192] {
        let refused = GuardedBuffer::new(&spec.aligned(alignment));
        assert!(matches!(refused, Err(RuntimeError::Alignment(wrong)) if wrong == alignment));
    }
    let refused = GuardedBuffer::new(&BufferSpec::new(usize::MAX - 5, Placement::AgainstEnd));
    assert!(matches!(refused, Err(RuntimeError::Size(_))));
}

#[test]
fn overrun_by_one_element_faults() {
    let ended = child("guarded::tests::overrun_by_one_element_faults", "-", |_| {
        let buffer = GuardedBuffer::new(&BufferSpec::new(100, Placement::AgainstEnd).aligned(4)).unwrap();
        poke(&buffer, 99);
        poke(&buffer, 100);
    });
    assert_eq!(ended, SEGV);
}

#[test]
fn the_last_element_itself_does_not_fault() {
    let ended = child("guarded::tests::the_last_element_itself_does_not_fault", "-", |_| {
        let buffer = GuardedBuffer::new(&BufferSpec::new(100, Placement::AgainstEnd).aligned(4)).unwrap();
        poke(&buffer, 0);
        poke(&buffer, 99);
    });
    assert_eq!(ended, Ended::Completed);
}

#[test]
fn underrun_faults() {
    let ended = child("guarded::tests::underrun_faults", "-", |_| {
        let buffer = GuardedBuffer::new(&BufferSpec::new(100, Placement::AgainstStart)).unwrap();
        poke(&buffer, 0);
        poke(&buffer, -1);
    });
    assert_eq!(ended, SEGV);
}

#[test]
fn overrun_of_a_large_buffer_faults() {
    let ended = child("guarded::tests::overrun_of_a_large_buffer_faults", "-", |_| {
        let bytes = 2 * HUGE_PAGE + 4;
        let buffer =
            GuardedBuffer::new(&BufferSpec::new(bytes, Placement::AgainstEnd).aligned(4).huge()).unwrap();
        poke(&buffer, bytes as isize - 1);
        poke(&buffer, bytes as isize);
    });
    assert_eq!(ended, SEGV);
}

#[test]
fn storing_to_read_only_data_faults() {
    let ended = child("guarded::tests::storing_to_read_only_data_faults", "-", |_| {
        let mut buffer = GuardedBuffer::new(&BufferSpec::new(100, Placement::AgainstEnd)).unwrap();
        buffer.set_access(Access::ReadOnly).unwrap();
        assert!(buffer.bytes_mut().is_none());
        assert_eq!(buffer.bytes()[5], 0xA5);
        poke(&buffer, 5);
    });
    assert_eq!(ended, SEGV);
}

#[test]
fn a_stray_store_into_the_margin_shows() {
    let buffer = GuardedBuffer::new(&BufferSpec::new(100, Placement::AgainstEnd)).unwrap();
    assert!(buffer.margins_intact());
    // SAFETY: with 64-byte alignment, the 28 bytes behind the data belong to the buffer's open pages.
    unsafe { buffer.as_ptr().add(100).write(1) };
    assert!(!buffer.margins_intact());
}

#[test]
fn huge_pages_are_asked_for_only_when_they_fit() {
    let spec = BufferSpec::new(4096, Placement::AgainstStart);
    assert_eq!(GuardedBuffer::new(&spec).unwrap().huge_pages(), HugePages::NotAsked);
    assert_eq!(GuardedBuffer::new(&spec.huge()).unwrap().huge_pages(), HugePages::TooSmall);
    let large = GuardedBuffer::new(&BufferSpec::new(4 * HUGE_PAGE, Placement::AgainstStart).huge()).unwrap();
    assert!(matches!(large.huge_pages(), HugePages::Advised | HugePages::Refused));
    assert_eq!(large.as_ptr() as usize % HUGE_PAGE, 0);
}
