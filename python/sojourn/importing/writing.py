"""Writes the scenario of a measurement."""

from __future__ import annotations

import sys
from pathlib import Path

from sojourn import files
from sojourn.errors import InputError
from sojourn.importing.scenario import Imported
from sojourn.reading import shown


def write(result: Imported, source: Path, output: Path | None, stem: str) -> list[Path]:
    """Write the scenario, and the files it names into the same folder.

    Args:
        result: the scenario.
        source: the measurement file, which is never replaced.
        output: the scenario's file; stdout by default.
        stem: stem of those files' names.

    Returns:
        The files written.

    Raises:
        InputError: the files have no folder, one cannot be written, or would replace the source.
    """
    if output is None:
        if result.files:
            raise InputError(
                f"{shown(source)}: its scenario names recordings, which are separate files; say "
                f"where, such as --output {stem}.toml"
            )
        sys.stdout.write(result.text)
        return []
    contents = {output: result.text}
    contents |= {output.parent / name: text for name, text in result.files.items()}
    for path, text in contents.items():
        if path.exists() and path.samefile(source):
            raise InputError(f"{shown(path)}: is the measurement file; choose another --output")
        try:
            files.write(path, text)
        except OSError as error:
            raise InputError(f"{shown(path)}: cannot be written ({error.strerror})") from None
    return list(contents)
