"""AQMs as a user names them, with custom laws; the only place that loads such code.

``mine.py:MyLaw:target=5ms`` and ``fq(mine.py:MyLaw)`` name a class in a file,
``libmine.so:target=5ms`` a library; in Python a class may be passed. The law's name replaces the
file, so tables and figures do not depend on folders.
"""

from __future__ import annotations

import ast
import hashlib
import importlib.util
import re
import sys
import sysconfig
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from sojourn import _core, reading
from sojourn._core import CustomLaw
from sojourn.describing import aqm_list
from sojourn.describing.arguments import in_order
from sojourn.errors import InputError, ScenarioError
from sojourn.loading import exits, library
from sojourn.loading.python_class import custom_law, is_law

AqmLike = str | type
AqmsLike = AqmLike | Sequence[AqmLike]
"""One AQM or several: ``"pie"``, ``"pie,fq(codel)"``, a class, or a sequence of such."""

_AQMS = 'give a text or a list, as in ["pie", "codel"]'
_PYTHON = re.compile(
    r"^(?P<head>\s*(?:fq\()?\s*)(?P<file>[^(),=]*?\.py)(?!\w)"
    r"(?::(?P<cls>[A-Za-z_]\w*)(?![\w=]))?(?P<rest>.*)$"
)
_LIBRARY = re.compile(
    r"^(?P<head>\s*(?:fq\()?\s*)(?P<file>[^(),:=]*\.(?:so|dylib))(?!\w)(?P<rest>.*)$"
)


# The check takes about 30 ms for a law in Python, so it runs once per process and source digest.
_OPERATIONS = 10_000
_REPEATING: set[tuple[str, ...]] = set()


@dataclass(frozen=True)
class Brought:
    """AQMs in their text form, and the custom laws that those texts name."""

    aqms: list[str]
    laws: list[CustomLaw]


def listed(aqms: AqmsLike) -> list[AqmLike]:
    """Every AQM of an argument ``aqms``.

    Raises:
        InputError: it is a set or no list, an entry is neither a text nor a class, or a text is not
            a list of AQMs, see `sojourn.describing.aqm_list.split`.
    """
    if isinstance(aqms, str):
        return [*aqm_list.split(aqms)]
    if isinstance(aqms, type):
        return [aqms]
    found = in_order("aqms", aqms, _AQMS)
    for each in found:
        if not isinstance(each, str | type):
            raise InputError(f"aqms: {each!r} is neither a text nor a class; {_AQMS}")
    return found


def bring(
    aqms: Iterable[AqmLike], *, runs: bool = False, framing: Callable[[], int] | None = None
) -> Brought:
    """Load the laws that AQMs name by file, library or class.

    Args:
        aqms: AQMs in text form, or classes.
        runs: whether the AQMs will run; a law that does not repeat its decisions over 10,000 random
            operations is then refused; `sojourn check` tests more.
        framing: the bytes that the link adds to a packet, for the overhead of tc's cake, which
            counts from the IP packet; by default none.

    Returns:
        The AQMs in canonical text form, in the same order, and the laws.

    Raises:
        InputError: a file or class does not exist, is not a law, or does not repeat its decisions.
        ScenarioError: an AQM is not legal, or two laws have one name.
    """
    found = [bring_one(aqm, framing) for aqm in aqms]
    laws = [law for _, law in found if law]
    brought = Brought([_core.check_aqm(text, laws) for text, _ in found], laws)
    for text, (_, law) in zip(brought.aqms, found, strict=True):
        if runs and law:
            _check_repeats(text, law, laws)
    return brought


def _check_repeats(text: str, law: CustomLaw, laws: list[CustomLaw]) -> None:
    """Refuse a law that does not repeat its decisions."""
    known = (text, *(each.source for each in laws))
    if known in _REPEATING:
        return
    if not _core.law_repeats(text, laws, _OPERATIONS):
        place = law.source.split(" sha256=")[0].partition(":")[2]
        raise InputError(
            f"{place}: two runs under one seed differ: it draws its own random numbers "
            "(take them from `random`, which the hooks are given), or keeps state across runs "
            "(keep it in the law, of which every queue has its own); `sojourn check` says more"
        )
    _REPEATING.add(known)


def names_code(aqm: str) -> bool:
    """Whether a text names a file or a library."""
    return bool(_PYTHON.match(aqm) or _LIBRARY.match(aqm))


def relative_to(aqm: str, folder: Path) -> str:
    """An AQM with the path of its file or library, if it names one, joined to a folder."""
    found = _PYTHON.match(aqm) or _LIBRARY.match(aqm)
    if found is None:
        return aqm
    start, end = found.span("file")
    return f"{aqm[:start]}{folder / found['file'].strip()}{aqm[end:]}"


def bring_one(
    aqm: AqmLike, framing: Callable[[], int] | None = None
) -> tuple[str, CustomLaw | None]:
    """An AQM as text with the law's name in place of its file, and the law; unchecked.

    Raises:
        InputError: a file or class does not exist, or is not a law.
    """
    if not isinstance(aqm, str):
        law = custom_law(aqm)
        return law.name, law
    if found := _PYTHON.match(aqm):
        law = _of_file(Path(found["file"].strip()), found["cls"])
    elif found := _LIBRARY.match(aqm):
        law = library.law_of(Path(found["file"].strip()), is_tried=False)
    else:
        return _of_tc(aqm, framing), None
    rest = found["rest"].strip()
    # In a list of AQMs a comma separates parameters that follow a file:
    # `fq(mine.py:Law),target=5ms`.
    rest = re.sub(r"^(\)?),", r"\1:", rest)
    return f"{found['head'].strip()}{law.name}{rest}", law


