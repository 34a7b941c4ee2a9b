//! `tilewright operators`: what can be tuned.

use anyhow::Result;
use serde_json::json;
use tilewright_codegen::{CacheSizes, Isa, isas};
use tilewright_ir::{Operator, Workload, default_schedule, legalise, lower};

use crate::arguments::Operators;
use crate::output;

/// Sizes that code generation is tried with; what compiles does not depend on them.
const CACHES: CacheSizes = CacheSizes { l1: 32 << 10, l2: 512 << 10, l3: 32 << 20 };

/// Whether an instruction set's code generator takes a workload, with its default schedule.
fn compiles(isa: &dyn Isa, workload: &Workload) -> bool {
    let limits = isa.limits(1, &CACHES);
    let program = lower(workload, &default_schedule(workload, &limits), &limits);
    program.and_then(|program| legalise(&program, &limits)).is_ok_and(|program| isa.compile(&program).is_ok())
}

/// The instruction sets that take all of the operator's test workloads.
fn instruction_sets(workloads: &[Workload]) -> Vec<&'static str> {
    let takes_all = |isa: &&&'static dyn Isa| workloads.iter().all(|workload| compiles(**isa, workload));
    isas().iter().filter(takes_all).map(|isa| isa.id()).collect()
}

/// Runs the command.
pub(crate) fn operators(arguments: &Operators) -> Result<()> {
    let mut listed = Vec::new();
    let mut lines = String::new();
    for operator in tilewright_ir::operators() {
        let operator: &dyn Operator = *operator;
        let workloads = operator.test_workloads();
        let Some(example) = workloads.first() else { continue };
        let family = operator.describe(example.parameters())?.family();
        let types: Vec<&str> = operator.types().iter().map(|data_type| data_type.name()).collect();
        let isas = instruction_sets(&workloads);
        let parameters = operator.parameter_names();
        lines += &format!(
            "{:<12} {:<12} {}\n{:<25} parameters: {}\n{:<25} types: {}; instruction sets: {}\n",
            operator.id(),
            family,
            operator.summary(),
            "",
            parameters.join(", "),
            "",
            types.join(", "),
            isas.join(", ")
        );
        listed.push(json!({
            "id": operator.id(),
            "family": family,
            "summary": operator.summary(),
            "shapes": parameters,
            "types": types,
            "isas": isas,
        }));
    }
    if arguments.json {
        return output::json(&json!({ "version": 1, "operators": listed }));
    }
    output::result(&lines)
}
