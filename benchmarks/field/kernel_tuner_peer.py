"""Kernel Tuner by `tune_kernel` in simulation mode on a cache file, strategies with their default options.

A run may make as many evaluations as the space's budget pays for twice over at mean cost, so that what it visits
covers the budget; what it visits after that does not count. Legal is what is in the cache.
"""

import contextlib
import functools
import importlib.metadata
import os

import kernel_tuner
import kernel_tuner.util
from plan import Visits, main

STRATEGIES = [
    "adaptive_tabu_greywolf",
    "hybrid_vndx",
    "diff_evo",
    "genetic_algorithm",
    "pso",
    "dual_annealing",
]

# Every run reads the same file, which would take most of the time.
kernel_tuner.util.read_cache = functools.lru_cache(kernel_tuner.util.read_cache)


def run(strategy, plan, seed):
    names = [parameter["name"] for parameter in plan.parameters]
    values = {parameter["name"]: parameter["values"] for parameter in plan.parameters}
    positions = [{value: at for at, value in enumerate(parameter["values"])} for parameter in plan.parameters]

    def point(configuration):
        return tuple(where[configuration[name]] for name, where in zip(names, positions))

    def legal(configuration):
        return point(configuration) in plan.points

    with open(os.devnull, "w", encoding="utf-8") as nowhere, contextlib.redirect_stdout(nowhere):
        results, _ = kernel_tuner.tune_kernel(
            plan.kernel,
            "",
            "",
            [],
            values,
            restrictions=legal,
            lang="C",
            quiet=True,
            strategy=strategy,
            strategy_options={"max_fevals": plan.evaluations},
            cache=plan.cache,
            simulation_mode=True,
            seed=seed,
        )
    visits = Visits(plan)
    for result in results:
        visits.note(plan.points[point(result)])
    return visits.numbers


if __name__ == "__main__":
    main(
        importlib.metadata.version("kernel_tuner"),
        {strategy: functools.partial(run, strategy) for strategy in STRATEGIES},
    )
