"""The cost of a congestion control in Python, for docs/how-to/python-cc.md.

Run as ``python benches/python_cc.py`` with a release build of the core: one flow at 100 Mbit/s for
20 s, the example of the page against the built-in Reno, best of seven runs.
"""

import re
import sys
import tempfile
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import sojourn

PAGE = Path(__file__).parent.parent / "docs" / "how-to" / "python-cc.md"
SCENARIO = """
name = "python-cc"
duration = "20s"
[links.bottleneck]
rate = "100mbit"
delay = "10ms"
buffer = "1bdp"
queue = "taildrop"
[[flows]]
name = "bulk"
path = ["bottleneck"]
rtt = "40ms"
cc = "reno"
app = { kind = "bulk" }
"""
RUNS = 7


def example(folder: Path) -> type:
    """The page's class without the run below it, from a file, as controls must be."""
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert code is not None, "the page has an example"
    file = folder / "example.py"
    file.write_text(code[1].split("result = ")[0])
    spec = spec_from_file_location("example", file)
    assert spec is not None and spec.loader is not None, "a file of Python can be imported"
    module = sys.modules["example"] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Aimd


def best(scenario: sojourn.Scenario, **options: object) -> float:
    """Give the shortest of the runs' times, in seconds."""
    times = []
    for _ in range(RUNS):
        began = time.perf_counter()
        sojourn.run(scenario, **options)
        times.append(time.perf_counter() - began)
    return min(times)


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as folder:
        measure(example(Path(folder)))


def measure(aimd: type) -> None:
    """Print the cost of the class."""
    acks = 0

    class Counting(aimd):
        def on_ack(self, ack: sojourn.control.Ack) -> None:
            nonlocal acks
            acks += 1
            super().on_ack(ack)

    scenario = sojourn.Scenario.load(SCENARIO)
    sojourn.run(scenario, ccs={"bulk": Counting})
    reno, python = best(scenario), best(scenario, ccs={"bulk": aimd})
    print(f"{acks} acknowledgements; reno {reno * 1e3:.1f} ms, python {python * 1e3:.1f} ms")
    print(f"{(python - reno) / acks * 1e6:.2f} us per acknowledgement, {python / reno:.1f} times")


if __name__ == "__main__":
    main()
