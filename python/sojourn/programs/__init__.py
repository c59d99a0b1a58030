"""Unmodified programs on the guest kernel, in virtual time, behind any AQM.

The programs replace one group of flows of a scenario and use that group's path: the link with its
AQM, the reverse path, delays and ECN. A host whose name begins with ``server`` is in front of the
link, one whose name begins with ``client`` behind it::

    import sojourn

    commands = {"server": "python3 -m http.server 8000", "client": "curl -sO http://server:8000/f"}
    result = sojourn.run_programs("line.toml", commands, aqms="fq_codel")
    result.programs                          # an Arrow table: host, start, end, exit code, output

    on = sojourn.programs.engine(commands)   # for `sojourn.compare` and the like
    sojourn.compare("line.toml", ["taildrop", "fq_codel"], seeds=5, engine=on)
"""

from __future__ import annotations

from sojourn.programs.running import engine, run_programs
from sojourn.programs.wish import Programs

__all__ = ["Programs", "engine", "run_programs"]
