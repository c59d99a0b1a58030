"""The plugin for pytest: expectations in ``*.scenario.toml`` as tests, and fixtures.

pytest imports this module in every project of an environment with Sojourn, so nothing else of the
package is imported until a scenario is collected or a fixture used.
"""

from __future__ import annotations

import fnmatch
import os
import sys
from collections.abc import Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from sojourn.running.result import Result
    from sojourn.testing.assertions import SeededRuns
    from sojourn.testing.expectations import Expected
    from sojourn.testing.session import Session

_PATTERN = "*.scenario.toml"
_PACKAGE = str(Path(__file__).parents[1]) + os.sep
_OURS = ("sojourn_run", "sojourn_compare", "virtual_link")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add ``--sojourn-seeds``."""
    group = parser.getgroup("sojourn")
    group.addoption(
        "--sojourn-seeds", type=int, metavar="N",
        help="The most seeds of a decision, in place of max_seeds: fewer for a quick look, more "
        "for a night.",
    )  # fmt: skip


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Collect the expectations of a scenario."""
    if not fnmatch.fnmatch(file_path.name, _PATTERN):
        return None
    return ScenarioFile.from_parent(parent, path=file_path)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """End the session at Ctrl-C, and skip a test of ours that this machine cannot run.

    Such a machine lacks a kernel or a compiler, and the skip says which.
    """
    try:
        return (yield)
    except Exception as error:
        errors = sys.modules.get("sojourn.errors")
        if errors is not None and isinstance(error, errors.Interrupted):
            raise KeyboardInterrupt(str(error)) from None
        is_ours = isinstance(item, ExpectationItem) or _uses_ours(item)
        if errors is not None and is_ours and isinstance(error, errors.Unavailable):
            raise _skip(str(error)) from None
        if errors is not None and isinstance(
            error, errors.InputError | errors.ScenarioError | AssertionError
        ):
            _leave_out_ours(error, item)
        raise


class ScenarioFile(pytest.File):
    """A scenario file; its tests share their runs."""

    def collect(self) -> Iterator[pytest.Item]:
        """The file's expectations, if any: fixtures also use files without."""
        from sojourn.errors import ScenarioError
        from sojourn.testing import expectations

        try:
            found = expectations.read(self._shown(), needed=False)
            limited = [_limited(each, self.config) for each in found]
        except (ScenarioError, ValueError, OSError) as error:
            raise self.CollectError(_one_line(error)) from None
        runs = _session()
        for each in limited:
            yield ExpectationItem.from_parent(self, name=each.name, expected=each, runs=runs)

    def _shown(self) -> str:
        try:
            return str(self.path.relative_to(Path.cwd()))
        except ValueError:
            return str(self.path)


class ExpectationItem(pytest.Item):
    """One expectation."""

    def __init__(self, *, expected: Expected, runs: Session, **rest: Any) -> None:
        super().__init__(**rest)
        self._expected, self._runs = expected, runs

    def runtest(self) -> None:
        """Decide it; the test passes only if the expectation has passed."""
        from sojourn.testing.assertions import require_passed

        (decision,) = self._runs.decide_all([self._expected])
        self.user_properties.append(("measured", decision.measured))  # for JUnit
        require_passed(decision)

    def repr_failure(
        self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None
    ) -> Any:  # fmt: skip
        """The decision or the bad input, without a traceback."""
        from sojourn.errors import InputError, ScenarioError

        if isinstance(excinfo.value, AssertionError | InputError | ScenarioError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int | None, str]:
        """The line of the expectation."""
        line = self._expected.line
        return self.path, line - 1 if line else None, self.name


