"""The other side of `beside`: processes that draw what they are sent.

One process imports matplotlib, and splits into as many as have connections: the import is paid
once. It has no threads then. Each ends when the other side of its connection is closed, however
that process has ended.
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
    """Get ready, then serve each connection in a process of its own.

    Args:
        descriptors: of the connections.
    """
    try:
        _get_ready()
    except (ImportError, MemoryError, OSError):
        os._exit(1)  # the process that asks draws itself, and says why if it cannot either
    mine, *others = descriptors
    # Where there is no process for one more, its connection ends with this one's service.
    with contextlib.suppress(OSError):
        for each in others:
            if os.fork() == 0:
                _serve(each, descriptors)
                os._exit(0)
    _serve(mine, descriptors)
    # What is to be done at the end is done once, by the process that began. To take all modules
    # separately as well would make the caller wait.
    atexit._run_exitfuncs()
    os._exit(0)


def _get_ready() -> None:
    """What all figures need: modules, fonts, the writers of both usual formats."""
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
    """Answer drawings with their files, or with what they raised, until nobody asks."""
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
