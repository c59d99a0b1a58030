"""The command ``sojourn``. `work` has those that simulate, `ask` those that show information.

Exit codes: 0 all is well; 1 something ran but is not valid, or some runs failed; 2 bad input;
130 interrupted. Results go to stdout, everything else to stderr.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

import click

from sojourn import _core
from sojourn.cli import ask, console, work
from sojourn.cli.agree import agree
from sojourn.cli.diff import diff
from sojourn.cli.kernel import kernel
from sojourn.cli.reproduce import reproduce
from sojourn.cli.router import router
from sojourn.cli.stability import stability
from sojourn.cli.study import study
from sojourn.errors import InputError, Interrupted, RunFailed, ScenarioError

OK, INVALID, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130


@click.group(
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


for _command in (work.run, work.compare, diff, reproduce, stability, study, kernel, agree, router,
              ask.show_list, ask.explain, ask.validate, ask.doctor, ask.completion):  # fmt: skip
    sojourn.add_command(_command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit code."""
    for stream in (sys.stdout, sys.stderr):
        # A terminal that lacks a character shows a question mark rather than ending the run.
        with contextlib.suppress(AttributeError):
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        code = sojourn.main(arguments, prog_name="sojourn", standalone_mode=False)
        sys.stdout.flush()
        return int(code or OK)
    except click.ClickException as error:
        error.show()
        return BAD_INPUT
    except (ScenarioError, InputError) as error:
        return _refuse(error)
    except RunFailed as error:
        console.say(f"sojourn: a run failed: {error}")
        return INVALID
    except BrokenPipeError:
        return _closed_pipe()
    except SystemExit:
        # click exits so after a broken pipe, and after it has completed a shell's <Tab>.
        return OK
    except OSError as error:
        return _refuse(error)
    except Interrupted as error:
        return _interrupted(error)
    except (KeyboardInterrupt, click.Abort):
        console.say("sojourn: interrupted")
        return INTERRUPTED


def _closed_pipe() -> int:
    """The reader of stdout has closed it (`| head`): write nothing more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return OK


def _refuse(error: Exception) -> int:
    console.say(f"sojourn: error: {_sentence(error)}")
    return BAD_INPUT


def _sentence(error: Exception) -> str:
    if isinstance(error, OSError) and error.filename is not None and error.strerror:
        return f"{error.filename}: {error.strerror}"
    return str(error)


def _interrupted(error: Interrupted) -> int:
    console.say(f"sojourn: {error}")
    for label in error.finished:
        console.say(f"  finished: {label}")
    if error.finished:
        console.say("sojourn: these are kept, the same call goes on from there")
    return INTERRUPTED
