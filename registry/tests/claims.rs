//! The level of claims over a registry's life.

use tilewright_ir::{CacheState, WorkloadKey};
use tilewright_registry::{ClaimTest, Registry};
use tilewright_stats::Level;

const AT: &str = "2025-06-01T12:00:00+00:00";

#[test]
fn tests_without_a_claim_make_the_next_one_harder_and_claims_easier_again() {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::open(folder.path());
    let workload = "matmul:m=8,n=8,k=8,dtype=f32".parse().unwrap();
    let key = WorkloadKey { workload, target: "zen3".to_owned(), threads: 1, cache: CacheState::Warm };
    assert_eq!(registry.claim_level().unwrap(), Level::ONE_IN_TEN_THOUSAND);
    let test = |claimed| ClaimTest::new(&key, 12_345.6, 10_000.0, claimed);
    for _ in 0..60 {
        registry.note_claim_test(test(false), AT).unwrap();
    }
    let hard = registry.claim_level().unwrap();
    assert!(hard < Level::ONE_IN_TEN_THOUSAND);
    registry.note_claim_test(test(true), AT).unwrap();
    assert!(Registry::open(folder.path()).claim_level().unwrap() > hard);
    let tests = registry.claim_tests().unwrap();
    assert_eq!((tests.len(), tests[60].e_value, tests[60].threshold), (61, 12_345, 10_000));
    assert!(registry.list().unwrap().is_empty() && registry.verify_chain().unwrap().is_sound());
}
