//! Tilewright: journal.
