#!/usr/bin/env bash
# Exports the example results as Parquet and executes the notebooks on them, with pinned packages, in
# target/notebooks. The notebooks themselves stay as they are, without outputs.
#   notebooks/run.sh                       # the results that are checked in
#   notebooks/run.sh CAMPAIGN SPACES…      # a campaign of your own, and recordings to score strategies on
set -euo pipefail
cd "$(dirname "$0")/.."
python=${PYTHON:-python3}
if ! command -v "$python" >/dev/null; then
    echo "notebooks: skipped, there is no $python"
    exit 0
fi
campaign=${1:-results/examples/matmul-64}
[ $# -le 1 ] && spaces=(results/examples/matmul-64) || spaces=("${@:2}")
work=$PWD/target/notebooks
venv=$work/venv
mkdir -p "$work"
if ! cmp -s notebooks/requirements.txt "$venv/requirements.txt"; then
    rm -rf "$venv"
    "$python" -m venv "$venv"
    "$venv/bin/python" -m pip install --quiet --disable-pip-version-check --requirement notebooks/requirements.txt
    cp notebooks/requirements.txt "$venv/requirements.txt"
fi
tilewright() { cargo run --quiet --locked --package tilewright-cli -- "$@"; }
tilewright export "$campaign" --parquet "$work/trials.parquet"
tilewright score "${spaces[@]}" --runs "${RUNS:-10}" --parquet "$work/runs.parquet" --quiet
export IPYTHONDIR=$work/ipython MPLCONFIGDIR=$work/matplotlib JUPYTER_DATA_DIR=$work/jupyter
for notebook in notebooks/*.ipynb; do
    name=$(basename "$notebook")
    # Only parameters that a notebook has are given.
    parameters=()
    grep -q trials_file "$notebook" && parameters+=(-p trials_file "$work/trials.parquet")
    grep -q runs_file "$notebook" && parameters+=(-p runs_file "$work/runs.parquet")
    "$venv/bin/papermill" --no-progress-bar --log-level WARNING --kernel python3 "${parameters[@]}" "$notebook" "$work/$name"
    echo "executed $name: $work/$name"
done
