"""Adds a built site to a folder with the sites of all versions, ready to be hosted.

    python docs/site/versions.py out/site/html FOLDER

Writes FOLDER/VERSION, FOLDER/versions.json (newest first, read by static/versions.js) and
FOLDER/index.html, which leads to the newest version.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
from pathlib import Path

import sojourn

INDEX = """<!DOCTYPE html>
<html lang="en">
<meta charset="utf-8">
<meta http-equiv="refresh" content="0; url={0}/">
<title>Sojourn</title>
<a href="{0}/">Sojourn {0}</a>
</html>
"""


def add(site: Path, folder: Path, version: str) -> list[str]:
    """Add a site, in place of an earlier one of this version; returns all versions."""
    place = folder / version
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(site, place)
    found = [path.parent.name for path in folder.glob("*/index.html")]
    versions = sorted(found, key=_numbers, reverse=True)
    (folder / "versions.json").write_text(json.dumps(versions), encoding="utf-8")
    (folder / "index.html").write_text(INDEX.format(versions[0]), encoding="utf-8")
    return versions


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


def main() -> None:
    """Add the site of the installed version."""
    site, folder = map(Path, sys.argv[1:])
    if not (site / "index.html").is_file():
        sys.exit(f"{site}: has no index.html; run `make site`")
    print(*add(site, folder, sojourn.__version__))


if __name__ == "__main__":
    main()
