"""Formats and widths in which figures are saved, without matplotlib."""

from __future__ import annotations

import shutil

from sojourn.errors import InputError

WIDTH_IN = 7.2
# Column and text width of the two-column classes of IEEE and ACM.
SIZES_IN = {"page": WIDTH_IN, "column": 3.5}
FORMATS = ("svg", "png", "pdf", "pgf")
_TEX_SYSTEMS = ("pdflatex", "lualatex")
_ARM_TEX = "apt-get install --no-install-recommends texlive-latex-extra texlive-pictures lmodern"


def check_size(size: str) -> None:
    """Whether figures can be so wide.

    Raises:
        InputError: there is no such size.
    """
    if size not in SIZES_IN:
        raise InputError(f"--size {size}: is none of {', '.join(SIZES_IN)}")


def check_format(form: str) -> None:
    """Whether figures can be saved so.

    Raises:
        InputError: there is no such format, or it needs LaTeX, which is not on this machine.
    """
    if form not in FORMATS:
        raise InputError(f"--format {form}: is none of {', '.join(FORMATS)}")
    if form == "pgf":
        tex_system()


def tex_system() -> str:
    """The program that measures texts for PGF: the user's own, else the first that is there.

    Raises:
        InputError: no such program is installed.
    """
    import matplotlib as mpl

    wanted: str = mpl.rcParams["pgf.texsystem"]
    is_usual = wanted == mpl.rcParamsDefault["pgf.texsystem"]
    systems: dict[str, None] = dict.fromkeys((wanted, *(_TEX_SYSTEMS if is_usual else ())))
    found = next((system for system in systems if shutil.which(system)), None)
    if found is None:
        raise InputError(
            f"--format pgf: needs LaTeX, and there is no {' or '.join(systems)}; {_ARM_TEX}, or "
            "write pdf"
        )
    return found
