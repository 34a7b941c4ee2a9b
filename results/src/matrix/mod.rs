//! What the campaigns of a matrix found, and how its strategies compare.
//!
//! | file | holds |
//! |---|---|
//! | `course.rs` | one cell: what it found, and when |
//! | `compare.rs` | all cells: ranks, intervals, time to quality |
//! | `curves.rs` | the same over the course of the search |
//! | `page.rs` | the charts and one page with all of it |

mod compare;
mod course;
mod curves;
mod page;

use std::path::Path;

use tilewright_journal::{Cell, JOURNAL_FILE, Matrix};

use crate::{Campaign, ReportError};

pub use compare::{
    Comparison, Estimate, Front, ProblemSummary, QUALITIES, Ranking, StrategySummary, TimeToQuality,
};
pub use course::{Course, Found, Tradeoff};
pub use page::{ComparisonReport, comparison_report};

/// What the cells of a matrix found.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixResults {
    /// What was asked.
    pub matrix: Matrix,
    /// Every cell that ended, in the matrix's order.
    pub courses: Vec<Course>,
    /// Cells that have not ended; their problem and seed is compared for no strategy.
    pub open: usize,
}

impl MatrixResults {
    /// Reads the cells of a matrix's folder.
    ///
    /// # Errors
    /// When a journal cannot be read.
    pub fn read(folder: &Path, matrix: Matrix) -> Result<Self, ReportError> {
        let mut courses = Vec::new();
        let cells = matrix.cells();
        for cell in &cells {
            courses.extend(course_of(folder, cell, &matrix)?);
        }
        let open = cells.len() - courses.len();
        drop(cells);
        one_clock(&mut courses);
        Ok(Self { matrix, courses, open })
    }
}

fn course_of(folder: &Path, cell: &Cell<'_>, matrix: &Matrix) -> Result<Option<Course>, ReportError> {
    use tilewright_journal::EndReason;
    let path = folder.join(cell.folder());
    if !path.join(JOURNAL_FILE).is_file() {
        return Ok(None);
    }
    let campaign = match Campaign::read(&path) {
        // Begun and killed before the first line was whole.
        Err(ReportError::NoStart { damaged: 0, .. }) => return Ok(None),
        other => other?,
    };
    let why = campaign.ended.as_ref().map(|ended| &ended.why);
    if matches!(why, None | Some(EndReason::Interrupted | EndReason::Failed(_))) {
        return Ok(None);
    }
    Ok(Some(Course::of(&campaign, cell.problem(), &matrix.objectives)))
}

/// Brings measured cells of one problem to one clock: each is scaled so that its confirmation's default takes
/// what the defaults of all of them take in the median. The ratio of winner and default comes from pairs that were
/// measured in turns, so a machine that was slower during one cell changes nothing.
fn one_clock(courses: &mut [Course]) {
    let mut problems: Vec<String> = courses.iter().map(|course| course.problem.clone()).collect();
    problems.sort_unstable();
    problems.dedup();
    for problem in problems {
        let of_problem = |course: &&mut Course| course.problem == problem;
        let defaults: Vec<f64> = courses
            .iter_mut()
            .filter(of_problem)
            .filter_map(|course| course.confirmed.map(|(_, default_ns)| default_ns))
            .collect();
        let Ok(default_ns) = tilewright_stats::samples::median(&defaults) else { continue };
        for course in courses.iter_mut().filter(of_problem) {
            if let (Some((ratio, _)), Some(last_ns)) = (course.confirmed, course.last_ns()) {
                course.scale(default_ns / ratio / last_ns);
            }
        }
    }
}
