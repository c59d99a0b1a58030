"""The two commands that show a failing expectation."""

from __future__ import annotations

import shlex

from sojourn.engines import registry
from sojourn.testing.decisions import Decision
from sojourn.testing.expectations import BASELINE

_OTHERS = ("taildrop", "codel")


def commands(decision: Decision) -> list[str]:
    """Commands that show a decision: the run itself, then the AQM next to another one."""
    expected = decision.expected
    variant, scenario = expected.variant, expected.variant.scenario
    sets = [part for key, value in variant.sets.items() for part in ("--set", f"{key}={value}")]
    link = variant.link or (expected.reference.link if expected.reference else None)
    own = variant.aqm or scenario.queue(link or scenario.links[0])
    other = expected.against if expected.against not in ("", BASELINE) else _other(own)
    seed = ["--seed", str(decision.worst_seed)]
    is_between_engines = expected.against in registry.NAMES
    if is_between_engines or variant.engine.name != registry.NAMES[0]:
        aqm = ["--aqm", variant.aqm] if variant.aqm else []
        engine = variant.engine.name
        other = expected.against if is_between_engines else registry.NAMES[0]
        engines = f"{other},{engine}"
        used = [variant, expected.reference] if expected.reference else [variant]
        given = {k: v for each in used for k, v in each.engine.options.items()}.items()
        on = [part for name, value in given for part in (f"--{name}", str(value))]
        return [
            _line("run", expected.file, *aqm, "--engine", engine, *on, *seed, *sets),
            _line("compare", expected.file, "--aqm", own, "--engine", engines, *on, *sets),
        ]
    if variant.endpoints:
        libraries = [f"{name}={text}" for name, text in variant.endpoints.items()]
        with_them = [part for library in libraries for part in ("--endpoint", library)]
        aqm = ["--aqm", variant.aqm] if variant.aqm else []
        return [
            _line("run", expected.file, *aqm, *with_them, *seed, *sets),
            _line("compare", expected.file, "--aqm", f"{own},{other}", *with_them, *sets),
        ]
    # `live` has no --set.
    shown = (
        _line("run", expected.file, *(("--aqm", variant.aqm) if variant.aqm else ()), *seed, *sets)
        if sets
        else _line("live", expected.file, "--aqm", f"{own},{other}")
    )
    return [shown, _line("diff", own, other, expected.file, *seed, *sets)]


def _other(own: str) -> str:
    return _OTHERS[own.startswith(_OTHERS[0])]


def _line(*words: str) -> str:
    return shlex.join(["sojourn", *words])