@pytest.fixture
def sojourn_run(request: pytest.FixtureRequest) -> Any:
    """The runs of a scenario, whose metrics are compared with bounds.

    ``sojourn_run("home.toml", aqm="pie").metric("delay_p95") < ms(20)``. Other arguments are
    ``engine`` with its options, ``link``, ``sets``, ``confidence`` and ``max_seeds``.
    """

    def run(
        scenario: Any, *, aqm: str | None = None, engine: str = "sim", **more: Any
    ) -> SeededRuns:
        return _runs(request.config, scenario, [aqm], engine, more)[0]

    return run


@pytest.fixture
def sojourn_compare(request: pytest.FixtureRequest) -> Any:
    """The runs of a scenario under several AQMs, which are paired by seed.

    ``pie, tail = sojourn_compare("home.toml", ["pie", "taildrop"])``.
    """

    def compare(
        scenario: Any, aqms: list[str], *, engine: str = "sim", **more: Any
    ) -> list[SeededRuns]:
        return _runs(request.config, scenario, aqms, engine, more)

    return compare


@pytest.fixture
def link() -> Iterator[Any]:
    """Starts a router in real time that ends with the test.

    ``on = link(rate="10mbit", delay="20ms", aqm="pie")`` has the arguments of `sojourn.router`,
    and returns its link. A run that is not valid, as on a machine that stalls,
    is an error and never passes.
    """
    from sojourn.errors import Unavailable
    from sojourn.running.router_link import RouterLink, router

    routers: list[RouterLink] = []

    with ExitStack() as stack:

        def start(**options: Any) -> RouterLink:
            try:
                routers.append(stack.enter_context(router(**options)))
            except Unavailable as lacks:
                raise _skip(str(lacks)) from None
            return routers[-1]

        yield start
    if invalid := [reason for each in routers for reason in each.ended["invalid"]]:
        pytest.fail(f"not a valid experiment: {'; '.join(invalid)}", pytrace=False)


@pytest.fixture
def virtual_link() -> Any:
    """Programs in virtual time: ``virtual_link("line.toml", {"server": ..., "client": ...})``.

    It is `sojourn.run_programs`, and fails where a program fails or the run is invalid.
    """

    def run(*arguments: Any, **more: Any) -> Result:
        import sojourn

        result = sojourn.run_programs(*arguments, **more)
        if result.invalid:
            pytest.fail("; ".join(result.invalid), pytrace=False)
        return result

    return run


def _runs(
    config: pytest.Config, scenario: Any, aqms: list[Any], engine: str, more: dict[str, Any]
) -> list[SeededRuns]:
    from sojourn.engines import registry
    from sojourn.testing.assertions import of_scenarios

    own = {option.name for _, option in registry.options()} & more.keys()
    selected = registry.select_one(engine, {name: more.pop(name) for name in own})
    if (seeds := config.getoption("sojourn_seeds")) is not None:
        more["max_seeds"] = seeds
    return of_scenarios(scenario, aqms, selected, _session(), **more)


def _session() -> Session:
    """A session; under xdist, whose workers fill the cores, it makes one run at a time."""
    from sojourn.testing.session import Session

    return Session(jobs=1 if "PYTEST_XDIST_WORKER" in os.environ else None)


def _limited(expected: Expected, config: pytest.Config) -> Expected:
    seeds = config.getoption("sojourn_seeds")
    return expected if seeds is None else expected.with_max_seeds(seeds)


def _leave_out_ours(error: Exception, item: pytest.Item) -> None:
    """Let the traceback of a user's mistake end at the user's line."""
    test = getattr(getattr(item, "function", None), "__code__", None)
    is_below = False
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        is_below = is_below or step.tb_frame.f_code is test
        if is_below and step.tb_next.tb_frame.f_code.co_filename.startswith(_PACKAGE):
            step.tb_next = None
        step = step.tb_next


def _skip(reason: str) -> BaseException:
    """A skip that is listed with the place of the test, as those of marks are."""
    return pytest.skip.Exception(reason, _use_item_location=True)


def _uses_ours(item: pytest.Item) -> bool:
    return any(name in _OURS for name in getattr(item, "fixturenames", ()))


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())
