#!/bin/sh
# The simulator's fingerprints on Windows, under Wine: sh .ci/windows.sh
#
# Needs Debian's gcc-mingw-w64-x86-64-posix and wine, and `rustup target add x86_64-pc-windows-gnu`.
set -eu
cd "$(dirname "$0")/.."
target=x86_64-pc-windows-gnu
tests=target/$target/debug/deps
mkdir -p "$tests"

# Wine 8 has no bcryptprimitives.dll, from which Rust's library draws the keys of its hash tables.
cat > "$tests/random.c" <<'END'
#include <windows.h>
#include <ntsecapi.h>

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size)
{
    return RtlGenRandom(data, (ULONG)size);
}
END
x86_64-w64-mingw32-gcc-posix -shared -o "$tests/bcryptprimitives.dll" "$tests/random.c" -ladvapi32

export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc-posix
export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_RUNNER=wine
export WINEPREFIX="$PWD/target/$target/wine" WINEDEBUG=-all
cargo test --package sojourn-sim --test fingerprints --target $target
