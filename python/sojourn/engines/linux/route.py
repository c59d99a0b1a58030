"""The process that routes; nothing but the compiled core is imported.

Run as ``python -I -S route.py PATH-OF-CORE PLAN REPORTS CONTROL OUT PATHS``: a plan as JSON, the
numbers of two pipes, a folder for results or nothing, and where modules are found.
"""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from sys import argv, modules, path

loader = ExtensionFileLoader("sojourn._core", argv[1])
spec = spec_from_loader(loader.name, loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
# Laws in files are loaded with the package around this core, from where our parent has it.
modules[loader.name] = core
path[:] = argv[6].split(":")
core.router_run(argv[2], f"/proc/self/fd/{argv[3]}", f"/proc/self/fd/{argv[4]}", argv[5])
