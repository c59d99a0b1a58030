"""A paper that is a folder: ``paper.toml``, and scenario files next to it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from sojourn import _core, reading
from sojourn.describing.library import set_pairs, shipped
from sojourn.describing.queues import compared_link
from sojourn.errors import InputError, ScenarioError
from sojourn.loading.bring import bring, relative_to
from sojourn.reproduce import folder_claims, folder_values
from sojourn.reproduce.edits import Edit, load_edited
from sojourn.reproduce.folder_claims import ReadClaim, Scopes
from sojourn.reproduce.folder_reader import Reader, nearest
from sojourn.reproduce.paper import Case, Item, Paper, Seeds
from sojourn.reproduce.testbed import Testbed

FILE = "paper.toml"
_KEY = re.compile(r"[a-z][a-z0-9_-]*")
_CASE = re.compile(r"[a-z][a-z0-9_]*")
_ITEM = re.compile(r"[A-Z][A-Za-z0-9]*")
# One-way delay and RTT of TCP flows are claims like others.
_RECORD = ("record.latency", "true")


def is_folder(name: str) -> bool:
    """Whether a name on the command line is a folder's, not a known paper's."""
    return "/" in name or Path(name, FILE).is_file()


def read(folder: Path) -> Paper:
    """The paper of a folder.

    Raises:
        InputError: the file does not exist, or something in it is not legal; with line and remedy.
    """
    file = folder / FILE
    if not file.is_file():
        raise InputError(
            f"{reading.shown(folder)}: has no {FILE}; `sojourn new paper NAME` begins one"
        )
    name = reading.shown(file)
    table = reading.toml(file, "paper")
    reader = Reader(name, reading.text(file, "paper"), (), table)
    reader.known("title", "source", "about", "seeds", "cases", "items", "claims")
    key = folder.resolve().name.lower()
    if not _KEY.fullmatch(key):
        raise reader.refuse(f"the folder {key} names the paper; use a letter, then letters, digits")
    cases = _Cases(reader, folder)
    items = reader.tables("items", "items, such as [items.F1]")
    claims = _claims(key, reader, items, cases)
    usual = _seeds(reader, Seeds())
    return Paper(
        key=key,
        title=reader.text_of("title"),
        source=reader.text_of("source"),
        about=reader.text_of("about", ""),
        items=tuple(_item(name, each, cases, claims[name], usual) for name, each in items.items()),
        claims=tuple(each.claim for of_item in claims.values() for each in of_item),
        testbed=Testbed([*items], ""),
    )


@dataclass(frozen=True)
class _Cases:
    """The cases of a paper, read as they are needed."""

    reader: Reader
    folder: Path
    read: dict[str, tuple[Case, _core.Scenario]] = field(default_factory=dict)

    def of(self, item: Reader) -> dict[str, Case]:
        """The cases of an item.

        Raises:
            InputError: it names a case that is not there, or one is not legal.
        """
        for key in item.texts("cases"):
            if key not in self.tables:
                why = f"unknown case `{key}`{nearest(key, [*self.tables])}"
                raise item.refuse(why, "cases")
            if key not in self.read:
                self.read[key] = self._case(key)
        return {key: self.read[key][0] for key in item.texts("cases")}

    def scopes(self, item: Reader) -> Scopes:
        """The links, classes and compared links of an item's cases."""
        keys = [*self.of(item)]
        links = {key: self.read[key][1].links for key in keys}
        own = {key: self.tables[key].text_of("link", "") for key in keys}
        return Scopes(
            links,
            {key: _classes(self.read[key][1]) for key in keys},
            {key: own[key] or compared_link(links[key]) for key in keys},
        )

    @property
    def tables(self) -> dict[str, Reader]:
        """The table of each case by key; empty for a paper that runs nothing."""
        return self.reader.tables("cases", "cases, such as [cases.pie]")

    def _case(self, key: str) -> tuple[Case, _core.Scenario]:
        reader = self._known(key)
        chain = self._chain(key)
        file = next((each for each in reversed(chain) if "scenario" in each.table), None)
        if file is None:
            raise reader.refuse('has no `scenario`; add one, such as scenario = "dumbbell.toml"')
        edits = tuple(self._edit(each) for each in chain)
        case = Case(self._file(file), ("delays",), (*edits, Edit((_RECORD,))))
        try:
            return case, load_edited(case.scenario, case.edits)
        except ScenarioError as error:
            raise reader.refuse(str(error).replace("--set ", "set: ")) from None
        except InputError as error:
            raise reader.refuse(str(error).replace("--link ", "link ")) from None

    def _known(self, key: str) -> Reader:
        found = self.tables[key]
        found.known("base", "scenario", "aqm", "link", "set")
        if not _CASE.fullmatch(key):
            raise found.refuse("cannot be a name; use lower-case letters, digits and _")
        return found

    def _chain(self, key: str) -> list[Reader]:
        """The case and the cases that it is based on, the original first."""
        keys = [key]
        while base := self._known(keys[0]).text_of("base", ""):
            reader = self._known(keys[0])
            if base not in self.tables:
                why = f"unknown case `{base}`{nearest(base, [*self.tables])}"
                raise reader.refuse(why, "base")
            if base in keys:
                ring = " -> ".join([*reversed(keys[: keys.index(base) + 1]), base])
                raise reader.refuse(f"is based on itself ({ring}); remove one `base`", "base")
            keys.insert(0, base)
        return [self._known(each) for each in keys]

    def _file(self, reader: Reader) -> Path:
        name = reader.text_of("scenario")
        path = self.folder / name
        if path.is_file():
            return path
        if name in shipped():
            return shipped()[name]
        files = sorted(each.name for each in self.folder.glob("*.toml") if each.name != FILE)
        raise reader.refuse(f"no such file {reading.shown(path)}{nearest(name, files)}", "scenario")

    def _edit(self, reader: Reader) -> Edit:
        sets = reader.table.get("set", {})
        if not isinstance(sets, dict):
            raise reader.refuse('must be a table, such as { "flows.bulk.count" = 5 }', "set")
        link = reader.text_of("link", "") or None
        aqm = reader.text_of("aqm", "")
        if not aqm:
            return Edit(tuple(set_pairs(sets)), link=link)
        try:
            brought = bring([relative_to(aqm, self.folder)], runs=True)
        except (InputError, ScenarioError) as error:
            raise reader.refuse(str(error), "aqm") from None
        return Edit(tuple(set_pairs(sets)), brought.aqms[0], link, tuple(brought.laws))


