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
    export RUSTC CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER RUSTC_BOOTSTRAP=1
    flavor=-Clinker-flavor=wasm-ld
    set -- -Z build-std=std,panic_abort
    sysroot=$("$RUSTC" --print sysroot)
else
    echo "no compiler for WebAssembly: \`make web-toolchain\` fetches Debian's," \
        "\`rustup target add $target\` rustup's" >&2
    exit 3
fi
# Places of this machine are not part of the result: two machines with one compiler give one file.
unit=$(printf '\037')
remap() { flags="$flags${flags:+$unit}--remap-path-prefix=$(realpath "$1")=$2"; }
flags=${flavor:-}
remap "$sysroot" rust
remap "${CARGO_HOME:-$HOME/.cargo}" cargo
remap . sojourn
CARGO_ENCODED_RUSTFLAGS=$flags
export CARGO_ENCODED_RUSTFLAGS
cargo build --quiet --package sojourn-wasm --lib --target "$target" --target-dir "$folder" \
    --profile web "$@"
cp "$folder/$target/web/sojourn_wasm.wasm" "$folder/sojourn.wasm"
