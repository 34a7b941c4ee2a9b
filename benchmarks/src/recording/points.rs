use std::sync::Arc;

use tilewright_genome::{Gene, Genome, SearchSpace};
use tilewright_ir::{Limits, Program, Schedule, ScheduleValue, Workload, legalise, lower};
use tilewright_recorded::Value;

use super::subspaces::{Kept, SubSpace};

/// A legal schedule of a sub-space.
#[derive(Debug, Clone)]
pub struct Point {
    /// The value of each gene that the sub-space names; `None` where the gene has no effect.
    pub values: Vec<Option<ScheduleValue>>,
    /// What to evaluate.
    pub schedule: Schedule,
    /// Its program, legalised.
    pub program: Arc<Program>,
}

/// All legal schedules of a sub-space, in the order of the genes' values.
pub fn points(sub: &SubSpace, workload: &Workload, space: &SearchSpace, limits: &Limits) -> Vec<Point> {
    let mut found = Vec::new();
    let mut prefix = Vec::new();
    extend(space, sub, &mut prefix, &mut |genome| {
        let Ok(schedule) = space.decode(genome) else { return };
        let lowered = lower(workload, &schedule, limits).and_then(|program| legalise(&program, limits));
        let Ok(program) = lowered else { return };
        let has_effect = space.meanings(genome).unwrap_or_default();
        let value = |(name, _): &(&str, Kept)| {
            let at = space.gene(name)?;
            has_effect.get(at)?.as_ref()?;
            space.genes()[at].value(genome.0[at])
        };
        let values = sub.genes.iter().map(value).collect();
        found.push(Point { values, schedule, program: Arc::new(program) });
    });
    found
}

/// Goes on with every kept value of the next gene.
fn extend(space: &SearchSpace, sub: &SubSpace, prefix: &mut Vec<u16>, visit: &mut dyn FnMut(&Genome)) {
    let at = prefix.len();
    let Some(gene) = space.genes().get(at) else {
        visit(&Genome(prefix.clone().into()));
        return;
    };
    let mut padded = prefix.clone();
    padded.resize(space.genes().len(), 0);
    let open = space.open_values(&Genome(padded.into()), at);
    let kept = sub.genes.iter().find(|(name, _)| *name == gene.name).map(|(_, kept)| kept);
    let next: Vec<u16> = match kept {
        // Without effect, and 0; or at a dead end, which decoding refuses.
        _ if open.is_empty() => vec![0],
        Some(kept) => open.into_iter().filter(|&index| keeps(gene, *kept, index)).collect(),
        None => open.into_iter().take(1).collect(),
    };
    for index in next {
        prefix.push(index);
        extend(space, sub, prefix, visit);
        prefix.pop();
    }
}

fn keeps(gene: &Gene, kept: Kept, index: u16) -> bool {
    match kept {
        Kept::Numbers(numbers) => gene.number(index).is_some_and(|number| numbers.contains(&number)),
        Kept::Choices(choices) => gene.choice(index).is_some_and(|choice| choices.contains(&choice)),
        Kept::All => true,
    }
}

/// A value as a recording writes it; of a gene without effect 0 among numbers, else `absent`.
pub fn value(value: Option<&ScheduleValue>, kept: Kept) -> Value {
    match (value, kept) {
        (Some(ScheduleValue::Number(number)), _) => {
            i64::try_from(*number).map_or_else(|_| Value::Text(number.to_string()), Value::Integer)
        }
        (Some(ScheduleValue::Name(name)), _) => Value::Text(name.clone()),
        (None, Kept::Numbers(_)) => Value::Integer(0),
        (None, Kept::Choices(_) | Kept::All) => Value::Text("absent".to_owned()),
    }
}
