"""Searches: `tune` finds parameters of an AQM for a goal, `attack` its bad scenarios.

::

    import sojourn

    found = sojourn.search.tune(sojourn.search.read_tune("tune-pie"), "store")
    found = sojourn.search.attack(sojourn.search.read_attack("attack-codel"), "store")
"""

from sojourn.search.attack_file import read_attack
from sojourn.search.attacking import attack
from sojourn.search.tune_file import read_tune
from sojourn.search.tuning import tune

__all__ = ["attack", "read_attack", "read_tune", "tune"]
