"""Configuration fragments of users: options that are merged over the guest kernel's.

The form is that of the kernel's own fragments (``scripts/kconfig/merge_config.sh``), such as
``tools/testing/selftests/net/config``.
"""

from __future__ import annotations

import re
from pathlib import Path

from sojourn import reading
from sojourn.errors import InputError

_SET = re.compile(r"(CONFIG_[A-Za-z0-9_]+)=(\S.*)")
_UNSET = re.compile(r"# (CONFIG_[A-Za-z0-9_]+) is not set")


def read(path: Path) -> str:
    """The text of a fragment.

    Raises:
        InputError: it cannot be read, a line sets nothing, or none does.
    """
    text = reading.text(path, "fragment")
    for number, line in enumerate(text.splitlines(), 1):
        is_comment = not line.strip() or line.lstrip().startswith("#")
        if not is_comment and _SET.fullmatch(line.strip()) is None:
            raise InputError(
                f"kernel build: {path}: line {number}: {line.strip()[:60]!r}: write "
                "CONFIG_NAME=value, or `# CONFIG_NAME is not set`"
            )
    if not _wanted(text):
        raise InputError(
            f"kernel build: {path}: sets no option; write lines such as CONFIG_IPVLAN=y"
        )
    return text


def check(path: Path, text: str, made: str) -> None:
    """Compare a fragment with the configuration that the kernel's make derived from it.

    Args:
        path: the fragment's.
        text: the fragment's.
        made: the text of ``.config``.

    Raises:
        InputError: an option has another value there.
    """
    found = _wanted(made)
    for name, value in _wanted(text).items():
        if found.get(name, "n") != value:
            raise InputError(
                f"kernel build: {path}: {name}={value}: these sources make it "
                f"{found.get(name, 'n')}; name the options that it depends on as well "
                "(`depends on` in their Kconfig), or leave it out"
            )


def _wanted(text: str) -> dict[str, str]:
    """The options of a text in the form of ``.config``; the last one counts."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        if (option := _SET.fullmatch(line.strip())) is not None:
            found[option[1]] = option[2].strip()
        elif (option := _UNSET.fullmatch(line.strip())) is not None:
            found[option[1]] = "n"
    return found
