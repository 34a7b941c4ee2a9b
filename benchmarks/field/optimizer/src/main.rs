//! The crate `optimizer` by its ask-and-tell interface: `tilewright-field-optimizer PLAN STRATEGY`.
//!
//! Ordered parameters are whole numbers (positions in the list of values), others are choices. The crate forgets
//! failed trials, so what is illegal or failed is told as twice the slowest time.

use std::collections::{HashMap, HashSet};
use std::error::Error;

use optimizer::parameter::{CategoricalParam, IntParam, Parameter};
use optimizer::sampler::tpe::MultivariateTpeSampler;
use optimizer::sampler::{DESampler, TpeSampler};
use optimizer::{Study, Trial};
use serde::{Deserialize, Serialize};

const VERSION: &str = "1.0.1";

#[derive(Deserialize)]
struct Plan {
    parameters: Vec<PlanParameter>,
    points: Vec<Vec<u16>>,
    times_ms: Vec<Option<f64>>,
    costs_s: Vec<f64>,
    budget_s: f64,
    questions: u64,
    seeds: Vec<u64>,
}

#[derive(Deserialize)]
struct PlanParameter {
    name: String,
    values: Vec<serde_json::Value>,
    ordered: bool,
}

#[derive(Serialize)]
struct Trace {
    version: &'static str,
    runs: Vec<Vec<usize>>,
}

enum Choice {
    Ordered(IntParam),
    Named(CategoricalParam<u16>),
}

impl Choice {
    fn of(parameter: &PlanParameter) -> Self {
        let count = parameter.values.len();
        if parameter.ordered {
            Self::Ordered(IntParam::new(0, count as i64 - 1).name(&parameter.name))
        } else {
            Self::Named(CategoricalParam::new((0..count as u16).collect()).name(&parameter.name))
        }
    }

    fn suggest(&self, trial: &mut Trial) -> Result<u16, Box<dyn Error>> {
        Ok(match self {
            Self::Ordered(parameter) => u16::try_from(parameter.suggest(trial)?)?,
            Self::Named(parameter) => parameter.suggest(trial)?,
        })
    }
}

fn study(strategy: &str, seed: u64) -> Result<Study<f64>, Box<dyn Error>> {
    Ok(match strategy {
        "tpe" => Study::minimize(TpeSampler::builder().seed(seed).build()?),
        "multivariate_tpe" => Study::minimize(MultivariateTpeSampler::builder().seed(seed).build()?),
        "differential_evolution" => Study::minimize(DESampler::with_seed(seed)),
        _ => return Err(format!("no strategy `{strategy}`").into()),
    })
}

fn run(plan: &Plan, numbers: &HashMap<&[u16], usize>, strategy: &str, seed: u64) -> Result<Vec<usize>, Box<dyn Error>> {
    let study = study(strategy, seed)?;
    let choices: Vec<Choice> = plan.parameters.iter().map(Choice::of).collect();
    let penalty = 2.0 * plan.times_ms.iter().flatten().copied().fold(0.0, f64::max);
    let (mut visited, mut seen, mut spent_s) = (Vec::new(), HashSet::new(), 0.0);
    for _ in 0..plan.questions {
        if spent_s >= plan.budget_s || seen.len() == plan.points.len() {
            break;
        }
        let mut trial = study.ask();
        let point: Vec<u16> = choices.iter().map(|choice| choice.suggest(&mut trial)).collect::<Result<_, _>>()?;
        let number = numbers.get(point.as_slice()).copied();
        if let Some(number) = number
            && seen.insert(number)
        {
            visited.push(number);
            spent_s += plan.costs_s[number];
        }
        let time_ms = number.and_then(|number| plan.times_ms[number]).unwrap_or(penalty);
        study.tell(trial, Ok::<_, &str>(time_ms));
    }
    Ok(visited)
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, file, strategy] = arguments.as_slice() else { return Err("give PLAN and STRATEGY".into()) };
    let plan: Plan = serde_json::from_str(&std::fs::read_to_string(file)?)?;
    let numbers = plan.points.iter().enumerate().map(|(number, point)| (point.as_slice(), number)).collect();
    let runs = plan.seeds.iter().map(|&seed| run(&plan, &numbers, strategy, seed));
    let trace = Trace { version: VERSION, runs: runs.collect::<Result<_, _>>()? };
    println!("{}", serde_json::to_string(&trace)?);
    Ok(())
}
