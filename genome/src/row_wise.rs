//! The space of the row-wise family, derived from the computation and the target's limits.
//!
//! | gene | values | what it decides |
//! |---|---|---|
//! | `threads` | none; rows where there are several; columns where each stands for itself | which loop is dealt |
//! | `deal` | block, cyclic | how rows are |
//! | `vectors` | 1, 2, 4, 8 as registers and columns allow | vectors of one iteration, each with own partial results |
//! | `unroll` | 1, 2, 4 | copies of the body |
//! | `rest` | peel, mask | columns behind the last whole iteration |
//! | `keep` | buffer, recompute | values of the columns that a later pass reads again |

use tilewright_ir::row_wise::RowWise;
use tilewright_ir::{Illegal, Limits, ScheduleValue};

use crate::error::SpaceError;
use crate::gene::Gene;
use crate::plain::Constraint;
use crate::space::SearchSpace;

fn number(value: &ScheduleValue) -> u64 {
    match value {
        ScheduleValue::Number(number) => *number,
        ScheduleValue::Name(_) => 0,
    }
}

fn is(value: &ScheduleValue, name: &str) -> bool {
    matches!(value, ScheduleValue::Name(text) if text == name)
}

/// The space of a row-wise computation on a target.
pub(crate) fn space(computation: &RowWise, limits: &Limits) -> Result<SearchSpace, SpaceError> {
    let lanes = limits.lanes(4);
    if lanes == 0 {
        let what = format!("vectors of {} bytes", limits.vector_bytes);
        return Err(SpaceError::Illegal(Illegal::Unsupported { target: limits.target.clone(), what }));
    }
    let (columns, workers) = (computation.columns(), u64::from(limits.workers));
    let iterations = columns.div_ceil(lanes);
    let mut threads = vec!["none"];
    if limits.workers > 1 && computation.rows() > 1 {
        threads.push("rows");
    }
    if limits.workers > 1 && computation.is_element_wise() && iterations >= workers {
        threads.push("columns");
    }
    let fits = |vectors: &u64| {
        *vectors <= iterations && computation.registers_needed(*vectors) <= limits.vector_registers
    };
    let vectors: Vec<u64> = [1, 2, 4, 8].into_iter().filter(fits).collect();
    let keep: &[&str] = if computation.rereads_columns() { &["buffer", "recompute"] } else { &["buffer"] };
    let genes = vec![
        Gene::categorical("threads", "threads", &threads),
        Gene::categorical("deal", "threads", &["block", "cyclic"]),
        Gene::ordered("vectors", "columns", vectors),
        Gene::ordered("unroll", "columns", vec![1, 2, 4]),
        Gene::categorical("rest", "columns", &["peel", "mask"]),
        Gene::categorical("keep", "passes", keep),
    ];
    let constraints = vec![
        Constraint::new("only rows are dealt in turn", &["threads", "deal"], |values| {
            is(values[0], "rows") || is(values[1], "block")
        }),
        Constraint::new("an unrolled body has as many iterations", &["vectors", "unroll"], move |values| {
            number(values[1]) == 1 || number(values[0]) * number(values[1]) <= columns / lanes
        }),
        Constraint::new(
            "only a rest behind whole iterations is masked",
            &["vectors", "rest"],
            move |values| {
                let step = number(values[0]) * lanes;
                is(values[1], "peel") || (columns > step && !columns.is_multiple_of(step))
            },
        ),
    ];
    SearchSpace::plain(genes, constraints)
}
