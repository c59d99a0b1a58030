"""Makes ``python -m sojourn`` the same as ``sojourn``."""

import os
import sys

_BAD_INPUT, _INTERRUPTED = 2, 130
_UNLOADABLE = (
    "the compiled module cannot be loaded ({}); install the package for this system and Python "
    "into a folder, as a zip file cannot hold it: python -m pip install --force-reinstall sojourn"
)


def main() -> int:
    """Run the command; Ctrl-C also works while its modules are imported."""
    try:
        from sojourn import _core  # noqa: F401
    except ImportError as error:
        print(f"sojourn: error: {_UNLOADABLE.format(error)}", file=sys.stderr)
        return _BAD_INPUT
    _spare_memory()
    try:
        from sojourn.cli import main as command

        code = command(ends_process=True)
    except KeyboardInterrupt:
        print("sojourn: interrupted", file=sys.stderr)
        code = _INTERRUPTED
    library = sys.modules.get("sojourn.loading.library")
    if code == _INTERRUPTED or (library is not None and library.has_loaded()):
        _end(code)
    return code


def _spare_memory() -> None:
    """Limit the address space of libraries before they are imported.

    OpenBLAS starts one thread with its own buffers per core and hangs if they do not fit below
    `ulimit -v`; nothing here multiplies large matrices. Arrow's allocator reserves a gigabyte at a
    time and aborts the process if it cannot.
    """
    from sojourn import platforms

    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if platforms.address_space_bytes() is not None:
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")


def _end(code: int) -> None:
    """End at once with a command's exit code, after an interrupt or if libraries may be loaded.

    `sys.exit` would wait for threads. If the interrupt has passed through `exec` of a text, Python
    would then end by the signal instead (CPython 3.11, Python/pythonrun.c, run_eval_code_obj). A
    library's exit handlers could replace the exit code.
    """
    import contextlib
    import signal

    from sojourn import ending

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    ending.end(code)


if __name__ == "__main__":
    sys.exit(main())
