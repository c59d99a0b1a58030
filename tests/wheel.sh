#!/bin/sh
# A plain user without a checkout: builds the wheel, installs it into an empty environment, runs there.
set -eu
python=$1
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
"$python" -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir "$scratch/dist" .
wheel=$(ls "$scratch"/dist/sojourn-*.whl)
case "$wheel" in
    *-abi3-*) ;;
    *) echo "the wheel is not abi3: $wheel" >&2; exit 1 ;;
esac
"$python" -m venv "$scratch/empty"
"$scratch/empty/bin/pip" install --quiet --disable-pip-version-check "$wheel"
cd "$scratch"
empty/bin/sojourn --version
empty/bin/sojourn run dumbbell-cubic --set duration=5s --set warmup=0s --json >run.json
empty/bin/python -c 'import json; json.load(open("run.json"))'
empty/bin/sojourn compare dumbbell-cubic --set duration=5s --set warmup=0s --aqm taildrop,codel --seeds 2 \
    --out compared >/dev/null
test -s compared/report.html
echo "the wheel works in an empty environment"
