//! The printed forms, and what their hashes depend on.

use std::collections::BTreeSet;

use tilewright_ir::examples;

#[test]
fn examples_print_as_a_person_would_write_them() {
    for program in examples::all() {
        let name: String =
            program.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        insta::assert_snapshot!(name, program.to_string());
    }
}

#[test]
fn examples_have_different_hashes_that_do_not_depend_on_the_name() {
    let mut programs = examples::all();
    programs.push(examples::Matmul { depth: 128, ..examples::Matmul::default() }.program());
    programs.push(examples::RowNorm { epsilon: 1e-6, ..examples::RowNorm::default() }.program());
    programs.push(examples::Attention { pages: 8, ..examples::Attention::default() }.program());
    programs.push(examples::Dedispersion { points: [2, 2], ..examples::Dedispersion::default() }.program());
    let hashes: BTreeSet<_> = programs.iter().map(tilewright_ir::Program::hash).collect();
    assert_eq!(hashes.len(), programs.len());
    for mut program in programs {
        let before = program.hash();
        program.name.push_str(", renamed");
        assert_eq!(program.hash(), before);
    }
}
