"""What the peers of the field comparison share: a recorded space with its runs, and what a run visits."""

import json
import sys


class Plan:
    """A space as `field` writes it."""

    def __init__(self, file):
        with open(file, encoding="utf-8") as source:
            plan = json.load(source)
        self.kernel = plan["kernel"]
        self.cache = plan["cache"]
        self.parameters = plan["parameters"]
        self.points = {tuple(point): number for number, point in enumerate(plan["points"])}
        self.times_ms = plan["times_ms"]
        self.costs_s = plan["costs_s"]
        self.budget_s = plan["budget_s"]
        self.questions = plan["questions"]
        self.evaluations = plan["evaluations"]
        self.seeds = plan["seeds"]


class Visits:
    """The configurations that a run visits, each once, until the budget is spent."""

    def __init__(self, plan):
        self.plan = plan
        self.numbers = []
        self.seen = set()
        self.spent_s = 0.0

    def note(self, number):
        if number not in self.seen and not self.over():
            self.seen.add(number)
            self.numbers.append(number)
            self.spent_s += self.plan.costs_s[number]

    def over(self):
        return self.spent_s >= self.plan.budget_s or len(self.seen) == len(self.plan.points)


def main(version, strategies):
    """Answers `PEER.py PLAN STRATEGY` with all runs of a strategy."""
    plan, run = Plan(sys.argv[1]), strategies[sys.argv[2]]
    runs = [run(plan, seed) for seed in plan.seeds]
    # What packages print goes elsewhere: the answer is the last line.
    print("\n" + json.dumps({"version": version, "runs": runs}))
