"""The command ``sojourn``; `commands` lists the modules of its commands.

Exit codes: 0 success; 1 a result is not valid, or some runs failed; 2 bad input; 130 interrupted.
Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from collections.abc import Sequence
from pathlib import Path

import click

from sojourn import _core
from sojourn.cli import console
from sojourn.cli.commands import Commands
from sojourn.cli.interrupts import INTERRUPTED, Interrupts, words
from sojourn.errors import (
    InputError,
    Interrupted,
    LawError,
    RunFailed,
    ScenarioError,
    in_command,
    shortened,
)

OK, INVALID, BAD_INPUT = 0, 1, 2
_FULL = (errno.ENOSPC, errno.EFBIG, errno.EDQUOT)
_NO_MEMORY = (
    "the memory that this process may have is used up; raise the limit (ulimit -v), or ask for "
    "fewer runs at a time (--jobs)"
)


@click.group(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="""\b
Examples:
  sojourn run traffic-mix
  sojourn compare traffic-mix --aqm taildrop,pie,madpie --out out
\b
Exit codes:
  0    all is well
  1    something ran but is not valid, or some runs failed
  2    bad input: the message says where, what, and what would be right
  130  interrupted; finished runs are kept if --out was given
""",
)
@click.version_option(_core.__version__, prog_name="sojourn", message="%(prog)s %(version)s")
def sojourn() -> None:
    """A laboratory for active queue management.

    One scenario, several AQMs, the same seeds: tables, intervals, figures, a report.
    """


def main(arguments: Sequence[str] | None = None, *, ends_process: bool = False) -> int:
    """Run the command; returns the exit code.

    Args:
        arguments: arguments of the command; those of the process by default.
        ends_process: whether the process may end shortly after Ctrl-C instead of returning.
    """
    _open_closed_streams()
    # We open no window, and matplotlib cannot be imported if this names an unknown backend.
    os.environ.pop("MPLBACKEND", None)
    for stream in (sys.stdout, sys.stderr):
        # A character that the terminal lacks becomes a question mark instead of an error.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    interrupts = Interrupts()
    try:
        with interrupts.listening(ends_process), in_command():
            return _exit_code(arguments)
    except (KeyboardInterrupt, Exception) as error:
        # An exception that a library raises because of the interrupt is not an error.
        if not (interrupts.heard or isinstance(error, (KeyboardInterrupt, Interrupted))):
            raise
        interrupts.is_said = True
        console.say(words(error))
        return INTERRUPTED


def _exit_code(arguments: Sequence[str] | None) -> int:
    try:
        code = sojourn.main(arguments, prog_name="sojourn", standalone_mode=False)
        sys.stdout.flush()
        return int(code or OK)
    except click.ClickException as error:
        text = io.StringIO()
        error.show(text)
        console.say(shortened(text.getvalue().rstrip()))
        return BAD_INPUT
    except (ScenarioError, InputError, LawError) as error:
        return _refuse(error)
    except RunFailed as error:
        console.say(f"sojourn: a run failed: {error}")
        return INVALID
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit:
        # click exits this way after a broken pipe and after shell completion.
        return OK
    except OSError as error:
        return _refuse(error)
    except MemoryError as error:
        console.say(f"sojourn: error: {str(error) or _NO_MEMORY}")
        return INVALID
    except UnicodeEncodeError as error:
        return _refuse(InputError(f"{error.object!a}: is not UTF-8 text; write it as such"))
    except ImportError as error:
        extra = {"pyarrow": "arrow", "scipy": "stability"}.get((error.name or "").split(".")[0])
        if extra is None:
            raise
        return _refuse(InputError(f"{error.name} is not installed; pip install 'sojourn[{extra}]'"))
    except click.Abort as error:
        raise KeyboardInterrupt from error


def _open_closed_streams() -> None:
    """Drop output to a stream that the caller has closed (`>&-`, as cron may).

    This occupies the descriptors of the closed streams, so no result file gets one of them and
    receives messages.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The file stays open until the process ends.
            setattr(sys, name, Path(os.devnull).open(mode, encoding="utf-8"))  # noqa: SIM115


def _closed_pipe() -> int:
    """The reader of stdout has closed it (`| head`): stop writing."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _refuse(error: Exception) -> int:
    console.say(f"sojourn: error: {_sentence(error)}")
    return BAD_INPUT


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        # Result files have names; other streams have none.
        unnamed = "standard output or a temporary file"
        place = unnamed if error.filename is None and error.errno in _FULL else error.filename
        return shortened(f"{place}: {error.strerror}" if place else error.strerror)
    return str(error)
