"""Packages: wheels that are refused, targets of the release, versions in every packaging."""

import importlib.metadata
import re
import zipfile
from pathlib import Path

import pytest

import wheels

ROOT = Path(__file__).parent.parent


def wheel(folder, tag, library=b"", *, page=True):
    path = folder / f"sojourn-0.1.0-cp311-abi3-{tag}.whl"
    with zipfile.ZipFile(path, "w") as content:
        content.writestr("sojourn/_core.abi3.so", library)
        if page:
            content.writestr(wheels.PAGE, "page")
    return path


def test_a_wheel_of_another_platform_is_checked_and_said_not_to_be_run(tmp_path):
    row = wheels.check(wheel(tmp_path, "manylinux_2_17_riscv64", b"..GLIBC_2.4 GLIBC_2.17.."))
    assert row.startswith("| `manylinux_2_17_riscv64` | 2.17 | yes |")
    assert "not run" in row


@pytest.mark.parametrize(
    ("tag", "library", "page", "why"),
    [
        ("manylinux_2_17_riscv64", b"GLIBC_2.17", False, "has no page"),
        ("manylinux_2_17_riscv64", b"GLIBC_2.34", True, "needs GLIBC"),
        ("musllinux_1_2_riscv64", b"GLIBC_2.17", True, "needs glibc"),
    ],
)
def test_a_wheel_is_refused_without_its_page_or_for_another_libc(tmp_path, tag, library, page, why):
    with pytest.raises(AssertionError, match=why):
        wheels.check(wheel(tmp_path, tag, library, page=page))


def test_the_release_builds_what_make_wheels_does():
    made = re.findall(r"(\S+-linux-\w+):(\w+)", (ROOT / "Makefile").read_text(encoding="utf-8"))
    release = (ROOT / ".github/workflows/release.yml").read_text(encoding="utf-8")
    assert len(made) == 4
    assert re.findall(r"target: (\S+-linux-\w+), tag: (\w+)", release) == made


def test_packages_of_other_systems_have_this_version():
    version = importlib.metadata.version("sojourn")
    major, minor, _ = version.split(".")
    packaging = ROOT / "packaging"
    assert f'version: "{version}"' in (packaging / "conda/recipe.yaml").read_text()
    assert (packaging / "debian/changelog").read_text().startswith(f"sojourn ({version}-")
    # Another interface is another package (crates/capi/install.sh names the library).
    library = f"libsojourn-aqm-c{f'0.{minor}' if major == '0' else major}"
    assert f"\nPackage: {library}\n" in (packaging / "debian/control").read_text()
    assert (packaging / f"debian/{library}.install").is_file()
