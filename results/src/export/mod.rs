//! A campaign's trials for other tools.
//!
//! | form | what it holds | file |
//! |---|---|---|
//! | CSV, Parquet | a [`Table`] with one row a trial | `table.rs`; `csv.rs`, `parquet.rs` |
//! | Optuna's journal storage | a study with one trial a trial | `optuna.rs` |
//!
//! What other tuners read (T4 results, Kernel Tuner caches) is written by `tilewright-recorded`, for campaigns and
//! for the recordings of others alike.

mod csv;
mod optuna;
mod parquet;
mod table;

pub use csv::write_csv;
pub use optuna::write_optuna_journal;
pub use parquet::write_parquet;
pub use table::{Column, Table, Values};
