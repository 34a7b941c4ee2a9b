use std::collections::BTreeSet;

use rand::SeedableRng;
use rand::rngs::Xoshiro256PlusPlus;
use tilewright_ir::{Limits, Workload};

use super::*;
use crate::crossover;
use crate::gene::Gene;

fn space(text: &str, workers: u32) -> SearchSpace {
    let limits = Limits {
        target: "test".to_owned(),
        vector_bytes: 32,
        vector_registers: 16,
        workers,
        levels: Vec::new(),
        workspace_bytes: 1 << 30,
        memory_broadcast: false,
        body_instructions: 4096,
    };
    SearchSpace::of(&text.parse::<Workload>().unwrap(), &limits).unwrap()
}

fn rng() -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(3)
}

#[test]
fn every_mutation_gives_legal_genomes_that_differ_and_many_of_them() {
    for text in ["matmul:m=509,n=511,k=513,dtype=f32", "matmul:m=2,n=3,k=50000,dtype=f32,layout=nt"] {
        let space = space(text, 2);
        for mutation in mutations() {
            let mut rng = rng();
            let mut results = BTreeSet::new();
            for _ in 0..1_000 {
                let parent = space.sample(&mut rng);
                if let Some(child) = mutation.apply(&space, &parent, &mut rng) {
                    assert_ne!(child, parent, "{}", mutation.id());
                    assert_eq!(space.decode(&child).map(|_| ()), Ok(()), "{}", mutation.id());
                    results.insert(child);
                }
            }
            // Most genomes of the long problem have no order to swap.
            let wanted = if mutation.id() == "swap_order" { 100 } else { 700 };
            assert!(results.len() > wanted, "{text}: {}: {}", mutation.id(), results.len());
        }
    }
}

#[test]
fn many_children_of_one_parent_differ() {
    let space = space("matmul:m=1024,n=1024,k=1024,dtype=f32", 2);
    for mutation in mutations() {
        let mut rng = rng();
        let parent = space.default_genome().clone();
        let children: BTreeSet<_> =
            (0..1_000).filter_map(|_| mutation.apply(&space, &parent, &mut rng)).collect();
        let wanted = match mutation.id() {
            // Nothing differs from the default in the default.
            "copy_default" => 0,
            "swap_order" => 1,
            "scale" => 8,
            "step" | "trade" => 16,
            _ => 40,
        };
        assert!(children.len() >= wanted, "{}: {}", mutation.id(), children.len());
    }
}

#[test]
fn mutating_again_and_again_reaches_every_value_of_every_short_gene() {
    let space = space("matmul:m=20,n=36,k=10,dtype=f32,layout=nt", 2);
    let mut rng = rng();
    let mut genome = space.default_genome().clone();
    let mut seen: Vec<BTreeSet<u16>> = vec![BTreeSet::new(); space.genes().len()];
    let mut reachable = seen.clone();
    for _ in 0..20_000 {
        for (values, value) in reachable.iter_mut().zip(&space.sample(&mut rng).0) {
            values.insert(*value);
        }
        let mutation = mutations()[rng.random_range(0..mutations().len())];
        genome = mutation.apply(&space, &genome, &mut rng).unwrap_or(genome);
        for (values, value) in seen.iter_mut().zip(&genome.0) {
            values.insert(*value);
        }
    }
    for ((gene, seen), reachable) in space.genes().iter().zip(&seen).zip(&reachable) {
        let short = gene.values.len() <= 16;
        assert!(!short || seen.is_superset(reachable), "{}: {:?}", gene.name, reachable.difference(seen));
    }
}

#[test]
fn a_space_of_one_point_has_nothing_to_do() {
    let genes = vec![Gene::ordered("only", "only", vec![4]), Gene::categorical("name", "only", &["x"])];
    let space = SearchSpace::plain(genes, Vec::new()).unwrap();
    let mut rng = rng();
    for mutation in mutations() {
        assert_eq!(mutation.apply(&space, space.default_genome(), &mut rng), None, "{}", mutation.id());
    }
    assert_eq!(crossover(&space, space.default_genome(), space.default_genome(), &mut rng), None);
}

#[test]
fn an_illegal_parent_has_no_children() {
    let space = space("matmul:m=64,n=64,k=64,dtype=f32", 1);
    let illegal = Genome(vec![9; space.genes().len()].into());
    let mut rng = rng();
    for mutation in mutations() {
        assert_eq!(mutation.apply(&space, &illegal, &mut rng), None, "{}", mutation.id());
    }
}

#[test]
fn children_of_two_parents_are_legal_and_take_whole_groups() {
    let space = space("matmul:m=1024,n=1024,k=1024,dtype=f32", 2);
    let mut rng = rng();
    let mut children = BTreeSet::new();
    for _ in 0..1_000 {
        let parents = [space.sample(&mut rng), space.sample(&mut rng)];
        let Some(child) = crossover(&space, &parents[0], &parents[1], &mut rng) else { continue };
        assert_eq!(space.decode(&child).map(|_| ()), Ok(()));
        // The first group is never bent by another.
        let register: Vec<usize> =
            (0..space.genes().len()).filter(|&gene| space.genes()[gene].group == "register").collect();
        let lanes = register[0];
        assert!(parents.iter().any(|parent| parent.0[lanes] == child.0[lanes]));
        children.insert(child);
    }
    assert!(children.len() > 900, "{}", children.len());
}
