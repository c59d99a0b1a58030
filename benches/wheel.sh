#!/bin/sh
# Counts the reference cases as `make wheel` compiles: by a profile of benches/train.py, which runs
# in the Python package. The bench is built together with the package both times, as only crates
# with the same features in the same build have functions of the same names.
set -eu
cd "$(dirname "$0")/.."
tools="$(rustc --print sysroot)/lib/rustlib/$(rustc --print host-tuple)/bin"
if [ ! -x "$tools/llvm-profdata" ]; then
    echo "llvm-profdata is missing: rustup component add llvm-tools" >&2
    exit 1
fi
scratch="${CARGO_TARGET_DIR:-$PWD/target}/wheel"
build() {
    cargo build --release --quiet --target-dir "$scratch" \
        --package sojourn-benches --package sojourn-python "$@"
}

rm -rf "$scratch/profile" "$scratch/python"
RUSTFLAGS="-Cprofile-generate=$scratch/profile" build --lib
mkdir -p "$scratch/python"
cp -R python/sojourn "$scratch/python/"
cp "$scratch/release/lib_core.so" "$scratch/python/sojourn/_core.abi3.so"
PYTHONPATH="$scratch/python" "${PYTHON:-python3}" benches/train.py
"$tools/llvm-profdata" merge --output "$scratch/learnt.profdata" "$scratch/profile"

RUSTFLAGS="-Cprofile-use=$scratch/learnt.profdata" build --bin sojourn-benches
"$scratch/release/sojourn-benches" reference write-wheel
