"""Transport libraries that run as processes: ``process:./libmine.so``, or a program.

A program in C starts each of them, with the simulator's clock and random numbers in place of the
system's. That program is compiled at its first use and kept in the user's cache.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
from pathlib import Path

from sojourn import _core, files, tools
from sojourn.errors import InputError, Unavailable
from sojourn.loading import library

INCLUDE = Path(__file__).parent.parent / "authoring"
_FLAGS = ("-O2", "-rdynamic")
_LIBRARIES = (".so", ".dylib")


def opened(file: Path) -> tuple[str, str, str, str]:
    """A library or program whose processes can be started.

    Args:
        file: a library, or a program that contains the one in C.

    Returns:
        The file to load, its name in messages, its name and digest in manifests, and the program to
        start: the same file, if it is a program.

    Raises:
        InputError: the file does not exist, or this is not Linux.
        Unavailable: no C compiler is installed.
    """
    if sys.platform != "linux":
        raise InputError(f"process:{file}: processes with the simulator's clock need Linux")
    found = library.opened(file, library.ENDPOINT, is_tried=True)
    is_library = file.suffix in _LIBRARIES
    source = found.source.replace("library:", "process:", 1)
    return found.opened, found.name, source, str(_program()) if is_library else found.opened


def _program() -> Path:
    """The program that runs a library, compiled before or now."""
    text = _core.endpoint_process()
    compiler = os.environ.get("CC", "cc")
    header = (INCLUDE / "sojourn_endpoint.h").read_text(encoding="utf-8")
    digest = hashlib.sha256("\n".join([compiler, *_FLAGS, header, text]).encode()).hexdigest()
    folder = files.user_cache() / "processes"
    program = folder / digest[:40]
    if program.exists():
        return program
    if shutil.which(compiler) is None:
        raise Unavailable(f"process: `{compiler}` is not on this machine; install a C compiler")
    files.make_folder(folder)
    with files.scratch() as scratch:
        source = scratch / "sojourn_process.c"
        source.write_text(text, encoding="utf-8")
        # The compiler writes it in place: a program that this process has written may be busy.
        part = folder / f".{program.name}.{os.getpid()}.tmp"
        command = [compiler, *_FLAGS, f"-I{INCLUDE}", str(source), "-o", str(part), "-ldl"]
        done = tools.run(command)
        if done.returncode:
            raise InputError(f"process: its program does not compile:\n{done.stderr.strip()}")
        part.replace(program)
    return program
