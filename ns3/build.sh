#!/bin/sh
# Builds the module against an installed ns-3, and runs its tests and its example.
#
#   sh ns3/build.sh [build|test]     NS3_PREFIX  an installed ns-3; else the wheel of PyPI, which is
#                                                kept in the user's cache
#                                    NS3_BUILD   where to build; else target/ns3
set -eu

tree=$(cd "$(dirname "$0")/.." && pwd)
build=${NS3_BUILD:-$tree/target/ns3}
version=3.44.post0
cache=${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/ns3-$version
python=${PYTHON:-python3}

say() { echo "ns3: $*" >&2; exit 1; }
needs() { command -v "$1" > /dev/null || say "$1 is not installed; $2"; }

needs cmake "Debian: apt install cmake"
needs "${CXX:-c++}" "Debian: apt install g++"
echo 'int main() {}' | "${CXX:-c++}" -x c++ -o /dev/null - 2> /dev/null ||
    say "the C++ compiler ${CXX:-c++} cannot compile a program; name another: CXX=g++"

# `pip install` would compile the Python binding for minutes; the wheel's headers, libraries and
# CMake files are all that C++ needs.
unpack_wheel() {
    [ "$(uname -s) $(uname -m)" = "Linux x86_64" ] ||
        say "the wheel is for Linux on x86-64; install ns-3 and set NS3_PREFIX"
    needs "$python" "Debian: apt install python3 python3-pip"
    new=$cache.$$
    mkdir -p "$new"
    trap 'rm -rf "$new"' EXIT
    "$python" -m pip download --quiet --no-deps --dest "$new" --only-binary :all: \
        --python-version 311 --implementation cp --abi cp311 \
        --platform manylinux_2_28_x86_64 "ns3==$version" ||
        say "the wheel ns3 $version cannot be downloaded; install ns-3 and set NS3_PREFIX"
    "$python" -m zipfile -e "$new"/*.whl "$new"
    rm "$new"/*.whl
    mv "$new" "$cache"
    trap - EXIT
}

if [ -z "${NS3_PREFIX:-}" ]; then
    [ -d "$cache/ns3/lib64" ] || unpack_wheel
    NS3_PREFIX=$cache/ns3
fi
cmake -S "$tree/ns3" -B "$build" -DCMAKE_PREFIX_PATH="$NS3_PREFIX" -U'ns3_*' > /dev/null
cmake --build "$build" --parallel 2
[ "${1:-test}" = test ] || exit 0
for suite in $("$build/sojourn-test-runner" --print-test-name-list); do
    "$build/sojourn-test-runner" --suite="$suite" --verbose
done
sh "$tree/ns3/test/bad-input.sh" "$build/sojourn-dumbbell"
"$build/sojourn-dumbbell" --aqm=pi2 --seconds=10

# As for a user's script: the module is installed below a prefix, and the script has a separate
# build.
installed=$build/installed
rm -rf "$installed"
cmake --install "$build" --prefix "$installed/prefix" > /dev/null
cmake -S "$tree/ns3/test/consumer" -B "$installed/build" \
    -DCMAKE_PREFIX_PATH="$installed/prefix" > /dev/null
cmake --build "$installed/build" > /dev/null
"$installed/build/consumer" --disc=ns3::SojournMadPieQueueDisc --seconds=10
