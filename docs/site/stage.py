"""Lay out the pages of the site: those of the tree as they are, and those that are made here.

    python docs/site/stage.py FOLDER

Links are rewritten on the way: to where a page has gone, and for a file that is not a page to one
that shows it. A console block that calls `sojourn live` gets a link that opens the same there, of a
scenario that the page itself shows, too.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
from pathlib import Path

import course
import gallery
import live_links
import reference

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
# Pages outside docs/, and what they are called on the site.
OUTSIDE = {
    "README.md": "overview.md",
    "ARCHITECTURE.md": "architecture.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
}
_LINK = re.compile(r"\]\(([^)\s:#]+)(#[^)\s]*)?\)")
_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LEXERS = {"rs": "rust", "py": "python", "toml": "toml", "c": "c", "h": "c", "ts": "typescript",
           "json": "json", "tcl": "tcl", "rst": "rst"}  # fmt: skip


def main() -> None:
    """Lay everything out in the folder that is named."""
    stage = Path(sys.argv[1])
    shutil.rmtree(stage, ignore_errors=True)
    shown: set[Path] = set()
    for page in _pages():
        text = _rewritten(page, shown)
        _write(stage / _place(page), text)
    for source in sorted(shown):
        _write(stage / _place(source), _source_page(source))
    for name, text in {**reference.pages(), **gallery.pages(stage)}.items():
        _write(stage / name, text)
    shutil.copytree(DOCS / "images", stage / "images", dirs_exist_ok=True)
    shutil.copytree(DOCS / "site" / "static", stage / "static", dirs_exist_ok=True)


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def _pages() -> list[Path]:
    """Every page of the tree that the site has."""
    inside = [page for page in sorted(DOCS.rglob("*.md")) if page.parent != DOCS / "site"]
    return [*inside, *(ROOT / name for name in OUTSIDE), DOCS / "site" / "index.md"]


def _place(path: Path) -> Path:
    """The place of a file of the tree on the site; a file that is not a page is shown by one."""
    name = path.relative_to(ROOT).as_posix()
    if name in OUTSIDE:
        return Path(OUTSIDE[name])
    if path == DOCS / "site" / "index.md":
        return Path("index.md")
    if path.suffix != ".md" or not path.is_relative_to(DOCS):
        return Path("source") / f"{name}.md"
    inside = path.relative_to(DOCS)
    return inside.with_name("index.md") if inside.name == "README.md" else inside


def _rewritten(page: Path, shown: set[Path]) -> str:
    """The text of a page with links for the site."""
    text = page.read_text(encoding="utf-8")
    parts, end = [], 0
    depth = len(_place(page).parts) - 1
    own: dict[str, str] = {}
    for fence in _FENCE.finditer(text):
        parts += [_links(text[end : fence.start()], page, shown), fence.group()]
        own |= live_links.own_scenario(fence.group())
        parts.append(live_links.after(fence.group(), depth, own))
        end = fence.end()
    return "".join([*parts, _links(text[end:], page, shown), _below(page), _elsewhere(page)])


def _elsewhere(page: Path) -> str:
    """A link from a page to a part that is built elsewhere, if it exists."""
    made = {
        DOCS / "results" / "atlas.md": (
            ROOT / "out" / "atlas" / "index.html",
            "../atlas/index.html",
            "The atlas",
        ),
        DOCS / "how-to" / "embedding.md": (
            ROOT / "target" / "doc" / "sojourn_aqm" / "index.html",
            "../rust/sojourn_aqm/index.html",
            "The crates' own pages",
        ),
        DOCS / "tutorials" / "course.md": (
            live_links.page.FOLDER / live_links.page.ONE_FILE,
            f"../course/{course.exercises()[0].file}",
            "Each exercise as a page to save",
        ),
        DOCS / "site" / "index.md": (
            live_links.page.FOLDER / "sojourn.wasm",
            "live/index.html",
            "Open the live page",
        ),
    }
    if page not in made or not made[page][0].is_file():
        return ""
    _, address, title = made[page]
    return f'\n<p class="live"><a href="{address}">{title}</a></p>\n'


def _below(page: Path) -> str:
    """What a list of pages has below it in the navigation."""
    if page.name != "README.md" or page.parent == ROOT:
        return ""
    names = "\n".join(sorted(p.stem for p in page.parent.glob("*.md") if p != page))
    return f"\n```{{toctree}}\n:hidden:\n\n{names}\n```\n"


def _links(prose: str, page: Path, shown: set[Path]) -> str:
    def replaced(found: re.Match[str]) -> str:
        target = _target((page.parent / found[1]).resolve())
        if target.is_relative_to(DOCS / "images"):
            place = target.relative_to(DOCS)
        else:
            place = _place(target)
            if place.parts[0] == "source":
                shown.add(target)
        here = _place(page).parent
        return f"]({os.path.relpath(place, here)}{found[2] or ''})"

    return _LINK.sub(replaced, prose)


def _target(path: Path) -> Path:
    """The page of a folder that is linked to."""
    return path / "README.md" if path.is_dir() and (path / "README.md").is_file() else path


def _source_page(path: Path) -> str:
    """A page that shows a file of the tree, or lists a folder; the search leaves it out."""
    name = path.relative_to(ROOT).as_posix()
    head = f"---\norphan: true\nnosearch: true\n---\n\n# {name}\n\n"
    if path.is_dir():
        files = sorted(p.name for p in path.iterdir() if not p.name.startswith(("__", ".")))
        return head + "".join(f"- `{file}`\n" for file in files)
    fence = "`" * 8
    lexer = _LEXERS.get(path.suffix.lstrip("."), "text")
    return f"{head}{fence}{lexer}\n{path.read_text(encoding='utf-8')}{fence}\n"


if __name__ == "__main__":
    main()
