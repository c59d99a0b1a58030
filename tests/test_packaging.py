"""The files for package managers agree with pyproject.toml and Cargo.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
RECIPE = (ROOT / "packaging" / "conda" / "recipe.yaml").read_text(encoding="utf-8")


def read_toml(name):
    return tomllib.loads((ROOT / name).read_text(encoding="utf-8"))


def entries(section):
    """The entries of a list of the recipe's requirements."""
    found = re.search(rf"^  {section}:\n((?:    - .*\n)+)", RECIPE, re.MULTILINE)
    return [line.removeprefix("    - ") for line in found[1].splitlines()]


def test_the_conda_recipe_requires_what_the_wheel_does():
    project = read_toml("pyproject.toml")["project"]
    needed = [f"python {project['requires-python']}"]
    needed += [re.sub(r"(?=[<>=])", " ", text, count=1) for text in project["dependencies"]]
    # matplotlib without its windows has another name there.
    assert [text.replace("matplotlib-base", "matplotlib") for text in entries("run")] == needed
    (maturin,) = read_toml("pyproject.toml")["build-system"]["requires"]
    assert re.sub(r"(?=[<>=])", " ", maturin, count=1) in entries("host")


def test_versions_are_those_of_the_workspace():
    workspace = read_toml("Cargo.toml")["workspace"]
    version = workspace["package"]["version"]
    assert f'  version: "{version}"\n' in RECIPE
    for name, entry in workspace["dependencies"].items():
        if isinstance(entry, dict) and "path" in entry:
            assert entry.get("version", version) == version, name
