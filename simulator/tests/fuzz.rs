//! Hostile chip files: an error, or a chip whose numbers are in their ranges.

use tilewright_fuzz::Fuzz;
use tilewright_simulator::Chip;

const HERE: &str = env!("CARGO_MANIFEST_DIR");

#[test]
fn fuzzed_chip_files_are_refused_or_sound() {
    let chips = std::path::Path::new(HERE).join("chips");
    let files = std::fs::read_dir(chips).expect("a folder").flatten();
    let seeds = files.map(|file| std::fs::read(file.path()).expect("a chip"));
    seeds.fold(Fuzz::new(HERE, "chip"), Fuzz::seed).run(|bytes| {
        if let Ok(chip) = Chip::from_toml(&String::from_utf8_lossy(bytes)) {
            chip.check().expect("it was checked when it was read");
        }
    });
}
