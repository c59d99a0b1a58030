"""The gallery: figures drawn when the site is built, each with the command that made it."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent


def pages(stage: Path) -> dict[str, str]:
    """Run the commands of gallery.toml, put their figures on the site, and write their page.

    Args:
        stage: folder of the site's pages.
    """
    groups = tomllib.loads((HERE / "gallery.toml").read_text())["groups"]
    sections = [_section(group, stage) for group in groups]
    about = "Each figure was drawn when this site was built, by the command above it.\n"
    return {"gallery.md": "\n".join(["# Gallery", "", about, *sections])}


def _section(group: dict[str, str], stage: Path) -> str:
    out = stage.parent / "gallery" / group["name"]
    command = f"{group['command'].strip()} --out {group['name']}"
    shutil.rmtree(out, ignore_errors=True)
    out.parent.mkdir(parents=True, exist_ok=True)
    called = [sys.executable, "-m", *shlex.split(command.replace("\\\n", " "))]
    subprocess.run(called, cwd=out.parent, check=True, stdout=subprocess.DEVNULL)
    pictures = sorted(out.rglob("*.svg"))
    assert pictures, f"{command}: drew nothing"
    folder = stage / "images" / "gallery"
    folder.mkdir(parents=True, exist_ok=True)
    lines = [f"## {group['title']}\n\n{group['about']}\n\n```console\n$ {command}\n```\n"]
    for picture in pictures:
        name = f"{group['name']}-{picture.name}"
        shutil.copyfile(picture, folder / name)
        lines.append(f"![{group['title']}: {picture.stem}](images/gallery/{name})\n")
    return "\n".join(lines)
