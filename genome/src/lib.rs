//! Genomes and the spaces they live in.
//!
//! A [`SearchSpace`] is an ordered list of [`Gene`]s and the rules between them; a [`Genome`] holds one value
//! index per gene, and [`SearchSpace::decode`] turns it into a schedule or says why it is illegal. Spaces are
//! derived from what a workload computes and what a target can hold ([`SearchSpace::of`]), made of plain gene
//! lists with constraints ([`SearchSpace::plain`]), or listed point by point ([`SearchSpace::enumerated`]). This is the only crate that knows genes: everything
//! after it sees schedules.
#![forbid(unsafe_code)]

mod cardinality;
mod choose;
mod contraction;
mod crossover;
mod enumerated;
mod error;
mod gene;
mod genome;
pub mod mutation;
mod plain;
mod refusal;
mod row_wise;
mod rules;
mod sampling;
mod space;
mod walk;

pub use cardinality::Cardinality;
pub use crossover::crossover;
pub use error::SpaceError;
pub use gene::{Gene, Sampling, Values};
pub use genome::Genome;
pub use mutation::{Mutation, mutation, mutations};
pub use plain::Constraint;
pub use refusal::Refusal;
pub use rules::Rules;
pub use space::{SearchSpace, Wish};
