//! Charts as SVG: drawn in fixed colours, which the page exchanges for those of the reader's theme.

pub(crate) mod bars;
mod canvas;
mod convergence;
pub(crate) mod curves;
pub(crate) mod intervals;
mod pairs;
pub(crate) mod parallel;
pub(crate) mod ranks;
mod roofline;
mod score;

pub(crate) use canvas::thin;
pub use score::{ScoreCourse, ScoreCurve, ScoreMap};

use crate::{Axis, Campaign, ReportError, convergence as course, importance as ranking};

/// A chart by the name of its file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chart {
    /// Name of the file, without `.svg`.
    pub(crate) name: String,
    /// The chart, in colours for a light background.
    pub(crate) svg: String,
}

impl Chart {
    /// For a page that defines the theme's colours and fonts: without size and colours of its own.
    pub(crate) fn inline(&self) -> String {
        canvas::themed(&self.svg)
    }
}

/// Every chart that the campaign has numbers for.
pub(crate) fn charts(campaign: &Campaign) -> Result<Vec<Chart>, ReportError> {
    let bound = campaign.bound();
    let mut charts = Vec::new();
    let mut add = |name: &str, svg: Option<Result<String, ReportError>>| -> Result<(), ReportError> {
        charts.extend(svg.transpose()?.map(|svg| Chart { name: name.to_owned(), svg }));
        Ok(())
    };
    for (name, axis) in [("convergence-evaluations", Axis::Evaluations), ("convergence-time", Axis::Seconds)]
    {
        let course = course(campaign, axis);
        add(name, (!course.trials.is_empty()).then(|| convergence::draw(&course, axis, &bound)))?;
    }
    add("pairs", campaign.confirmation.as_ref().and_then(pairs::times))?;
    add("ratios", campaign.confirmation.as_ref().and_then(pairs::ratios))?;
    // A simulated campaign knows no ceiling, and there is no roof to draw without one.
    let has_roof = campaign.current_ceilings().gflops > 0.0;
    add("roofline", has_roof.then(|| roofline::draw(campaign, &bound)))?;
    add("outcomes", (!campaign.trials.is_empty()).then(|| bars::outcomes(&campaign.outcomes())))?;
    let ranking = ranking(campaign);
    add("importance", (!ranking.is_empty()).then(|| bars::importance(&ranking)))?;
    Ok(charts)
}
