"""The router's process, which imports only the compiled core.

Run as ``python -I -S route.py PATH-OF-CORE PLAN REPORTS CONTROL OUT PATHS``: the descriptors of a
file with the plan as JSON and of two pipes, a folder for results or an empty text, and the module
search path.
"""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from os import fdopen
from sys import argv, modules, path

loader = ExtensionFileLoader("sojourn._core", argv[1])
spec = spec_from_loader(loader.name, loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
# Laws in files are loaded with the parent's copy of this package.
modules[loader.name] = core
path[:] = argv[6].split(":")
with fdopen(int(argv[2]), encoding="utf-8") as plan:
    text = plan.read()
core.router_run(text, f"/proc/self/fd/{argv[3]}", f"/proc/self/fd/{argv[4]}", argv[5])
