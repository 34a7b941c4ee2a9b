//! The notebooks are checked in without what running them leaves behind.

use serde_json::{Value, json};

// U168
#[test]
fn notebooks_are_stripped_and_take_their_files_as_parameters() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../notebooks");
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let notebooks: Vec<_> = files.filter(|file| file.extension().is_some_and(|of| of == "ipynb")).collect();
    assert!(notebooks.len() >= 3, "{notebooks:?}");
    for file in notebooks {
        let name = file.display();
        let notebook: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        let cells = notebook["cells"].as_array().unwrap();
        for cell in cells.iter().filter(|cell| cell["cell_type"] == "code") {
            assert_eq!(
                (&cell["outputs"], &cell["execution_count"]),
                (&json!([]), &Value::Null),
                "{name}: {cell}"
            );
        }
        let metadata = notebook["metadata"].as_object().unwrap();
        let known = ["kernelspec", "language_info"];
        assert!(metadata.keys().all(|key| known.contains(&key.as_str())), "{name}: {metadata:?}");
        let parameters = |cell: &&Value| cell["metadata"]["tags"] == json!(["parameters"]);
        assert_eq!(cells.iter().filter(parameters).count(), 1, "{name}");
    }
}
