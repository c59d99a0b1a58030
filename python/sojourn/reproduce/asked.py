"""Variants that a reader asks for: other keys or AQMs, in all cases of an item or in some.

They are measured in addition to the paper's own reading and shown next to the published values; no
score includes them.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

from sojourn.describing.library import Sets, set_pairs
from sojourn.errors import InputError
from sojourn.loading.bring import AqmsLike, Brought, bring, listed
from sojourn.reproduce.edits import Edit, plain_text, queue_link
from sojourn.reproduce.extract import RECORDS
from sojourn.reproduce.paper import Item, ItemVariant, Paper, Profile

Selected = list[tuple[Paper, list[Item]]]


@dataclass(frozen=True)
class Change:
    """The changes that a reader asks for.

    Attributes:
        sets: dotted keys with values, as for `sojourn.run`.
        aqms: see `sojourn.compare`; each is a variant.
        link: the link that gets the AQM; by default the only one, or ``bottleneck``.
        cases: a pattern for the keys of the cases that change; the others stay as the paper has
            them.
    """

    sets: Sets = ()
    aqms: AqmsLike = ()
    link: str | None = None
    cases: str = "*"


def with_asked(selected: Selected, change: Change, profile: Profile) -> Selected:
    """The items with a variant for each AQM, or one for the keys alone.

    Args:
        selected: papers and items.
        change: the reader's changes; an empty change leaves the items as they are.
        profile: quick or full.

    Raises:
        InputError: a key cannot be set here, an AQM or its file is not legal, no item runs
            anything, or no case fits the pattern.
    """
    sets = tuple(set_pairs(change.sets))
    brought = bring(listed(change.aqms), runs=True) if change.aqms else Brought([], [])
    if not sets and not brought.aqms:
        if change.cases != "*" or change.link is not None:
            raise InputError("--cases and --link say where --set or --aqm changes; give one")
        return selected
    _check(sets, has_aqm=bool(brought.aqms))
    _check_cases(selected, change.cases, profile)
    variants = tuple(_variants(sets, brought, change))
    return [
        (paper, [_with_variants(item, variants, profile) for item in items])
        for paper, items in selected
    ]


def _with_variants(item: Item, variants: tuple[ItemVariant, ...], profile: Profile) -> Item:
    if not item.cases(profile):
        return item
    return replace(item, variants=item.variants + variants)


def _check(sets: Sequence[tuple[str, str]], *, has_aqm: bool) -> None:
    """Refuse keys that would be lost: a reproduction sets them itself, or an AQM replaces them."""
    for key, _value in sets:
        if key == "seed":
            raise InputError("--set seed: every case runs under seeds 1 to N; use --seeds N")
        if key.removeprefix("record.") in RECORDS.values() and key.startswith("record."):
            raise InputError(f"--set {key}: an item records what it measures; leave it out")
        if has_aqm and queue_link(key):
            raise InputError(
                f"--set {key}: --aqm replaces the queue; write the parameter there, as in "
                "--aqm codel:target=5ms"
            )


def _check_cases(selected: Selected, pattern: str, profile: Profile) -> None:
    names = [f"{paper.key}:{item.id}" for paper, items in selected for item in items]
    keys = dict.fromkeys(
        key for _, items in selected for item in items for key in item.cases(profile)
    )
    if not keys:
        raise InputError(f"reproduce {', '.join(names)}: runs nothing that could be changed")
    if not any(fnmatchcase(key, pattern) for key in keys):
        raise InputError(f"--cases {pattern}: fits no case; there are: {', '.join(keys)}")


def _variants(
    sets: tuple[tuple[str, str], ...], brought: Brought, change: Change
) -> list[ItemVariant]:
    found: dict[str, ItemVariant] = {}
    for aqm in brought.aqms or [""]:
        key = "_".join(["variant", *re.findall(r"[a-z0-9]+", (aqm or "set").lower())])
        while key in found:
            key += "_"
        edit = Edit(sets, aqm, change.link, tuple(brought.laws))
        found[key] = ItemVariant(key, _what(edit, change.cases), edit=edit, cases=change.cases)
    return list(found.values())


def _what(edit: Edit, cases: str) -> str:
    """The changes of a variant, for readers: ``codel; links.bottleneck.rate=20mbit``."""
    parts = [edit.aqm, *(f"{key}={plain_text(value)}" for key, value in edit.sets)]
    text = "; ".join(part for part in parts if part)
    return text if cases == "*" else f"{text}; in the cases {cases}"
