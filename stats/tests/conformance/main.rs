//! What every gate of the list must keep. A new gate is under test once it is listed.

mod environment;
mod interleaving;
mod level;
mod power;
mod robustness;
mod symmetry;
