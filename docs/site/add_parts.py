"""Adds parts to the site that are built elsewhere: live page, course, the crates' own pages.

python docs/site/add_parts.py FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import course
import live_links
from markdown_it import MarkdownIt

from sojourn.live import page

ROOT = Path(__file__).parents[2]
CRATES = ROOT / "target" / "doc"
ATLAS = ROOT / "out" / "atlas"


def main() -> None:
    """Copy what exists, and report what is missing."""
    site = Path(sys.argv[1])
    if live_links.exists():
        shutil.copytree(page.FOLDER, site / "live", dirs_exist_ok=True)
        course.write(site / "course", MarkdownIt().render)
    else:
        print("the site has no live page: `make web-toolchain web` builds it")
    if (ATLAS / "index.html").is_file():
        (site / "atlas").mkdir(exist_ok=True)
        for name in ("index.html", "atlas.parquet"):
            shutil.copyfile(ATLAS / name, site / "atlas" / name)
    else:
        print("the site has no atlas: `make atlas` makes it")
    if (CRATES / "sojourn_aqm").is_dir():
        shutil.copytree(CRATES, site / "rust", dirs_exist_ok=True)
    else:
        print("the site has no pages of the crates: `make docs` builds them")


if __name__ == "__main__":
    main()