def _claims(
    key: str, reader: Reader, items: Mapping[str, Reader], cases: _Cases
) -> dict[str, list[ReadClaim]]:
    """The claims of each item."""
    found: dict[str, list[ReadClaim]] = {name: [] for name in items}
    counts: Counter[str] = Counter()
    for each in reader.array("claims"):
        name = each.text_of("item")
        if name not in items:
            raise each.refuse(f"unknown item `{name}`{nearest(name, [*items])}", "item")
        if "missing" in items[name].table:
            raise each.refuse(f"{name} is not covered; remove its `missing` or the claim", "item")
        counts[name] += 1
        own = f"{key}-{name}-{counts[name]}"
        found[name].append(folder_claims.read(own, each, cases.scopes(items[name])))
    return found


def _classes(scenario: _core.Scenario) -> list[str]:
    flows = json.loads(scenario.resolved_json())["flows"]
    return list(dict.fromkeys(flow["class"] for flow in flows))


def _item(
    name: str, reader: Reader, cases: _Cases, claims: Sequence[ReadClaim], usual: Seeds
) -> Item:
    reader.known("title", "cases", "seeds", "published_runs", "note", "missing", "figure")
    if not _ITEM.fullmatch(name):
        raise reader.refuse("cannot be a name; write a capital letter first, such as F1 or T2")
    title = reader.text_of("title")
    if missing := reader.text_of("missing", ""):
        return Item(name, title, missing=missing)
    scopes = cases.scopes(reader)
    wanted = [each for claim in claims for each in claim.wanted]
    figure = reader.text_of("figure", "cdf")
    if figure not in folder_values.FIGURES:
        why = f"`{figure}` is not a figure; write {' or '.join(folder_values.FIGURES)}"
        raise reader.refuse(why, "figure")
    keep = folder_values.keeps(wanted, figure)
    own = {key: replace(case, keep=keep) for key, case in cases.of(reader).items()}
    return Item(
        name,
        title,
        cases=lambda _profile: own,
        seeds=_seeds(reader, usual),
        published_runs=reader.text_of("published_runs", ""),
        measure=folder_values.measuring(wanted),
        figures=folder_values.drawing(
            name, title, {key: link for key, link in scopes.usual_link.items() if link}, figure
        ),
        tables=folder_values.tabling(wanted),
        note=reader.text_of("note", ""),
    )


def _seeds(reader: Reader, usual: Seeds) -> Seeds:
    table = reader.table.get("seeds")
    if table is None:
        return usual
    counts = table.values() if isinstance(table, dict) else ()
    if not counts or not all(type(count) is int and count > 0 for count in counts):
        raise reader.refuse("must be numbers, such as { quick = 2, full = 5 }", "seeds")
    seeds = reader.below(table, "seeds")
    seeds.known("quick", "full")
    return Seeds(table.get("quick", usual.quick), table.get("full", usual.full))
