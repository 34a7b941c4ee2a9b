"""Optuna by its ask-and-tell interface, with its default sampler.

Ordered parameters are whole numbers (positions in the list of values), others are choices. What is no legal point
costs nothing and is told as pruned, like what failed: the sampler counts both as the worst. (Told as failed, it
would forget them and propose them again.)
"""

import optuna
from plan import Visits, main

optuna.logging.set_verbosity(optuna.logging.ERROR)


def tpe(plan, seed):
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    distributions = {}
    for parameter in plan.parameters:
        count = len(parameter["values"])
        if parameter["ordered"]:
            distributions[parameter["name"]] = optuna.distributions.IntDistribution(0, count - 1)
        else:
            distributions[parameter["name"]] = optuna.distributions.CategoricalDistribution(range(count))
    visits = Visits(plan)
    for _ in range(plan.questions):
        if visits.over():
            break
        trial = study.ask(distributions)
        number = plan.points.get(tuple(trial.params[parameter["name"]] for parameter in plan.parameters))
        time_ms = None
        if number is not None:
            visits.note(number)
            time_ms = plan.times_ms[number]
        if time_ms is None:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, time_ms)
    return visits.numbers


if __name__ == "__main__":
    main(optuna.__version__, {"tpe": tpe})
