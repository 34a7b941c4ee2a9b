//! Tilewright: simulator.
