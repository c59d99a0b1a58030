"""Converts measurement files of other tools to scenarios: `sojourn import FILE`.

A reader takes what its file contains and lists what is missing. Nothing is guessed silently: a
missing value is an option of the command, or an assumption that the scenario names.
"""

from sojourn.importing.measured import Measurement, StepCurve
from sojourn.importing.recognise import read
from sojourn.importing.scenario import Assumptions, Imported, imported

__all__ = ["Assumptions", "Imported", "Measurement", "StepCurve", "imported", "read"]
