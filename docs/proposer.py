"""A proposer for `--strategy external`: changes a value or two of the fastest point so far.

Every line on standard input is a JSON object; only an "ask" is answered, by one line.
"""

import json
import random
import sys

genes, best, best_ns = [], None, float("inf")


def propose(draw):
    if best is None or draw.random() < 0.2:
        return {gene["name"]: draw.choice(gene["values"]) for gene in genes}
    point = dict(best)
    for gene in draw.sample(genes, draw.choice([1, 1, 2])):
        point[gene["name"]] = draw.choice(gene["values"])
    return point


for line in sys.stdin:
    said = json.loads(line)
    if said["say"] == "space":
        genes, best = said["genes"], said["default"]
    elif said["say"] == "tell":
        for trial in said["trials"]:
            if trial.get("time_ns", float("inf")) < best_ns:
                best, best_ns = trial["parameters"], trial["time_ns"]
    elif said["say"] == "ask":
        draw = random.Random(said["seed"])  # nothing else may be drawn from
        print(json.dumps({"proposals": [propose(draw) for _ in range(said["count"])]}), flush=True)
