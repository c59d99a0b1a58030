"""The process that routes; nothing but the compiled core is imported.

Run as ``python -I -S route.py PATH-OF-CORE PLAN REPORTS CONTROL OUT``: a plan as JSON, the numbers
of two pipes, and a folder for results or nothing.
"""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from sys import argv

loader = ExtensionFileLoader("sojourn._core", argv[1])
spec = spec_from_loader(loader.name, loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
core.router_run(argv[2], f"/proc/self/fd/{argv[3]}", f"/proc/self/fd/{argv[4]}", argv[5])