def _of_tc(aqm: str, framing: Callable[[], int] | None) -> str:
    """Convert a text after ``tc:`` to our text form; return other texts unchanged.

    Raises:
        InputError: the text is in tc's syntax, without ``tc:``.
        ScenarioError: tc lacks the discipline or option, or it has no counterpart.
    """
    head, colon, rest = aqm.partition(":")
    if colon and head.strip() == "tc":
        text, missing, overhead = _core.tc_aqm(rest)
        for phrase in missing:
            if "no counterpart" in phrase:
                raise InputError(f"--aqm `{aqm}`: {phrase}; leave it out, or write {text}")
        if overhead is not None and framing:
            # Our overhead is added to the link's framing.
            text = text.replace(f"overhead={overhead}B", f"overhead={overhead - framing()}B")
        return text
    if _core.tc_looks_like(aqm):
        raise InputError(f"--aqm `{aqm}`: is in the words of tc; write `tc: {aqm}`")
    return aqm


def code_file(aqm: AqmLike) -> Path | None:
    """The absolute path of a law's code; None if it cannot be loaded again.

    A class of the main program cannot be, because its file does more than define it.
    """
    if isinstance(aqm, str):
        found = _PYTHON.match(aqm) or _LIBRARY.match(aqm)
        return Path(found["file"].strip()).resolve() if found else None
    module = sys.modules.get(aqm.__module__)
    file = getattr(module, "__sojourn_file__", None)
    return Path(file) if file else None


def imported_files(file: Path) -> list[str]:
    """Modules that a law imports and its digest does not cover, except installed ones."""
    if file.suffix != ".py":
        return []
    names: list[str] = []
    for node in ast.walk(ast.parse(file.read_bytes())):
        if isinstance(node, ast.Import):
            names += [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom):
            names.append("." if node.level else node.module or "")
    tops = dict.fromkeys(name.partition(".")[0] or name for name in names)
    return [top for top in tops if top == "." or not _is_installed(top)]


def _is_installed(module: str) -> bool:
    """Whether a module belongs to Python, an installed package, or Sojourn."""
    if module in sys.stdlib_module_names or module == "sojourn":
        return True
    spec = importlib.util.find_spec(module)
    where = Path(spec.origin) if spec is not None and spec.origin else Path()
    installed = {sysconfig.get_path(name) for name in ("purelib", "platlib")}
    return any(where.is_relative_to(folder) for folder in installed)


def _of_file(file: Path, name: str | None) -> CustomLaw:
    module = load_module(file)
    try:
        return _of_module(file, module, name)
    except (InputError, ScenarioError, KeyboardInterrupt):
        raise
    except BaseException as error:  # of a metaclass or a descriptor, for example
        raise InputError(f"{_line(file, error)}: {type(error).__name__}: {error}") from error


def _of_module(file: Path, module: ModuleType, name: str | None) -> CustomLaw:
    own = [
        member
        for member in vars(module).values()
        if is_law(member) and member.__module__ == module.__name__
    ]
    if name is None:
        return custom_law(_only(file, own))
    cls = getattr(module, name, None)
    if cls is None:
        known = _known([each.__name__ for each in own])
        raise InputError(f"{file}: unknown class `{name}`; {known}")
    return custom_law(cls)


def _only(file: Path, own: Sequence[type]) -> type:
    if len(own) == 1:
        return own[0]
    names = [each.__name__ for each in own]
    raise InputError(f"{file}: name a class, such as {file}:MyLaw; {_known(names)}")


def _known(names: Sequence[str]) -> str:
    if names:
        return f"the file has {', '.join(names)}"
    return "the file has no law, which is a class with on_enqueue or on_dequeue"


def load(file: str, name: str, source: str) -> CustomLaw:
    """A law that a plan names, loaded again by the process that carries out the plan.

    Args:
        file: the file that has its code.
        name: name of the class; a library declares its own.
        source: its code and digest when the plan was written.

    Raises:
        InputError: the file does not exist, or has changed since.
        ScenarioError: it is no longer a law.
    """
    if file.endswith(".py"):
        law = _of_file(Path(file), name)
    else:
        law = library.law_of(Path(file), is_tried=True)
    if law.source != source:
        raise InputError(f"{file}: has changed since the plan of this run was made; start again")
    return law


def load_module(file: Path) -> ModuleType:
    """The module in a file; an unchanged file is loaded once per process.

    Raises:
        InputError: the file does not exist or cannot be imported; with line and reason.
    """
    if not file.exists():
        raise InputError(f"{file}: no such file; give its path from this folder")
    text = reading.content(file, "module")
    digest = hashlib.sha256(text + bytes(file.resolve())).hexdigest()
    name = f"sojourn_law_{file.stem}_{digest[:12]}"
    if name in sys.modules:
        return sys.modules[name]
    spec = importlib.util.spec_from_file_location(name, file.resolve())
    assert spec is not None and spec.loader is not None, "a file that ends in .py can be loaded"
    module = importlib.util.module_from_spec(spec)
    module.__dict__["__sojourn_file__"] = str(file.resolve())
    sys.modules[name] = module
    try:
        with exits.refused():
            spec.loader.exec_module(module)
    except BaseException as error:
        del sys.modules[name]
        if isinstance(error, KeyboardInterrupt):
            raise
        raise InputError(f"{_line(file, error)}: {type(error).__name__}: {error}") from error
    return module


def _line(file: Path, error: BaseException) -> str:
    """The file and the line at which an import failed."""
    if isinstance(error, SyntaxError) and error.lineno:
        return f"{file}:{error.lineno}"
    line, step = 0, error.__traceback__
    while step is not None:
        if step.tb_frame.f_code.co_filename == str(file.resolve()):
            line = step.tb_lineno
        step = step.tb_next
    return f"{file}:{line}" if line else str(file)
