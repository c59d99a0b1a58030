"""The command ``test``: expectations of scenarios, decided over seeds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from sojourn import files
from sojourn.cli import console, once, options
from sojourn.describing.formatting import counted
from sojourn.endpoint import parse_endpoints
from sojourn.engines import registry
from sojourn.errors import InputError, ScenarioError, Unavailable

if TYPE_CHECKING:
    from sojourn.testing.decisions import Decision
    from sojourn.testing.expectations import Expected

PASSED, FAILED, UNDECIDED, INVALID = 0, 1, 3, 4
# Exit codes for `git bisect run`: skip this revision; stop.
_SKIP, _ABORT = 125, 128


@once.command(
    epilog="""\b
Examples:
  sojourn test home.scenario.toml
  sojourn test tests --junit report.xml -k delay -x
  sojourn test home.scenario.toml --update-baseline
  git bisect run sojourn test home.scenario.toml --bisect --engine linux --kernel ./linux

\b
Exit codes: 0 passed, 1 failed, 2 bad input, 3 undecided, 4 a run was invalid.
"""
)
@click.argument("sources", type=options.NAME, metavar="FILE...", nargs=-1, required=True)
@click.option("-k", "pattern", metavar="TEXT", help="Only those whose name contains this.")
@click.option("-x", "at_first", is_flag=True, help="End at the first failure.")
@click.option("--last-failed", is_flag=True, help="Only those that did not pass the last time.")
@click.option(
    "--update-baseline", is_flag=True,
    help="Store the values for against = \"baseline\" next to each file, and decide nothing.",
)  # fmt: skip
@click.option(
    "--workers", "--jobs", "jobs", type=click.IntRange(1), metavar="N",
    help="Runs at a time; one per core by default. Results do not depend on it.",
)  # fmt: skip
@click.option(
    "--engine", type=click.Choice(registry.NAMES),
    help="Run all of them there, in place of the engine that they name.",
)  # fmt: skip
@options.engine_options
@options.endpoint_option
@options.store_option
@click.option(
    "--junit", type=options.FilePath(dir_okay=False, path_type=Path), metavar="FILE",
    help="Write JUnit XML too.",
)  # fmt: skip
@click.option("--tap", "as_tap", is_flag=True, help="Write TAP 14 to stdout.")
@click.option(
    "--github", is_flag=True,
    help="Write GitHub annotations and the step summary; the default where GITHUB_ACTIONS is set.",
)  # fmt: skip
@click.option(
    "--bisect", is_flag=True,
    help="Exit codes for `git bisect run`: 125 where nothing was decided or a kernel is missing, "
    "128 for bad input.",
)  # fmt: skip
@options.json_option
def test(sources: tuple[str, ...], bisect: bool, **given: Any) -> int:
    """Decide the expectations of scenarios: run seeds until each has passed or failed.

    FILE is a scenario file with [[expect]], or a folder, whose *.scenario.toml are taken.
    """
    if given["as_tap"] and given["as_json"]:
        raise click.UsageError("--tap and --json both write to stdout; give one.")
    if not bisect:
        return _test(sources, **given)
    try:
        code = _test(sources, **given)
    except Unavailable as error:
        console.say(f"sojourn: error: {error}")
        return _SKIP
    except (InputError, ScenarioError) as error:
        console.say(f"sojourn: error: {error}")
        return _ABORT
    return code if code in (PASSED, FAILED) else _SKIP


def _test(
    sources: tuple[str, ...],
    pattern: str | None,
    at_first: bool,
    last_failed: bool,
    update_baseline: bool,
    jobs: int | None,
    engine: str | None,
    endpoints: tuple[str, ...],
    fresh: bool,
    junit: Path | None,
    as_tap: bool,
    github: bool,
    as_json: bool,
    **engine_options: Any,
) -> int:
    from sojourn.testing.session import Session

    if junit is not None:
        _remove_report(junit)
    expected = _expected(sources, engine, parse_endpoints(endpoints) or {}, engine_options)
    expected = _selected(expected, pattern, last_failed)
    session = Session(jobs, options.store(fresh), console.meter)
    if update_baseline:
        for path in session.update_baselines(expected):
            console.say(f"baseline: {path}")
        return PASSED
    began = datetime.now(UTC)
    decisions = session.decide_all(expected, at_first=at_first)
    _report(decisions, len(expected), as_tap, as_json)
    if junit is not None:
        from sojourn.testing.reports import junit as as_junit

        files.write(junit, as_junit(decisions, began))
    if github or os.environ.get("GITHUB_ACTIONS") == "true":
        _annotate(decisions)
    return _code(decisions)


def _remove_report(path: Path) -> None:
    """Remove an earlier report, which could be mistaken for that of a refused run."""
    if path.is_file() and path.read_bytes().startswith(b"<?xml"):
        path.unlink()


def _expected(
    sources: Sequence[str], engine: str | None, endpoints: dict[str, str],
    engine_options: dict[str, Any],
) -> list[Expected]:  # fmt: skip
    from sojourn.testing import expectations

    given = {name: value for name, value in engine_options.items() if value is not None}
    found = [
        each
        for file in expectations.files(sources)
        for each in expectations.read(file, engine=engine, options=given, endpoints=endpoints)
    ]
    used = {name for each in found for name in each.variant.endpoints}
    for name in endpoints.keys() - used:
        raise InputError(f"--endpoint {name}={endpoints[name]}: no flows have this transport")
    # Refuses options of an engine on which no expectation runs.
    registry.select([*dict.fromkeys(each.variant.engine.name for each in found)], given)
    return found


def _selected(expected: list[Expected], pattern: str | None, last_failed: bool) -> list[Expected]:
    if pattern is not None:
        names = [each.name for each in expected]
        expected = [each for each in expected if pattern.lower() in each.name.lower()]
        if not expected:
            raise InputError(f"-k {pattern}: matches no name; known: {', '.join(names)}")
    if last_failed:
        from sojourn.testing.last_failed import select

        return select(expected)
    return expected


def _report(decisions: Sequence[Decision], wanted: int, as_tap: bool, as_json: bool) -> None:
    from sojourn.testing import last_failed, reports

    last_failed.note(decisions)
    console.warn(list(dict.fromkeys(text for each in decisions for text in each.warnings)))
    if as_json:
        console.show_json([reports.as_data(decision) for decision in decisions])
    elif as_tap:
        print(reports.tap(decisions))
    else:
        for decision in decisions:
            _show(decision)
        print(reports.headline(decisions), flush=True)
    if len(decisions) < wanted:
        console.say(f"sojourn: ended at a failure; {wanted - len(decisions)} are not decided (-x)")
    took_s = sum(decision.seconds for decision in decisions)
    console.say(f"sojourn: {counted(len(decisions), 'decision')} in {took_s:.1f} s")


def _show(decision: Decision) -> None:
    from sojourn.testing.remedies import commands

    expected = decision.expected
    print(f"{decision.outcome:9}  {expected.place}: {expected.name}: {decision.measured}")
    if decision.outcome in ("failed", "undecided"):
        for text in commands(decision):
            print(f"           {text}")


def _annotate(decisions: Sequence[Decision]) -> None:
    from sojourn.testing import reports

    # Workflow commands are read from both streams; stdout may hold TAP or JSON.
    for text in reports.github_annotations(decisions):
        console.say(text)
    summary = os.environ.get("GITHUB_STEP_SUMMARY")
    if summary:
        with Path(summary).open("a", encoding="utf-8") as file:
            file.write(reports.step_summary(decisions))


def _code(decisions: Sequence[Decision]) -> int:
    outcomes = {decision.outcome for decision in decisions}
    if "failed" in outcomes:
        return FAILED
    if "invalid" in outcomes:
        return INVALID
    return UNDECIDED if "undecided" in outcomes else PASSED
