"""Checks of this machine: engines, libraries, cores, writable folders."""

from __future__ import annotations

import os
import platform
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from sojourn import _core, files
from sojourn.engines import registry
from sojourn.engines.protocol import Engine
from sojourn.errors import InputError
from sojourn.running.replicas import default_jobs
from sojourn.running.store import default_folder

_LIBRARIES = ("click", "jinja2", "matplotlib", "numpy", "rich")
# Libraries that some commands need, and the extras that install them.
_OPTIONAL = {"pyarrow": "sojourn[arrow]", "scipy": "sojourn[stability]"}


@dataclass(frozen=True)
class Check:
    """One finding.

    Attributes:
        name: the subject of the check.
        state: ``ok``, ``missing`` (something does not work) or ``later`` (not here yet).
        found: the finding.
        remedy: the fix; may be empty.
    """

    name: str
    state: str
    found: str
    remedy: str = ""


def examine() -> list[Check]:
    """Check everything, without changes."""
    return [
        Check("sojourn", "ok", _core.__version__),
        Check("python", "ok", f"{platform.python_version()} on {platform.platform(terse=True)}"),
        Check("cores", "ok", f"{default_jobs()} (runs at a time, unless --jobs says otherwise)"),
        *(check for engine in registry.engines() for check in _engine(engine)),
        *(_library(name, "missing", name) for name in _LIBRARIES),
        *(_library(name, "later", package) for name, package in _OPTIONAL.items()),
        _folder("this folder", Path.cwd(), "give --out a folder elsewhere"),
        _users_folder("store of runs", default_folder, "SOJOURN_CACHE", "runs are not kept"),
        _users_folder("cache", _cache, "MPLCONFIGDIR", "figures start slowly"),
    ]


def _engine(engine: Engine) -> list[Check]:
    try:
        places = engine.doctor()
    except InputError as error:  # The user has no home folder.
        return [Check(f"engine {engine.name}", "later", str(error))]
    return [
        Check(f"engine {place.name}", "ok" if place.works else "later", place.note, place.remedy)
        for place in places
    ]


def _library(name: str, without: str, package: str) -> Check:
    try:
        return Check(name, "ok", metadata.version(name))
    except metadata.PackageNotFoundError:
        return Check(name, without, "not installed", f"python -m pip install '{package}'")


def _cache() -> Path:
    """The folder of matplotlib's font cache."""
    given = os.environ.get("MPLCONFIGDIR")
    return Path(given) if given else files.user_cache().parent


def _users_folder(name: str, find: Callable[[], Path], variable: str, without: str) -> Check:
    remedy = f"set {variable} to a folder that can be written; {without} without"
    try:
        return _folder(name, find(), remedy)
    except InputError:
        return Check(name, "missing", "this user has no home folder", remedy)


def _folder(name: str, folder: Path, remedy: str) -> Check:
    place = folder
    while not place.exists() and place != place.parent:
        place = place.parent
    try:
        with tempfile.TemporaryFile(dir=place):
            return Check(name, "ok", f"{folder} can be written")
    except OSError as error:
        return Check(name, "missing", f"{folder}: {error.strerror}", remedy)
