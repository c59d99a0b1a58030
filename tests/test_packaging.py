"""The files for package managers agree with pyproject.toml and Cargo.toml."""

import re
import tomllib
from pathlib import Path

import crates

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


def test_published_crates_have_what_crates_io_needs():
    known = read_toml("Cargo.toml")["workspace"]["dependencies"]
    names = crates.published(read_toml("Cargo.toml"))
    assert {"sojourn-aqm", "sojourn-capi", "sojourn-endpoint", "sojourn-testing"} <= set(names)
    for name in names:
        folder = known[name]["path"]
        manifest = read_toml(f"{folder}/Cargo.toml")
        package = manifest["package"]
        assert (ROOT / folder / package["readme"]).is_file(), name
        for file in ("LICENSE-MIT", "LICENSE-APACHE"):
            assert (ROOT / folder / file).is_file(), name
        for field in ("version", "license", "repository", "homepage", "rust-version"):
            assert package[field] == {"workspace": True}, (name, field)
        assert package["metadata"]["docs"]["rs"] == {"all-features": True}, name
        # https://doc.rust-lang.org/cargo/reference/manifest.html#the-keywords-field
        assert 1 <= len(package["keywords"]) <= 5, name
        assert all(len(word) <= 20 for word in package["keywords"]), name
        assert package["description"], name
        assert package["categories"], name
        ours = {each for each in manifest["dependencies"] if each.startswith("sojourn-")}
        assert ours <= set(names), name
