//! T1 problem descriptions: the parameters of a kernel, and the conditions that a configuration must meet
//! (Kernel Tuner's T1 input schema 1.0.0). What they say about building and running the kernel is passed over.

use serde::Deserialize;

use crate::builder::{Builder, Row};
use crate::document::Document;
use crate::error::RecordedError;
use crate::expression::Expression;
use crate::space::RecordedSpace;
use crate::value::{Scalar, Value};

/// Parameters and conditions of a space, without times.
#[derive(Debug, Clone)]
pub struct Problem {
    /// The file.
    pub file: String,
    /// Name of the kernel, where it has one.
    pub kernel: Option<String>,
    /// The parameters, in the file's order.
    pub parameters: Vec<ProblemParameter>,
    /// What must hold; every name in them is a parameter.
    pub conditions: Vec<Expression>,
}

/// A parameter of a problem.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemParameter {
    /// Its name.
    pub name: String,
    /// Values that it may have, at least one.
    pub values: Vec<Value>,
    /// Value that it has untuned.
    pub default: Option<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(crate) struct ConfigurationSpace {
    #[serde(rename = "TuningParameters")]
    parameters: Vec<TuningParameter>,
    #[serde(rename = "Conditions")]
    conditions: Vec<Condition>,
}

#[derive(Debug, Deserialize)]
struct TuningParameter {
    #[serde(rename = "Name")]
    name: String,
    #[serde(rename = "Values")]
    values: Values,
    #[serde(rename = "Default", default)]
    default: Option<Scalar>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Values {
    List(Vec<Scalar>),
    Expression(String),
}

#[derive(Debug, Deserialize)]
struct Condition {
    #[serde(rename = "Expression")]
    expression: String,
}

/// Most conditions: each is evaluated for each configuration.
const MOST_CONDITIONS: usize = 1_000;

impl Problem {
    /// The problem of a T1 file.
    pub(crate) fn new(file: &str, document: Document) -> Result<Self, RecordedError> {
        let ConfigurationSpace { parameters, conditions } = document.space.unwrap_or_default();
        let wrong = |field: &str, problem: String, remedy| {
            Err(RecordedError::field(file, "`ConfigurationSpace`", field, problem, remedy))
        };
        if parameters.is_empty() {
            return wrong("TuningParameters", "no parameter".to_owned(), "name at least one");
        }
        if conditions.len() > MOST_CONDITIONS {
            return wrong("Conditions", format!("{} conditions", conditions.len()), "state at most 1000");
        }
        let parameters: Vec<ProblemParameter> =
            parameters.into_iter().map(|of| parameter(file, of)).collect::<Result<_, _>>()?;
        let mut read = Vec::with_capacity(conditions.len());
        for Condition { expression } in conditions {
            let parsed = Expression::parse(&expression).map_err(|error| in_file(file, &expression, error))?;
            let known = |name: &String| parameters.iter().any(|parameter| parameter.name == *name);
            if let Some(name) = parsed.names().iter().find(|name| !known(name)) {
                let problem = format!("`{expression}` names `{name}`, which is no parameter");
                return wrong("Conditions", problem, "correct the name");
            }
            read.push(parsed);
        }
        let benchmark = document.general.and_then(|general| general.benchmark);
        let kernel = document.kernel.and_then(|kernel| kernel.name).or(benchmark);
        Ok(Self { file: file.to_owned(), kernel, parameters, conditions: read })
    }

    /// The part of a recorded space that meets the conditions, with values that the description lists.
    ///
    /// # Errors
    /// When the two have different parameters, a condition cannot be evaluated, or nothing is left.
    pub fn restrict(&self, space: &RecordedSpace) -> Result<RecordedSpace, RecordedError> {
        let order = self.order(space)?;
        let mut rows = Vec::with_capacity(space.configurations().len());
        for (at, configuration) in space.configurations().iter().enumerate() {
            let values = space.values(at).unwrap_or_default();
            let listed = self.parameters.iter().zip(&order).all(|(of, &at)| of.values.contains(values[at]));
            if listed && self.holds(&order, &values)? {
                rows.push(Row {
                    place: format!("configuration {at}"),
                    values: values.into_iter().cloned().collect(),
                    result: configuration.result.clone(),
                    cost: configuration.cost,
                });
            }
        }
        let builder = Builder {
            file: self.file.clone(),
            kernel: space.kernel().to_owned(),
            device: space.device().to_owned(),
            digest: space.digest().to_owned(),
            cut_off: space.is_cut_off(),
            names: space.parameters().iter().map(|parameter| parameter.name.clone()).collect(),
            rows,
        };
        builder.build()
    }

    /// Position in the recorded space of each parameter.
    fn order(&self, space: &RecordedSpace) -> Result<Vec<usize>, RecordedError> {
        let missing = |name: &str, problem: &str| {
            let remedy = "give the description of this recording";
            RecordedError::field(&self.file, "`TuningParameters`", name, problem, remedy)
        };
        let known = |name: &String| self.parameters.iter().any(|parameter| parameter.name == *name);
        if let Some(extra) = space.parameters().iter().find(|parameter| !known(&parameter.name)) {
            return Err(missing(&extra.name, "the recording has this parameter, the description has not"));
        }
        let position = |name: &str| space.parameters().iter().position(|parameter| parameter.name == name);
        let order = self.parameters.iter().map(|parameter| {
            let problem = "the description has this parameter, the recording has not";
            position(&parameter.name).ok_or_else(|| missing(&parameter.name, problem))
        });
        order.collect()
    }

    fn holds(&self, order: &[usize], values: &[&Value]) -> Result<bool, RecordedError> {
        let value_of = |name: &str| {
            let at = self.parameters.iter().position(|parameter| parameter.name == name)?;
            Some(values[order[at]].clone())
        };
        for condition in &self.conditions {
            let holds = condition.holds(&value_of);
            if !holds.map_err(|error| in_file(&self.file, condition.text(), error))? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn in_file(file: &str, expression: &str, error: crate::expression::ExpressionError) -> RecordedError {
    RecordedError::Expression { file: file.to_owned(), expression: expression.to_owned(), error }
}

fn parameter(file: &str, parameter: TuningParameter) -> Result<ProblemParameter, RecordedError> {
    let TuningParameter { name, values, default } = parameter;
    let place = format!("parameter `{name}`");
    let values = match values {
        Values::Expression(text) => Expression::parse(&text)
            .and_then(|parsed| parsed.list(&|_| None))
            .map_err(|error| in_file(file, &text, error))?,
        Values::List(list) => {
            let values: Option<Vec<Value>> = list.into_iter().map(|scalar| scalar.0).collect();
            let problem = "a value is neither a number nor a text";
            values
                .ok_or_else(|| RecordedError::field(file, &place, "Values", problem, "list plain values"))?
        }
    };
    if values.is_empty() {
        return Err(RecordedError::field(file, place, "Values", "no value", "list at least one"));
    }
    Ok(ProblemParameter { name, values, default: default.and_then(|scalar| scalar.0) })
}
