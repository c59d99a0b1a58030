#!/bin/sh
# Compiles the simulator for browsers: target/web/sojourn.wasm. Takes rustup's target if that is
# installed, else Debian's compiler that web/toolchain.sh has fetched. Exits with 3 and one line
# where there is neither.
set -eu
cd "$(dirname "$0")/.."
cache=${SOJOURN_WEB_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/sojourn/web}
target=wasm32-unknown-unknown
sysroot=$(rustc --print sysroot)
folder=${CARGO_TARGET_DIR:-target}/web
if [ -d "$sysroot/lib/rustlib/$target/lib" ]; then
    set --
elif [ -e "$cache/complete" ]; then
    read -r llvm <"$cache/complete"
    libraries=$cache/usr/lib/$(uname -m)-linux-gnu:$cache/usr/lib/llvm-$llvm/lib
    # Cargo's own libraries must not be these: only the compiler and the linker get them.
    mkdir -p "$folder"
    for tool in rustc:usr/bin/rustc rustdoc:usr/bin/rustc linker:usr/lib/llvm-$llvm/bin/lld; do
        printf '#!/bin/sh\nLD_LIBRARY_PATH=%s exec %s "$@"\n' "$libraries" "$cache/${tool#*:}" \
            >"$folder/${tool%%:*}"
        chmod +x "$folder/${tool%%:*}"
    done
    RUSTC=$(realpath "$folder")/rustc
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER=$(realpath "$folder")/linker
    CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS="-Clinker-flavor=wasm-ld"
    export RUSTC CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER RUSTC_BOOTSTRAP=1
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_RUSTFLAGS
    set -- -Z build-std=std,panic_abort
else
    echo "no compiler for WebAssembly: \`make web-toolchain\` fetches Debian's," \
        "\`rustup target add $target\` rustup's" >&2
    exit 3
fi
cargo build --quiet --package sojourn-wasm --lib --target "$target" --target-dir "$folder" \
    --profile web "$@"
cp "$folder/$target/web/sojourn_wasm.wasm" "$folder/sojourn.wasm"
