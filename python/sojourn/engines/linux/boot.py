"""The first program of a guest, or of a run on the host; nothing but the compiled core is imported.

Run as ``python -I -S boot.py PATH-OF-CORE FOLDER [private]``, so that it starts fast.
"""

from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader
from sys import argv

loader = ExtensionFileLoader("sojourn._core", argv[1])
spec = spec_from_loader(loader.name, loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
core.linux_host(argv[2], argv[3:] == ["private"])
