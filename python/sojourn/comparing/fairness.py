"""Whether contenders of one family differ in more than their law, and how to make it fair."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sojourn import _core
from sojourn.comparing import shaping
from sojourn.comparing.contenders import Contender, contenders
from sojourn.comparing.idle import alike
from sojourn.describing.formatting import counted
from sojourn.describing.queues import queue_of
from sojourn.errors import InputError, ScenarioError

if TYPE_CHECKING:
    from sojourn.comparing.compared_runs import ComparedRuns
    from sojourn.running.result import Result

# Laws that control the same quantity in the same way; their targets and update intervals should be
# equal.
_FAMILIES = (
    ("pie", "madpie", "pi2", "dualpi2"),
    ("codel", "cobalt", "cake"),
    ("red", "ared"),
)
# Laws that are variants of one another; their dialects should be equal too.
_VARIANTS = (("pie", "madpie"), ("codel",), ("red", "ared"))
# Two names of the same rules: RFC 8290 runs the law of RFC 8289 in its queues.
_SAME_RULES = {"rfc8290": "rfc8289"}


@dataclass(frozen=True)
class Unfair:
    """Contenders of one family that differ in more than their law.

    Attributes:
        names: names of the contenders.
        differing: the settings that differ: ``dialect``, ``target``, ``tupdate``, ``interval``.
        sentence: the warning.
        command: a command for a fair comparison; may be empty.
    """

    names: list[str]
    differing: list[str]
    sentence: str
    command: str


def unfair(comparison: ComparedRuns) -> list[Unfair]:
    """One warning for every family whose contenders differ in more than their law."""
    found = []
    of = contenders(comparison)
    for family in _FAMILIES:
        members = [each for each in of if law(each.kind) in family]
        differing = _differing(members)
        if differing:
            names = [each.name for each in members]
            command = _command(comparison, members)
            found.append(Unfair(names, differing, _sentence(members, differing), command))
    return found


def warnings(comparison: ComparedRuns) -> list[str]:
    """The warnings as sentences, each with the command for a fair comparison."""
    return [
        each.sentence + (f" A fair comparison: {each.command}" if each.command else "")
        for each in unfair(comparison)
    ]


def all_warnings(comparison: ComparedRuns) -> list[str]:
    """Probable mistakes: in the scenario, between contenders, or in the runs."""
    made = [runs for aqm in comparison.aqms if (runs := comparison.of(aqm))]
    # The scenario's own AQM need not be one of the contenders.
    of_scenario = [
        text for text in comparison.scenario.warnings
        if all(any(text in run.warnings for run in runs) for runs in made)
    ]  # fmt: skip
    between = [shaping.warning(comparison.shaped, comparison.metrics), *_alike(comparison)]
    of_runs = {aqm: [*_kinds(comparison.of(aqm), of_scenario)] for aqm in comparison.aqms}
    first, *others = of_runs.values()
    common = [text for text in first if others and all(text in each for each in others)]
    return [
        *of_scenario,
        *common,
        *filter(None, between),
        *warnings(comparison),
        *(
            f"{aqm}: {text}" for aqm, texts in of_runs.items() for text in texts
            if text not in common
        ),
    ]  # fmt: skip


def _alike(comparison: ComparedRuns) -> Iterator[str]:
    """Contenders that give the same runs under all seeds."""
    for names in alike(comparison):
        yield (
            f"{_joined(names)} give the same runs, packet by packet, so nothing compares them: "
            f"their AQMs on link {comparison.link} had nothing to do, or do the same; look at "
            "the load, their thresholds and --link"
        )


def _kinds(results: Sequence[Result], known: Sequence[str]) -> Iterator[str]:
    """One warning of each kind, with the number of other runs that have a similar one."""
    kinds: dict[str, dict[int, str]] = {}
    for run, result in enumerate(results):
        for text in result.warnings:
            if text not in known:
                kinds.setdefault(without_numbers(text), {}).setdefault(run, text)
    for first, *others in (list(texts.values()) for texts in kinds.values()):
        yield first + (f" (and in {counted(len(others), 'more run')})" if others else "")


def without_numbers(warning: str) -> str:
    """The kind of a warning: the same for warnings that differ in their numbers."""
    return re.sub(r"\d[\d.,]*", "", warning)


def law(kind: str) -> str:
    """The law of a kind of AQM: the one inside ``fq(...)`` or inside a preset such as fq_pie."""
    return kind.removeprefix("fq(").removesuffix(")").removeprefix("fq_")


def share(
    aqms: Sequence[str],
    settings: Sequence[tuple[str, str]],
    laws: Sequence[_core.CustomLaw] = (),
) -> list[str]:
    """AQMs with the common settings that they have parameters for.

    Args:
        aqms: AQMs in text form.
        settings: names and values of parameters, or ``dialect`` and its name.
        laws: custom laws that the AQMs name.

    Raises:
        InputError: no AQM has such a parameter, or one sets it to another value.
    """
    for key, value in settings:
        changed = [_with(aqm, key, value, laws=laws) for aqm in aqms]
        if all(new is None for new in changed):
            raise InputError(f"--fair {key}={value}: none of {', '.join(aqms)} can have it")
        aqms = [new or aqm for new, aqm in zip(changed, aqms, strict=True)]
    return list(aqms)


def parse(text: str) -> list[tuple[str, str]]:
    """Read ``target=20ms,tupdate=15ms`` as names and values.

    Raises:
        InputError: an item has no ``=``.
    """
    pairs = [item.partition("=") for item in text.split(",")]
    for key, equals, value in pairs:
        if not (key.strip() and equals and value.strip()):
            raise InputError(f"--fair {text}: write NAME=VALUE, such as target=20ms")
    return [(key.strip(), value.strip()) for key, _, value in pairs]


def _differing(members: Sequence[Contender]) -> list[str]:
    """Settings in which contenders with different laws have no value in common."""
    found = []
    for names in _VARIANTS:
        variants = [each for each in members if law(each.kind) in names]
        if not _in_common(variants, lambda each: _SAME_RULES.get(each.dialect, each.dialect)):
            found.append("dialect")
    if not _in_common(members, lambda each: each.target):
        found.append("target")
    if not _in_common(members, lambda each: each.update[1]):
        found.append(members[0].update[0] or "update interval")
    return found


def _in_common(members: Sequence[Contender], value: Callable[[Contender], str]) -> bool:
    """Whether some value occurs with every kind; variants of one kind are compared on purpose."""
    of_kind: dict[str, set[str]] = {}
    for each in members:
        of_kind.setdefault(each.kind, set()).add(value(each))
    return not of_kind or bool(set.intersection(*of_kind.values()))


def _sentence(members: Sequence[Contender], differing: Sequence[str]) -> str:
    each = "; ".join(f"{member.name} has {member.text()}" for member in members)
    return (
        f"{_joined([member.name for member in members])} differ in {_joined(differing)}, not only "
        f"in their law ({each}); what is attributed to the law may be due to these."
    )


def _joined(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _command(comparison: ComparedRuns, members: Sequence[Contender]) -> str:
    """The command with the settings that the family can share; empty if the family shares none."""
    if len({each.engine for each in members}) > 1:
        return ""
    scenario, link = comparison.scenario, comparison.link
    names = {each.name for each in members}
    aqms = _same_dialect(comparison.aqms, members)
    for key in ("target", *dict.fromkeys(each.update[0] for each in members)):
        places = [place for place, old in enumerate(comparison.aqms) if old in names]
        settings = [
            queue_of(json.loads(scenario.with_queue(link, aqms[place]).resolved_json()), link)
            for place in places
        ]
        values = [queue["settings"].get(key) for queue in settings]
        if key and len(set(values)) > 1:
            for place in places:
                aqms[place] = _with(aqms[place], key, values[0], force=True) or aqms[place]
    listed = [_with_file(comparison, aqm) for aqm in aqms]
    is_other = aqms != list(comparison.aqms)
    return _written(comparison, listed) if is_other and all(listed) else ""


def _with_file(comparison: ComparedRuns, aqm: str) -> str:
    """An AQM as a command-line argument: a custom law by its file; empty without a file."""
    try:
        scenario = comparison.scenario.with_queue(comparison.link, aqm)
    except ScenarioError:  # read back from files, without the law
        return ""
    queue = queue_of(json.loads(scenario.resolved_json()), comparison.link)
    source = queue.get("source")
    if source is None:
        return aqm
    kind, _, code = source.partition(" sha256=")[0].partition(":")
    is_file = kind == "library" or ".py:" in code
    return re.sub(rf"\b{law(queue['kind'])}\b", code, aqm, count=1) if is_file else ""


def _same_dialect(aqms: Sequence[str], members: Sequence[Contender]) -> list[str]:
    """The AQMs with the dialect of the law that has the fewest dialects, if its variants have it.

    Of laws with equally few, the later one in `_VARIANTS`, which is built on the other.
    """
    known = {entry["name"]: [d["name"] for d in entry["dialects"]] for entry in _core.aqms()}
    changed = dict(zip(aqms, aqms, strict=True))
    for names in _VARIANTS:
        variants = [each for each in members if law(each.kind) in names]
        if _in_common(variants, lambda each: _SAME_RULES.get(each.dialect, each.dialect)):
            continue
        rarest = min(
            variants,
            key=lambda each: (len(known[law(each.kind)]), -names.index(law(each.kind))),
        )
        for each in variants:
            if each.dialect != rarest.dialect in known[law(each.kind)]:
                new = _with(each.name, "dialect", rarest.dialect, force=True)
                changed[each.name] = new or each.name
    return list(changed.values())


def _with(
    aqm: str,
    key: str,
    value: str,
    *,
    force: bool = False,
    laws: Sequence[_core.CustomLaw] = (),
) -> str | None:
    """An AQM with a parameter or dialect; None if it lacks that parameter or dialect.

    Raises:
        InputError: it already has another value.
    """
    head, colon, params = aqm.partition(":")
    if key == "dialect":
        own = re.search(r"@(\w+)", head)
        if own and own[1] != value and not force:
            raise InputError(f"--fair dialect={value}: {aqm} says otherwise; leave one out")
        bare = re.sub(r"@\w+", "", head)
        inner = bare.removesuffix(")")
        text = f"{inner}@{value}{')' * (len(bare) - len(inner))}{colon}{params}"
    else:
        given = dict(item.partition("=")[::2] for item in params.split(",") if item)
        if given.get(key, value) != value and not force:
            raise InputError(f"--fair {key}={value}: {aqm} says otherwise; leave one out")
        items = ",".join(f"{name}={text}" for name, text in (given | {key: value}).items())
        text = f"{head}:{items}"
    return text if _is_known(head, key, value, laws) else None


def _is_known(head: str, key: str, value: str, laws: Sequence[_core.CustomLaw]) -> bool:
    name = law(re.sub(r"@\w+", "", head))
    own = [_core.describe_aqm(law.name, list(laws)) for law in laws if law.name == name]
    entry = next((entry for entry in [*own, *_core.aqms()] if entry["name"] == name), None)
    if entry is None:
        return False
    if key == "dialect":
        return any(dialect["name"] == value for dialect in entry["dialects"])
    return any(param["name"] == key for param in entry["params"])


def _written(comparison: ComparedRuns, aqms: Sequence[str]) -> str:
    scenario = comparison.scenario
    words = ["sojourn", "compare", scenario.origin or scenario.name, "--aqm", ",".join(aqms)]
    for key, value in scenario.sets:
        words += ["--set", f"{key}={value}"]
    words += ["--seeds", str(len(comparison.seeds))]
    return shlex.join(words)
