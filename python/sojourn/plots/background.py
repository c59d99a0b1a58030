"""Draws figures in processes that start during the runs.

On one core, importing matplotlib and drawing can take as long as the comparison itself. These
processes start before the runs and first draw figures of the first runs only. With one core, or if
a process cannot be started or has ended, this process draws the same files.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING

from sojourn import ending, platforms, plots
from sojourn.plots import outputs, written
from sojourn.plots.excerpt import Excerpt, excerpt
from sojourn.plots.written import Drawing, Written
from sojourn.running.replicas import default_jobs

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.running.result import Result

# More processes would not help: the slowest figure takes as long.
_MOST = 4
_PATIENCE_S = 2.0
_BEGIN = "import sys; sys.path[:] = {path!r}; from sojourn.plots import worker; worker.main({of})"

Excerpts = dict[str, list[Excerpt]]


class Drawers:
    """Draws the figures of one comparison; made by `drawers`.

    Args:
        formats: formats of the figures in files.
        size: their width.
    """

    def __init__(self, formats: Sequence[str], size: str) -> None:
        self._forms = written.wanted(formats, size)
        self._idle: queue.SimpleQueue[_Process] = queue.SimpleQueue()
        self._threads: ThreadPoolExecutor | None = None
        self._guard = threading.Lock()
        self._link, self._first_seed, self._aqms = "", 0, list[str]()
        self._excerpts: dict[Result, Excerpt] = {}
        self._first: dict[str, Result] = {}
        self._begun: dict[str, Future[Written | None]] = {}

    def ask(self, connections: Sequence[Connection]) -> None:
        """Use these processes; the caller ends them before `close`."""
        self._threads = ThreadPoolExecutor(len(connections))
        for each in connections:
            self._idle.put(_Process(each))

    def expect(self, link: str, aqms: Sequence[str], first_seed: int) -> None:
        """Announce the runs, before the first one."""
        self._link, self._aqms, self._first_seed = link, list(aqms), first_seed

    def add(self, aqm: str, seed: int, result: Result) -> None:
        """A run is complete; called in its thread."""
        if self._threads is None:
            return
        is_first = seed == self._first_seed
        self._excerpts[result] = excerpt(result, self._link if is_first else None)
        if not is_first:
            return
        with self._guard:
            self._first[aqm] = result
            is_whole = len(self._first) == len(self._aqms)
        if is_whole:
            first = {each: [self._excerpts[self._first[each]]] for each in self._aqms}
            self._begun = self._submit(plots.OF_FIRST_RUN, self._link, first)

    def begin(self, comparison: ComparedRuns) -> Begun:
        """Draw all figures that have not been drawn yet."""
        link, runs = comparison.link, {aqm: comparison.of(aqm) for aqm in comparison.aqms}
        first = {aqm: results[0] for aqm, results in runs.items() if results}
        is_known = bool(self._begun) and link == self._link and first == self._first
        begun = dict(self._begun) if is_known else {}
        excerpts = {
            aqm: [self._excerpt(one, link if i == 0 else None) for i, one in enumerate(results)]
            for aqm, results in runs.items()
        }
        begun |= self._submit([kind for kind in plots.KINDS if kind not in begun], link, excerpts)
        drawings = [Drawing(kind, link, self._forms) for kind in plots.KINDS]
        return Begun(begun, drawings, excerpts, self._release)

    def _release(self) -> None:
        """Let the processes end in the background, because no more figures will be drawn."""
        while not self._idle.empty():
            self._idle.get().leave()

    def _excerpt(self, result: Result, queue: str | None) -> Excerpt:
        known = self._excerpts.get(result)
        return known if known and known.queue == queue else excerpt(result, queue)

    def _submit(
        self, kinds: Sequence[str], link: str, results: Excerpts
    ) -> dict[str, Future[Written | None]]:
        if self._threads is None:
            return {}
        content = pickle.dumps(results, pickle.HIGHEST_PROTOCOL)
        return {
            kind: self._threads.submit(self._drawn, Drawing(kind, link, self._forms), content)
            for kind in kinds
        }

    def _drawn(self, drawing: Drawing, content: bytes) -> Written | None:
        process = self._idle.get()
        try:
            return process.draw(drawing, content)
        finally:
            self._idle.put(process)

    def close(self) -> None:
        """Wait for the threads after their processes have ended."""
        if self._threads is not None:
            self._threads.shutdown(cancel_futures=True)


class Begun:
    """Figures that are being drawn.

    Args:
        begun: keyed by kind: the result of a process; None if it has ended.
        drawings: all figures.
        results: the results to draw.
        release: called when all are drawn.
    """

    def __init__(
        self, begun: Mapping[str, Future[Written | None]], drawings: Sequence[Drawing],
        results: Excerpts, release: Callable[[], None],
    ) -> None:  # fmt: skip
        self._begun, self._drawings, self._results = begun, drawings, results
        self._release = release

    def figures(self) -> dict[str, Written]:
        """The files of every figure for which values exist, by kind.

        Raises:
            InputError: the format or size is unknown.
        """
        found = {drawing.kind: self._figure(drawing) for drawing in self._drawings}
        self._release()
        return {kind: files for kind, files in found.items() if files}

    def _figure(self, drawing: Drawing) -> Written:
        begun = self._begun.get(drawing.kind)
        files = None if begun is None else begun.result()
        return written.write(drawing, self._results) if files is None else files


class _Process:
    """A process that draws; it keeps the data that it has received."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._content = b""

    def draw(self, drawing: Drawing, content: bytes) -> Written | None:
        """The files of a figure; None if the process has ended."""
        try:
            if content is not self._content:
                self._connection.send_bytes(content)
                self._content = content
            self._connection.send(drawing)
            answer: Written | Exception = self._connection.recv()
        except (EOFError, OSError):
            return None
        if isinstance(answer, Exception):
            raise answer
        return answer

    def leave(self) -> None:
        """Close the connection, so the process ends."""
        self._connection.close()


