"""Studies: one file describes a sweep; it runs on any executor and keeps every run once.

::

    import sojourn

    study = sojourn.study.read("aqm-load-rtt")
    results = sojourn.study.run_study(study, "store")     # goes on where an earlier call stopped
    results.to_arrow()                                        # an Arrow table, one row per run
"""

from sojourn.study.definition import Study, parse, read
from sojourn.study.plan import plan_study
from sojourn.study.results import Results, open_results
from sojourn.study.running import run_study

__all__ = ["Results", "Study", "open_results", "parse", "plan_study", "read", "run_study"]
