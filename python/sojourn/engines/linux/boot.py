"""The first program of a guest, or of a run on the host; it imports only the compiled core.

Run as ``python -S boot.py PATH-OF-CORE FOLDER PATHS PLACE``, to start fast; PATHS is the module
search path, PLACE is ``guest``, ``uml`` or ``host``.
"""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from sys import argv, modules, path

loader = ExtensionFileLoader("sojourn._core", argv[1])
spec = spec_from_loader(loader.name, loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
# Laws in files are loaded with the parent's copy of this package.
modules[loader.name] = core
path[:] = argv[3].split(":")
core.linux_host(argv[2], argv[4])
