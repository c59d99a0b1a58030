"""Custom laws in studies and searches: as plain data for workers, and set into scenarios.

A scenario, a study or a search never names code; the caller does, by ``--aqm mine.py:MyLaw`` or
``aqms=``. Workers load the law from its file and refuse one whose content has changed; the digest
is part of the name of a run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sojourn import _core
from sojourn.errors import InputError
from sojourn.loading import bring
from sojourn.loading.bring import AqmLike, AqmsLike

_QUEUE = re.compile(r"links\.(.+)\.queue")
_KIND = re.compile(r"\s*(?:fq\()?\s*([A-Za-z_]\w*)")


@dataclass(frozen=True)
class LawFile:
    """A custom law, for any machine with access to its file.

    Attributes:
        name: name of the law, in the text forms of AQMs.
        file: the file that has its code, an absolute path.
        source: code and digest, as manifests name it.
    """

    name: str
    file: str
    source: str

    def load(self) -> _core.CustomLaw:
        """The law.

        Raises:
            InputError: the file does not exist, or has changed since.
        """
        return bring.load(self.file, self.name, self.source)

    @property
    def written(self) -> str:
        """The law as `--aqm` names it."""
        return f"{self.file}:{self.name}" if self.file.endswith(".py") else self.file


def named(aqms: AqmsLike) -> tuple[list[str], tuple[LawFile, ...]]:
    """AQMs in canonical text form, with a law's name in place of its file, and these laws.

    Raises:
        InputError: an AQM is not a law, its file is unknown, or it imports other files, which the
            digest would not cover.
        ScenarioError: an AQM is not legal.
    """
    listed = bring.listed(aqms)
    texts = bring.bring(listed, runs=True).aqms
    return texts, tuple(dict.fromkeys(law for aqm in listed for law in _law_of(aqm)))


def _law_of(aqm: AqmLike) -> list[LawFile]:
    _, law = bring.bring_one(aqm)
    if law is None:
        return []
    file = bring.code_file(aqm)
    if file is None:
        raise InputError(
            f"aqms: {law.name} is not in a file that workers can load; give it as "
            f"mine.py:{law.name}"
        )
    if also := bring.imported_files(file):
        raise InputError(
            f"{file}: imports {also[0]}, which the names of runs would not cover; put all of the "
            "law into one file"
        )
    return [LawFile(law.name, str(file), law.source)]


def same_laws(wanted: Sequence[Mapping[str, str]], aqms: AqmsLike | None) -> tuple[LawFile, ...]:
    """The laws that a store needs, given again by the caller.

    Args:
        wanted: fields of each `LawFile`.
        aqms: given by the caller.

    Raises:
        InputError: one is missing, or its code is not that of the store.
    """
    given = {law.name: law for law in (named(aqms)[1] if aqms is not None else ())}
    for law in (LawFile(**each) for each in wanted):
        if law.name not in given:
            raise InputError(
                f"the runs used the law {law.name}; a store names no code, so give it again: "
                f"--aqm {law.written}"
            )
        if given[law.name].source != law.source:
            raise InputError(
                f"{given[law.name].file}: is not the code that made the runs of {law.name}; run "
                "the study again, which makes those that are missing"
            )
    return tuple(given[each["name"]] for each in wanted)


def split(
    sets: Mapping[str, object], laws: Sequence[LawFile]
) -> tuple[dict[str, object], tuple[tuple[str, str], ...]]:
    """Keys of a scenario's text, and by link the queues that have a custom law.

    A key of such a queue, such as ``links.bottleneck.queue.target``, becomes part of its text.
    """
    names = {law.name for law in laws}
    queues: dict[str, str] = {}
    for key, value in sets.items():
        at, kind = _QUEUE.fullmatch(key), _KIND.match(str(value))
        if at and kind and kind[1] in names:
            queues[at[1]] = str(value)
    plain = dict(sets)
    for link, text in queues.items():
        start = f"links.{link}.queue"
        del plain[start]
        for key in [key for key in plain if key.startswith(f"{start}.")]:
            joint = "," if ":" in text else ":"
            text += f"{joint}{key.removeprefix(start)[1:]}={plain.pop(key)}"  # noqa: PLW2901
        queues[link] = text
    return plain, tuple(queues.items())


def with_queues(
    scenario: _core.Scenario, queues: Sequence[tuple[str, str]], laws: Sequence[LawFile]
) -> _core.Scenario:
    """A scenario with custom laws in its queues; itself without any.

    Raises:
        InputError: a file is not there, or has changed since.
        ScenarioError: a queue is not legal.
    """
    if not queues:
        return scenario
    scenario = scenario.with_laws([law.load() for law in laws])
    for link, text in queues:
        scenario = scenario.with_queue(link, text)
    return scenario
