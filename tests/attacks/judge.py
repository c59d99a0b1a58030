"""`make attacks`: what attacks have found, run and judged again on the present core.

The scenarios of docs/attacks stay; their figures (`*.finding.json`) are measured again as
`sojourn attack` measures them, under the seeds of its search and under those that it has not seen.
Prints what docs/studies.md tells: the judged means with 95 % intervals; delays in seconds.
"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import sojourn
from sojourn import files
from sojourn.comparing.statistics import estimate
from sojourn.studies.attack_file import BADNESS
from sojourn.studies.attacking import judge, judged_facts

FINDINGS = Path(__file__).parents[2] / "docs" / "attacks"


def main() -> None:
    for path in sorted(FINDINGS.glob("*.finding.json")):
        name = path.name.partition(".")[0]
        facts = json.loads(path.read_text())
        facts |= measured(path.with_name(f"{name}.toml"), facts)
        files.write(path, json.dumps(facts, indent=1) + "\n")
        is_log = facts["worst"] == "delay"
        for aqm, ends in facts["judged"].items():
            shown = [f"{10**end if is_log else end:.3g}" for end in ends]
            print(f"{name}: {aqm} {shown[0]} ({shown[1]} to {shown[2]})", flush=True)


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
