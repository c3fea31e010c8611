# shellcheck shell=bash
# Functions for the build steps of adapters (adapters/NAME/build), which source this file. It owns no list of adapters. A build
# step gets the path of the program to make. If a tool or library is missing, it exits with 77, and its last line names it.

adapters_cannot() {
  printf '%s\n' "$*" >&2
  exit 77
}

# Sets CXX to a compiler for C++20.
adapters_cxx() {
  local candidate
  for candidate in "${CXX-}" clang++-19 g++; do
    if [ -n "$candidate" ] && command -v "$candidate" >/dev/null; then
      CXX=$candidate
      return
    fi
  done
  adapters_cannot 'no C++ compiler (Debian and Ubuntu: clang-19 or g++)'
}

# adapters_header HEADER PACKAGE: exits with 77 and names PACKAGE if the compiler does not find HEADER.
adapters_header() {
  "$CXX" -x c++ -M - >/dev/null 2>&1 <<<"#include <$1>" || adapters_cannot "no <$1> (Debian and Ubuntu: $2)"
}

# adapters_go FOLDER OUTPUT [GO-BUILD-ARGUMENT...]: builds the Go module in FOLDER.
adapters_go() {
  local folder=$1 output=$2 wanted have
  shift 2
  command -v go >/dev/null || adapters_cannot 'go is not installed (Debian and Ubuntu: golang-go, or a newer one from go.dev)'
  wanted=$(awk '$1 == "go" { print $2; exit }' "$folder/go.mod")
  have=$(GOTOOLCHAIN=local go env GOVERSION) # go1.26.3
  if [ "$(printf '%s\n' "$wanted" "${have#go}" | sort -V | head -n 1)" != "$wanted" ]; then
    adapters_cannot "go ${have#go} is too old: $wanted or newer is needed"
  fi
  (cd "$folder" && GOTOOLCHAIN=local GOWORK=off go build -p 2 -mod=readonly -trimpath -o "$output" "$@" .)
}

# adapters_rust FOLDER OUTPUT: builds the Rust package in FOLDER. Cargo.toml and Cargo.lock pin its crates, which stay compiled in
# build/adapters/cargo.
adapters_rust() {
  local folder=$1 output=$2 target=${2%/*}/cargo
  command -v cargo >/dev/null || adapters_cannot 'cargo is not installed (Debian and Ubuntu: cargo, or rustup)'
  cargo build -j 2 --release --locked --manifest-path "$folder/Cargo.toml" --target-dir "$target"
  cp "$target/release/secequiv-adapter-${folder##*/}" "$output"
}

# adapters_python FOLDER OUTPUT: packs FOLDER/__main__.py, the packages that FOLDER/requirements.txt pins, and the reader of requests
# into one file that Python runs.
adapters_python() {
  local folder=$1 output=$2 packed
  python3 -m pip --version >/dev/null 2>&1 || adapters_cannot 'pip is not installed (Debian and Ubuntu: python3-pip)'
  packed=$(mktemp -d)
  # shellcheck disable=SC2064 # the folder of this call
  trap "rm -rf '$packed'" EXIT
  python3 -m pip install --quiet --disable-pip-version-check --no-deps --only-binary :all: --require-hashes --target "$packed" \
    --requirement "$folder/requirements.txt"
  cp "$folder/__main__.py" "$root/api/python/src/secequiv_adapter.py" "$packed"
  python3 -m zipapp --python '/usr/bin/env python3' --output "$output" "$packed"
}
