"""Parts of the site: texts of changed scenarios, links, the atlas."""

from __future__ import annotations

import html
import json
import re
import sys
import tomllib
from pathlib import Path

import pytest

from sojourn import _core
from sojourn.describing import library
from sojourn.describing.library import shipped
from sojourn.live.page import fragment
from sojourn.live.texts import changed
from sojourn.scenario import document_toml

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def site_folder():
    """The modules of the site."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(ROOT / "docs" / "site"))
        yield
    for name in ("atlas", "live_links", "reference", "gallery", "stage", "course", "versions"):
        sys.modules.pop(name, None)


@pytest.mark.parametrize("name", sorted(shipped()))
def test_a_rewritten_shipped_scenario_has_the_same_tables(name: str) -> None:
    document = tomllib.loads(shipped()[name].read_text())
    assert tomllib.loads(document_toml(document)) == document


def test_a_changed_scenario_is_what_set_makes_of_it() -> None:
    sets = {"flows.bulk.rtt": "250ms", "links.bottleneck.rate": "20mbit"}
    theirs = library.load("traffic-mix", sets)
    ours = _core.Scenario.load(changed("traffic-mix", sets))
    assert ours.resolved_json() == theirs.resolved_json()
    assert "250ms" not in changed("traffic-mix", {})


def test_each_page_is_staged_once_and_each_navigation_names_staged_pages() -> None:
    """Sphinx ends on anything else; it is not installed where this runs."""
    import stage

    places = [stage._place(page) for page in stage._pages()]
    assert len(places) == len(set(places))
    made = {str(place.with_suffix("")) for place in places}
    for page, place in zip(stage._pages(), places, strict=True):
        for entry in _toctree(page.read_text(encoding="utf-8") + stage._below(page)):
            if "reference" in entry or "gallery" in entry:
                continue  # Made by the other modules.
            assert (place.parent / entry).as_posix() in made, f"{page}: {entry}"


def test_the_site_of_a_version_is_added_to_those_of_others(tmp_path: Path) -> None:
    import versions

    site, folder = tmp_path / "site", tmp_path / "all"
    site.mkdir()
    for version in ("0.9.0", "0.10.0", "0.9.0"):
        (site / "index.html").write_text(version, encoding="utf-8")
        found = versions.add(site, folder, version)
    assert found == json.loads((folder / "versions.json").read_text()) == ["0.10.0", "0.9.0"]
    assert (folder / "0.9.0" / "index.html").read_text() == "0.9.0"
    assert 'url=0.10.0/"' in (folder / "index.html").read_text()


def _toctree(text: str) -> list[str]:
    """The entries of a page's navigation."""
    blocks = re.findall(r"```{toctree}\n(.*?)```", text, re.DOTALL)
    lines = "\n".join(blocks).splitlines()
    return [re.sub(r".*<(.*)>", r"\1", line) for line in lines if line and not line.startswith(":")]


def test_every_part_of_the_atlas_is_a_legal_study() -> None:
    import atlas

    found = list(atlas.parts(small=False, traces=None))
    assert len(found) == 14 * len(atlas.LOADS)
    assert sum(len(part.study().axes) for part in found) == 2 * len(found)


def test_a_cell_of_the_atlas_opens_the_scenario_that_was_run() -> None:
    import atlas

    from sojourn.study.points import resolve

    part = next(p for p in atlas.parts(small=True, traces=None) if p.scenario.endswith("bursts"))
    html = atlas.page([part], [])
    data = json.loads(html.partition('id="data">')[2].partition("</script>")[0])
    opened = _core.Scenario.load(data["texts"]["rfc7928-bursts|1|100ms"])
    study = part.study()
    ran = resolve(study)[0].scenario
    assert opened.with_queue("bottleneck", "taildrop").resolved_json() == (
        ran.with_queue("bottleneck", "taildrop").resolved_json()
    )


def test_links_of_a_page_point_to_where_pages_have_gone() -> None:
    import stage

    shown: set[Path] = set()
    text = (
        "[a](docs/reference/aqms) [b](docs/how-to/linux.md#time) "
        "[c](crates/aqm/src/law.rs) [d](https://x.org/y)"
    )
    found = stage._links(text, ROOT / "README.md", shown)
    assert found == (
        "[a](reference/aqms/index.md) [b](how-to/linux.md#time) "
        "[c](source/crates/aqm/src/law.rs.md) "
        "[d](https://x.org/y)"
    )
    assert shown == {ROOT / "crates/aqm/src/law.rs"}


def test_every_place_that_a_link_names_is_there() -> None:
    """Sphinx ends on anything else; it is not installed where this runs."""
    import stage

    missing = []
    for page in stage._pages():
        prose = _without_code(page)
        for name, anchor in re.findall(r"\]\(([^)#\s:]*)(?:#([^)]+))?\)", prose):
            target = page.parent / name if name else page
            if not target.exists() or (anchor and anchor not in _anchors(target)):
                missing.append(f"{page.relative_to(ROOT)}: {name}#{anchor}")
    assert missing == []


def _without_code(page: Path) -> str:
    return re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.S | re.M)


def _anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    titles = re.findall(r"^#+ +(.*)$", _without_code(page), re.M)
    shown = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).lower() for title in titles]
    return {re.sub(r"[^\w\- ]", "", title).strip().replace(" ", "-") for title in shown}


def test_every_page_is_in_the_navigation() -> None:
    import stage

    index = (ROOT / "docs" / "site" / "index.md").read_text()
    inner = ("reference/aqms/", "reference/ccs/", "evidence/", "facts/", "index.md")
    names = [stage._place(page).as_posix() for page in stage._pages()]
    wanted = [name.removesuffix(".md") for name in names if not name.startswith(inner)]
    missing = [n for n in wanted if f"\n{n}\n" not in index and f" <{n}>\n" not in index]
    assert missing == []


def test_each_exercise_of_the_course_makes_a_page_with_its_solution_hidden() -> None:
    import course

    every = course.exercises()
    assert [each.number for each in every] == list(range(1, 7))
    for each in every:
        scenario = library.load(each.scenario)
        assert fragment(scenario.source, each.aqms, scenario.seed)
        section = course.panel(each, every, lambda text: f"<pre>{html.escape(text)}</pre>")
        shown, _, hidden = section.partition("<details>")
        assert "minutes" in shown
        assert "<textarea" in shown
        last = html.escape(each.solution.strip().splitlines()[-1][:40])
        assert last in hidden
        assert last not in shown
        assert "sojourn live" not in shown
        assert section.count("<a href") == len(every) - 1


def test_an_exercise_without_a_solution_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    import course

    sections = course._sections
    monkeypatch.setattr(
        course, "_sections", lambda name: sections(name)[1 if "solutions" in name else 0 :]
    )
    with pytest.raises(ValueError, match="exercise 1 needs a solution"):
        course.exercises()
