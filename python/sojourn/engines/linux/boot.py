"""The first program of a guest, or of a run on the host; nothing but the compiled core is imported.

Run as ``python -S boot.py PATH-OF-CORE FOLDER PATHS PLACE``, so that it starts fast; PATHS is
where modules are found, PLACE is ``guest``, ``uml`` or ``host``.
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
path[:] = argv[3].split(":")
core.linux_host(argv[2], argv[4])
