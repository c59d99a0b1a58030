#!/bin/sh
# Acts like a user without a checkout: builds the wheel, installs it into an empty environment and
# runs there. The profile is cargo's: `dev` shares the build of the tests, `release` is for users;
# both give the recorded digests.
#
#     sh tests/wheel.sh PYTHON [dev|release]
set -eu
python=$1
export MATURIN_PEP517_ARGS="--profile ${2:-release}"
cd "$(dirname "$0")/.."
root=$PWD
expected=$(sed -n 's/^dumbbell-cubic as-shipped //p' testdata/fingerprints.txt)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps \
    --wheel-dir "$scratch/dist" .
wheel=$(ls "$scratch"/dist/sojourn-*.whl)
case "$wheel" in
    *-abi3-*) ;;
    *) echo "the wheel is not abi3: $wheel" >&2; exit 1 ;;
esac
"$python" -m venv "$scratch/empty"
"$scratch/empty/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$scratch"
empty/bin/sojourn --version
empty/bin/sojourn run dumbbell-cubic --set duration=30s --json >run.json
digest=$(empty/bin/python -c 'import json; print(json.load(open("run.json"))["digest"])')
if [ "$digest" != "$expected" ]; then
    echo "dumbbell-cubic gives $digest, on record is $expected" >&2
    exit 1
fi
empty/bin/sojourn compare dumbbell-cubic --set duration=5s --set warmup=0s \
    --aqm taildrop,codel --seeds 2 --out compared >/dev/null
test -s compared/report.html
# The sample project of docs/how-to/testing.md, with the plugin as pytest finds it.
empty/bin/pip install --quiet --disable-pip-version-check pytest
cp -R "$root/examples/ci" project
(cd project && ../empty/bin/sojourn test . && ../empty/bin/python -m pytest --quiet)
echo "the wheel works in an empty environment"
