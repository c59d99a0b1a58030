"""Results go to stdout, the rest to stderr; progress is a bar on a terminal, else lines."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import time
from typing import TYPE_CHECKING, Any, TextIO

from sojourn import ending

if TYPE_CHECKING:
    from sojourn.running.replicas import Progress

PIPE_WIDTH = 120
_LINE_EVERY_S = 5.0


def say(text: str) -> None:
    """A line for people, to stderr; dropped if stderr cannot be written."""
    with contextlib.suppress(OSError):
        print(text, file=sys.stderr, flush=True)


def warn(lines: list[str]) -> None:
    """Warnings, one line each, to stderr."""
    for line in lines:
        say(f"sojourn: warning: {line}")


def show_json(value: Any) -> None:
    """A result for machines, to stdout; missing values are null."""
    print(as_json(value))


def as_json(value: Any) -> str:
    """A result for machines; missing values are null."""
    from sojourn.describing.finite import without_nan

    return json.dumps(without_nan(value), indent=1, ensure_ascii=False)


def stdout_console() -> Any:
    """A rich console for results; without a terminal it is wide and has no colours."""
    return table_console(sys.stdout)


def table_console(stream: TextIO) -> Any:
    """The same for a stream."""
    from rich.console import Console

    width = None if stream.isatty() else PIPE_WIDTH
    return Console(file=stream, width=width, highlight=False, soft_wrap=False)


def _counted(runs: int) -> str:
    # `sojourn --help` imports no metrics.
    from sojourn.describing.formatting import counted

    return counted(runs, "run")


def meter() -> Progress:
    """A progress bar if stderr is a terminal, else occasional lines."""
    return Bar() if sys.stderr.isatty() else Lines()


class Lines:
    """Progress as plain lines: at most one every five seconds, and one at the end."""

    def start(self, runs: int, simulated_s: float) -> None:
        """Begin to count."""
        self._runs, self._total_s = runs, simulated_s
        self._began = self._said = time.monotonic()
        self._done = 0

    def update(self, runs: int, simulated_s: float) -> None:
        """Report progress, unless the last report is recent."""
        self._done = runs
        now = time.monotonic()
        if now - self._said < _LINE_EVERY_S or not simulated_s:
            return
        self._said = now
        from sojourn.describing.formatting import about

        rate = simulated_s / (now - self._began)
        left_s = (self._total_s - simulated_s) / rate
        # A run that is simulated is not complete before its results are read.
        percent = min(int(100 * simulated_s / self._total_s), 100 if runs == self._runs else 99)
        say(
            f"{runs:,} of {_counted(self._runs)}, {percent} %, "
            f"{rate:.0f} simulated s per s, {about(left_s)} left"
        )

    def stop(self) -> None:
        """Report how long the runs took; if none is complete, an error follows."""
        if not self._done:
            return
        took_s = time.monotonic() - self._began
        say(f"{self._done:,} of {_counted(self._runs)} in {took_s:.1f} s")


class Bar:
    """Progress as a bar with rate and estimate."""

    def start(self, runs: int, simulated_s: float) -> None:
        """Show an empty bar."""
        from rich.console import Console
        from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as RichProgress

        self._runs = runs
        self._began = time.monotonic()
        self._bar = RichProgress(
            TextColumn("{task.fields[runs]}"),
            BarColumn(),
            TaskProgressColumn(),
            TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(compact=True),
            console=Console(file=sys.stderr),
            transient=True,
        )
        self._at_end = contextlib.ExitStack()
        self._at_end.callback(self._bar.stop)
        # The bar hides the cursor. We do not wait for locks of the main thread.
        self._at_end.enter_context(ending.before_end(_show_cursor))
        self._task = self._bar.add_task("", total=simulated_s, runs=f"0/{_counted(runs)}", rate="")
        self._bar.start()

    def update(self, runs: int, simulated_s: float) -> None:
        """Move the bar."""
        rate = simulated_s / max(time.monotonic() - self._began, 1e-9)
        self._bar.update(
            self._task,
            completed=simulated_s,
            runs=f"{runs:,}/{_counted(self._runs)}",
            rate=f"{rate:.0f} simulated s/s",
        )

    def stop(self) -> None:
        """Remove the bar."""
        self._at_end.close()


def _show_cursor() -> None:
    os.write(2, b"\x1b[?25h")
