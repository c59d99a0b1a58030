"""Put beside the pages of the site what others have built: the live page, the crates' own pages.

python docs/site/beside.py FOLDER
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import live_links

from sojourn.live import page

CRATES = Path(__file__).parents[2] / "target" / "doc"


def main() -> None:
    """Copy what exists, and say what does not."""
    site = Path(sys.argv[1])
    if live_links.exists():
        shutil.copytree(page.FOLDER, site / "live", dirs_exist_ok=True)
    else:
        print("the site has no live page: `make web-toolchain web` builds it")
    if (CRATES / "sojourn_aqm").is_dir():
        shutil.copytree(CRATES, site / "rust", dirs_exist_ok=True)
    else:
        print("the site has no pages of the crates: `make docs` builds them")


if __name__ == "__main__":
    main()
