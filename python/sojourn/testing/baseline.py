"""Stored values that expectations with ``against = "baseline"`` are compared with.

They are next to the scenario, as ``NAME.baseline.json``, for the version control of its project.
"""

from __future__ import annotations

import json
import math
import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sojourn import _core, files, reading
from sojourn.errors import InputError

FORMAT = 1
_SUFFIX = ".baseline.json"


def path_of(file: str | Path) -> Path:
    """The file of the baseline of a scenario."""
    return Path(file).with_suffix(_SUFFIX)


def _remedy(path: Path) -> str:
    scenario = str(path).removesuffix(_SUFFIX) + ".toml"
    return f"store one with `{shlex.join(['sojourn', 'test', scenario, '--update-baseline'])}`"


class Baseline:
    """The stored values of one scenario file.

    Args:
        path: path of the stored file.
        series: values by the name of a series, then by seed.
    """

    def __init__(self, path: Path, series: Mapping[str, Mapping[str, float]]) -> None:
        self._path = path
        self._series = series

    def values(self, series: str, seeds: Sequence[int]) -> list[float]:
        """The values of a series under these seeds.

        Raises:
            InputError: the baseline lacks the series or a seed.
        """
        stored = self._series.get(series)
        if stored is None:
            raise InputError(f"{self._path}: has no values of {series}; {_remedy(self._path)}")
        for seed in seeds:
            if str(seed) not in stored:
                why = f"has no seed {seed} of {series}"
                raise InputError(f"{self._path}: {why}; {_remedy(self._path)}")
        return [float(stored[str(seed)]) for seed in seeds]


def read(file: str | Path) -> Baseline:
    """The baseline of a scenario.

    Raises:
        InputError: it is missing, of another version, or damaged.
    """
    path = path_of(file)
    if not path.exists():
        raise InputError(f"{path}: no baseline is stored; {_remedy(path)}")
    try:
        stored: Any = json.loads(reading.text(path, "baseline"))
        version, made_by, series = stored["format"], stored["sojourn"], stored["values"]
        is_whole = all(
            isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
            for each in series.values()
            for value in each.values()
        )
    except InputError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise InputError(f"{path}: is not a baseline, or is damaged; {_remedy(path)}") from None
    if version != FORMAT or made_by != _core.__version__:
        raise InputError(
            f"{path}: was stored by Sojourn {made_by} (format {version}), and this is "
            f"{_core.__version__} (format {FORMAT}), whose runs may differ; {_remedy(path)}"
        )
    if not is_whole:
        raise InputError(f"{path}: has a value that is not a number; {_remedy(path)}")
    return Baseline(path, series)


def write(file: str | Path, series: Mapping[str, Mapping[int, float]]) -> Path:
    """Store the values of a scenario; return the file.

    Raises:
        InputError: a value is unknown.
        OSError: the file cannot be written.
    """
    path = path_of(file)
    for name, values in series.items():
        for seed, value in values.items():
            if not math.isfinite(value):
                raise InputError(f"{file}: {name} has no value under seed {seed} to store")
    content = {
        "format": FORMAT,
        "sojourn": _core.__version__,
        "values": {
            name: {str(seed): value for seed, value in values.items()}
            for name, values in series.items()
        },
    }
    files.write(path, json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    return path
