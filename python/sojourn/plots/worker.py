"""The processes that draw figures for another process.

One process imports matplotlib, then forks once per connection, so the import is done once. It has
no threads when it forks. Each process ends when the other side of its connection is closed.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import string
import traceback
from multiprocessing.connection import Connection

from sojourn import plots
from sojourn.plots import written


def main(descriptors: list[int]) -> None:
    """Prepare, then serve each connection in a separate process.

    Args:
        descriptors: descriptors of the connections.
    """
    try:
        _get_ready()
    except (ImportError, MemoryError, OSError):
        os._exit(1)  # the caller then draws itself, and reports an error if it cannot either
    mine, *others = descriptors
    # If no further process can be started, this process closes that connection.
    with contextlib.suppress(OSError):
        for each in others:
            if os.fork() == 0:
                _serve(each, descriptors)
                os._exit(0)
    _serve(mine, descriptors)
    # Exit handlers run once, in the first process. Tearing down all modules in each process would
    # make the caller wait.
    atexit._run_exitfuncs()
    os._exit(0)


def _get_ready() -> None:
    """Load what all figures need: modules, fonts, the writers of both usual formats."""
    from sojourn.plots import style

    for name in plots.KINDS:
        plots.kind(name)
    with style.styled():
        figure, (axes,) = style.new(3.0, string.printable.strip())
        axes.set_xscale("log")
        axes.plot([1.0, 10.0], [1.0, 2.0], label="a")
        style.legend(figure, ["a"])
        style.lay_out(figure)
    for form in ("svg", "png"):
        style.saved(figure, form)


def _serve(mine: int, descriptors: list[int]) -> None:
    """Answer requests with files or exceptions, until the connection is closed."""
    for each in descriptors:
        if each != mine:
            os.close(each)
    results: written.Results = {}
    with Connection(mine) as connection:
        try:
            while True:
                message = connection.recv()
                if isinstance(message, written.Drawing):
                    connection.send(_answer(message, results))
                else:
                    results = message
        except (EOFError, OSError):  # the other side has ended
            return


def _answer(drawing: written.Drawing, results: written.Results) -> written.Written | Exception:
    try:
        return written.write(drawing, results)
    except Exception as error:
        error.add_note(f"While a process drew {drawing.kind}:\n{traceback.format_exc()}")
        return error
