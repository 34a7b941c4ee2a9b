//! The language of Tilewright: workloads, schedules, and the one program form that everything reads.
//!
//! A [`Workload`] with a [`Schedule`] is lowered to a [`Program`] of tile instructions ([`lower`]), made
//! explicit for a target ([`legalise`]), and then interpreted, simulated or compiled. This crate does no
//! input or output, reads no clock, and draws random numbers only from a generator it is given.
#![forbid(unsafe_code)]

pub mod affine;
mod builder;
pub mod computation;
mod constructors;
mod data_type;
pub mod examples;
pub mod expression;
mod interpret;
mod key;
mod layout;
mod legalise;
mod limits;
mod lower;
mod operator;
mod operators;
mod print;
pub mod program;
mod range;
pub mod row_wise;
mod schedule;
mod tensor;
mod workload;
pub mod workspace;

pub use builder::ProgramBuilder;
pub use data_type::{Block, DATA_TYPES, DataType, UnknownDataType};
pub use interpret::{Action, InterpretError, PersistentStore, TensorData, interpret};
pub use key::{CacheState, WorkloadKey};
pub use legalise::legalise;
pub use limits::{Illegal, Limits, MemoryLevel};
pub use lower::{default_schedule, lower, starting_schedules};
pub use operator::{
    DEFAULT_DRIFT, Operator, ReferenceElement, Tolerance, operator, operators, summation_error,
};
pub use program::Program;
pub use schedule::{SCHEDULE_VERSION, Schedule, ScheduleValue};
pub use tensor::{TensorLayout, TensorView, read_element, round_to, write_element};
pub use workload::{Parameters, Workload, WorkloadError};
