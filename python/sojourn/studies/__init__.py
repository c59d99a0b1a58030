"""Studies: one file describes a sweep; it runs on any executor and keeps every run once.

::

    from sojourn import studies

    study = studies.read("aqm-load-rtt")
    table = studies.run(study, "store")     # goes on where an earlier call stopped
    table.wide()                            # an Arrow table, one row per run
"""

from sojourn.studies.results import Results, open_results
from sojourn.studies.running import run
from sojourn.studies.study import Study, parse, read

__all__ = ["Results", "Study", "open_results", "parse", "read", "run"]
