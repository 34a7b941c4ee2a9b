//! Tilewright: genome.
