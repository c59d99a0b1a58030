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
    """Check the width of figures.

    Raises:
        InputError: the size does not exist.
    """
    if size not in SIZES_IN:
        raise InputError(f"--size {size}: is not one of {', '.join(SIZES_IN)}")


def check_format(form: str) -> None:
    """Check that figures can be saved in a format.

    Raises:
        InputError: the format does not exist, or needs LaTeX, which is not installed.
    """
    if form not in FORMATS:
        raise InputError(f"--format {form}: is not one of {', '.join(FORMATS)}")
    if form == "pgf":
        tex_system()


def tex_system() -> str:
    """The TeX program that measures texts for PGF: the user's choice, else the first installed.

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
            f"--format pgf: needs LaTeX, and {' or '.join(systems)} is missing; {_ARM_TEX}, or "
            "write pdf"
        )
    return found
