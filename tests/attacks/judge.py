"""`make attacks`: runs and judges the findings of attacks again on the present core.

The scenarios of docs/results/attacks stay unchanged; their figures (`*.finding.json`) are measured
as `sojourn attack` does, under the seeds of its search and under held-out seeds. The judged means
with 95 % intervals go into the table of docs/how-to/studies.md."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import findings_table

import sojourn
from sojourn import files
from sojourn.comparing.statistics import estimate
from sojourn.search.attack_file import BADNESS
from sojourn.search.attacking import judge, judged_facts


def main() -> None:
    for name, before in findings_table.findings().items():
        print(name, flush=True)
        path = findings_table.DOCS / "results" / "attacks" / f"{name}.toml"
        facts = before | measured(path, before)
        files.write(path.with_suffix(".finding.json"), json.dumps(facts, indent=1) + "\n")
    page = findings_table.PAGE
    files.write(page, findings_table.rewritten(page.read_text()))


def measured(scenario: Path, facts: dict[str, Any]) -> dict[str, Any]:
    """The figures of one finding."""
    aqm, *others = aqms = [facts["aqm"], *facts["against"]]
    first, last = facts["judged_seeds"]
    seeds = [*range(1, facts["seeds"] + 1), *range(first, last + 1)]
    how, link = BADNESS[facts["worst"]][0], facts["link"]

    def bad(aqm: str, seed: int) -> float:
        sets = {f"links.{link}.queue": aqm}
        run = sojourn.run(scenario, seed=seed, sets=sets, store=None).summary
        return how(run, f"queue/{link}", tuple(facts["classes"]))

    with ThreadPoolExecutor(2) as threads:
        found = {aqm: list(threads.map(bad, [aqm] * len(seeds), seeds)) for aqm in aqms}
    searched = {aqm: estimate(values[: facts["seeds"]]).mean for aqm, values in found.items()}
    unseen = {aqm: values[facts["seeds"] :] for aqm, values in found.items()}
    return {
        "score": searched[aqm] - min(searched[other] for other in others),
        "badness": searched,
        **judged_facts(judge(unseen, aqm, others)),
    }


if __name__ == "__main__":
    main()
