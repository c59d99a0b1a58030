"""Measurement files of others, read into scenarios: `sojourn import FILE`.

A reader takes what its file holds and lists what the file cannot say. Nothing is guessed in
silence: a value that the scenario needs and the file has not is an option of the command, or an
assumption that the scenario names.
"""

from sojourn.importing.measured import Measurement, StepCurve
from sojourn.importing.recognise import read
from sojourn.importing.scenario import Assumptions, Imported, imported

__all__ = ["Assumptions", "Imported", "Measurement", "StepCurve", "imported", "read"]
