#!/bin/sh
# Installs the tuners that the `field` program compares strategies with, pinned, into benchmarks/field/build:
# Optuna and Kernel Tuner in a virtual environment, the crate `optimizer` as a program of its own.
set -eu
here=$(cd "$(dirname "$0")" && pwd)/field
mkdir -p "$here/build"
"${PYTHON:-python3}" -m venv "$here/build/venv"
"$here/build/venv/bin/python" -m pip install --quiet --requirement "$here/requirements.txt"
CARGO_TARGET_DIR="$here/build/target" cargo build --quiet --release --locked \
    --manifest-path "$here/optimizer/Cargo.toml"
