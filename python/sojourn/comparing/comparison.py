"""Running several AQMs on one link under the same seeds; figures and the report of the result."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from sojourn import files
from sojourn.comparing.compared_runs import ComparedRuns
from sojourn.comparing.fairness import all_warnings
from sojourn.comparing.own_metrics import OwnMetric
from sojourn.errors import named

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from sojourn.plots.background import Drawers

DEFAULT_SEEDS = 10


class Comparison(ComparedRuns):
    """Results of several AQMs on one link under the same seeds, with figures and a report.

    Attributes:
        scenario: the scenario; its AQM on `link` is replaced by each of `aqms`.
        link: the link whose AQM is compared.
        aqms: AQMs in their text form; the first is the baseline of all differences.
        seeds: the seeds, the same for every AQM.
        results: per AQM one result per seed; None where a run failed.
        failures: one sentence per failed run.
    """

    def figures(self) -> dict[str, Figure]:
        """Every figure for which values exist, by name."""
        from sojourn import plots

        return plots.draw_all(self)

    @property
    def warnings(self) -> list[str]:
        """Probable mistakes: in the scenario, between contenders, or in the runs."""
        return all_warnings(self)

    def words(self) -> list[str]:
        """The significant differences, in one sentence per AQM."""
        from sojourn.comparing.conclusions import sentences

        return sentences(self)

    def save(
        self,
        folder: str | Path,
        *,
        formats: Sequence[str] = ("svg", "png"),
        size: Literal["page", "column"] = "page",
        drawing: Drawers | None = None,
    ) -> list[str]:
        """Write ``report.html``, ``figures/``, and ``comparison.json`` last; returns their names.

        Files of an earlier comparison are replaced by rename; other files stay. The runs themselves
        are saved by `compare` while it works, if it is given a folder.

        Args:
            folder: the folder.
            formats: formats of the figures: ``svg``, ``png``, ``pdf``, ``pgf`` (needs LaTeX); none
                for the report alone, whose charts do not need matplotlib.
            size: whether the figures are as wide as a paper's page or as its column.
            drawing: the drawers given to `compare`, for these formats and this size.

        Raises:
            InputError: the format or size is unknown, LaTeX is needed and missing, the folder
                cannot be made, or another process writes to it.
            OSError: the disk is full.
        """
        from sojourn.report import save

        target = named(folder, "folder")
        with files.writing_to(target):
            return save(self, target, formats, size, drawing)

    def __repr__(self) -> str:
        """The table and the conclusions."""
        from rich.console import Console

        from sojourn.cli.tables import print_comparison

        console = Console(width=100, force_terminal=False, color_system=None)
        with console.capture() as captured:
            print_comparison(self, console)
        return captured.get().rstrip()

    @classmethod
    def open(cls, folder: str | Path, *, metrics: Sequence[str | OwnMetric] = ()) -> Comparison:
        """Read back what `compare` saved in its folder, to draw it again without new runs.

        Args:
            folder: the `out` of `compare`.
            metrics: custom metrics, computed from the saved tables.

        Raises:
            InputError: the folder holds no comparison, or a run of it is missing or damaged.
        """
        from sojourn.comparing.reopened import reopen

        return reopen(cls, named(folder, "folder"), metrics)

    def _repr_html_(self) -> str:
        from sojourn.report import fragment

        return fragment(self)