@contextlib.contextmanager
def drawers(
    formats: Sequence[str] = ("svg", "png"), size: str = "page", *, count: int | None = None
) -> Iterator[Drawers]:
    """Processes that draw, for the figures of one comparison; they end with the block.

    Args:
        formats: formats of the figures in files; see `sojourn.plots.outputs.FORMATS`.
        size: ``page`` or ``column``, their width.
        count: number of processes; by default one per core, and none with a single core, or if this
            process has imported matplotlib, perhaps with the user's settings and fonts. None on
            Windows, where a process cannot split.

    Raises:
        InputError: the format or size is unknown.
    """
    outputs.check_size(size)
    for form in formats:
        outputs.check_format(form)
    if count is None:
        cores = default_jobs()
        count = 0 if cores == 1 or "matplotlib" in sys.modules else min(cores, _MOST)
    with contextlib.ExitStack() as at_end:
        drawing = Drawers(formats, size)
        at_end.callback(drawing.close)
        if count > 0 and sys.executable and not platforms.IS_WINDOWS:
            # If no further process can be started, this process draws.
            with contextlib.suppress(OSError):
                drawing.ask(at_end.enter_context(_processes(count)))
        yield drawing


@contextlib.contextmanager
def _processes(count: int) -> Iterator[list[Connection]]:
    """Connections to `count` processes in a separate session, which end with the block."""
    pairs = [Pipe() for _ in range(count)]
    descriptors = [theirs.fileno() for _, theirs in pairs]
    command = [sys.executable, "-c", _BEGIN.format(path=sys.path, of=descriptors)]
    with contextlib.ExitStack() as at_end:
        with ending.changing():
            process = subprocess.Popen(
                command, pass_fds=descriptors, stdin=subprocess.DEVNULL, start_new_session=True,
                stdout=subprocess.DEVNULL, env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
            )  # fmt: skip
            at_end.callback(_wait, process)
            at_end.enter_context(ending.before_end(lambda: _kill(process)))
        for ours, theirs in pairs:
            theirs.close()
            at_end.callback(ours.close)
        try:
            yield [ours for ours, _ in pairs]
        except BaseException:
            _kill(process)
            raise


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait for a process to end by itself; kill it after a while."""
    try:
        process.wait(_PATIENCE_S)
    except subprocess.TimeoutExpired:
        _kill(process)
        process.wait()


def _kill(process: subprocess.Popen[bytes]) -> None:
    platforms.end_group(process)
