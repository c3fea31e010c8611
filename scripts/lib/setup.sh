# shellcheck shell=bash
# Installs the Debian/Ubuntu packages that the project needs, and owns their lists. Other scripts source this file.
#
#   setup_require GROUP...    GROUP is one of:
#     demo       to build the command line
#     package    to build the Debian package
#     gcc        to build and test with the distribution's g++
#     all        to build and test every preset
#     wheel      to build the wheels for PyPI
#     wasm       to build the WebAssembly module, and the page from it
#     proved     to check the proofs in verify/proved and build the checker
#     browser    to try a report's page in a browser (Debian; Ubuntu has none as a package)
#     kernels    to boot the kernels of scripts/kernels check --short; kernels_all: to boot every kernel, and for scripts/kernels compilers
#     oss_fuzz   in addition to all: every configuration of scripts/oss_fuzz_check for which Debian has tools
#
# If nothing is missing, this takes one dpkg-query. Otherwise it installs with apt-get, through sudo unless root. If it cannot, it
# lists what is missing and returns 2. All messages go to stderr.

SETUP_BUILD=(cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev libz3-dev libcadical-dev libgmp-dev libbpf-dev libmd-dev)
SETUP_TEST=(g++ libboost-dev libgtest-dev libbenchmark-dev libseccomp-dev libpcap-dev python3 python3-pytest python3-jsonschema python3-yaml python3-pip git cadical cpio crun groff-base make pkg-config strace)
SETUP_PACKAGE=(dpkg-dev file)
SETUP_WHEEL=(cmake ninja-build libfmt-dev nlohmann-json3-dev libcli11-dev libz3-dev libbpf-dev libmd-dev libboost-dev python3 python3-pip python3-setuptools python3-wheel
  python3-venv)
SETUP_CLANG=(clang-19 libclang-rt-19-dev lld-19)
SETUP_OSS_FUZZ=(afl++ g++-multilib libc++-19-dev libc++abi-19-dev llvm-19)
SETUP_KERNELS=(clang-19 lld-19 qemu-system-arm qemu-system-misc)
SETUP_KERNELS_ALL=("${SETUP_KERNELS[@]}" qemu-system-mips qemu-system-ppc qemu-system-x86 qemu-user)
SETUP_PROVED=(coq ocaml)
SETUP_BROWSER=(chromium chromium-driver python3-selenium)
SETUP_WASM=(cmake ninja-build clang-19 lld-19 llvm-19 wasi-libc libc++-19-dev-wasm32 libc++abi-19-dev-wasm32 libclang-rt-19-dev-wasm32 binaryen libfmt-dev
  nlohmann-json3-dev libboost-dev python3)
SETUP_CMAKE_MINIMUM=3.23 # CMakePresets.json, version 4

_setup_say() { printf 'set-up: %s\n' "$*" >&2; }

_setup_packages() {
  local group
  for group in "$@"; do
    case "$group" in
      demo) printf '%s\n' "${SETUP_CLANG[@]}" "${SETUP_BUILD[@]}" ;;
      package) printf '%s\n' "${SETUP_CLANG[@]}" "${SETUP_BUILD[@]}" "${SETUP_PACKAGE[@]}" ;;
      gcc) printf '%s\n' "${SETUP_BUILD[@]}" "${SETUP_TEST[@]}" ;;
      all) printf '%s\n' "${SETUP_CLANG[@]}" clang-format-19 "${SETUP_BUILD[@]}" "${SETUP_TEST[@]}" ;;
      wheel) printf '%s\n' "${SETUP_WHEEL[@]}" ;;
      oss_fuzz) printf '%s\n' "${SETUP_OSS_FUZZ[@]}" ;;
      kernels) printf '%s\n' "${SETUP_KERNELS[@]}" ;;
      kernels_all) printf '%s\n' "${SETUP_KERNELS_ALL[@]}" ;;
      wasm) printf '%s\n' "${SETUP_WASM[@]}" ;;
      proved) printf '%s\n' "${SETUP_PROVED[@]}" ;;
      browser) printf '%s\n' "${SETUP_BROWSER[@]}" ;;
      *)
        _setup_say "unknown group '$group'"
        return 2
        ;;
    esac
  done | awk '!seen[$0]++'
}

# Prints what is checked instead of a package on a system without dpkg: a command, a header (+), a Python module (%), or a flag
# that clang accepts (=).
_setup_probe() {
  case "$1" in
    clang-19) echo clang++-19 ;;
    libclang-rt-19-dev) echo '/libclang_rt.asan' ;;
    ninja-build) echo ninja ;;
    libfmt-dev) echo +fmt/format.h ;;
    nlohmann-json3-dev) echo +nlohmann/json.hpp ;;
    libcli11-dev) echo +CLI/CLI.hpp ;;
    libz3-dev) echo +z3.h ;;
    libcadical-dev) echo +cadical.hpp ;;
    libgmp-dev) echo +gmpxx.h ;;
    libbpf-dev) echo +bpf/libbpf.h ;;
    libmd-dev) echo +sha2.h ;;
    libboost-dev) echo +boost/multiprecision/cpp_int.hpp ;;
    libgtest-dev) echo +gtest/gtest.h ;;
    libbenchmark-dev) echo +benchmark/benchmark.h ;;
    libseccomp-dev) echo +seccomp.h ;;
    libpcap-dev) echo +pcap/bpf.h ;;
    python3-pytest) echo %pytest ;;
    python3-jsonschema) echo %jsonschema ;;
    python3-yaml) echo %yaml ;;
    python3-pip) echo %pip ;;
    python3-setuptools) echo %setuptools ;;
    python3-wheel) echo %wheel ;;
    python3-venv) echo %ensurepip ;;
    dpkg-dev) echo dpkg-shlibdeps ;;
    python3-selenium) echo %selenium ;;
    chromium-driver) echo chromedriver ;;
    coq) echo coqc ;;
    ocaml) echo ocamlopt ;;
    groff-base) echo groff ;;
    afl++) echo afl-fuzz ;;
    g++-multilib) echo '=-m32' ;;
    libc++-19-dev) echo '=-stdlib=libc++' ;;
    libc++abi-19-dev) echo '=-lc++abi' ;;
    llvm-19) echo llvm-cov-19 ;;
    lld-19) echo '=-fuse-ld=lld' ;;
    wasi-libc | libc++-19-dev-wasm32 | libc++abi-19-dev-wasm32) echo '=--target=wasm32-wasi -c' ;;
    libclang-rt-19-dev-wasm32) echo '/libclang_rt.builtins-wasm32' ;;
    binaryen) echo wasm-opt ;;
    qemu-system-arm) echo qemu-system-aarch64 ;;
    qemu-system-mips) echo qemu-system-mips64el ;;
    qemu-system-misc) echo qemu-system-s390x ;;
    qemu-system-ppc) echo qemu-system-ppc64 ;;
    qemu-system-x86) echo qemu-system-x86_64 ;;
    *) echo "$1" ;;
  esac
}

_setup_probe_ok() {
  local compiler library
  case "$1" in
    +*)
      for compiler in clang++-19 g++ c++; do
        command -v "$compiler" >/dev/null || continue
        "$compiler" -std=c++20 -x c++ -M - >/dev/null 2>&1 <<<"#include <${1#+}>"
        return
      done
      return 1
      ;;
    %*) python3 -c 'import importlib.util, sys; sys.exit(importlib.util.find_spec(sys.argv[1]) is None)' "${1#%}" 2>/dev/null ;;
    =*) clang++-19 "${1#=}" -x c++ - -o /dev/null >/dev/null 2>&1 <<<$'#include <string>\nint main() {}' ;;
    /*)
      library=$(clang++-19 -print-resource-dir 2>/dev/null) &&
        [ -n "$(find "$library/lib" -name "${1#/}*" -print -quit 2>/dev/null)" ]
      ;;
    *) command -v "$1" >/dev/null ;;
  esac
}

# Prints the given packages that are not installed.
_setup_missing() {
  local package
  if command -v dpkg-query >/dev/null; then
    # dpkg-query fails for unknown packages and lists them nowhere, so they count as missing.
    { dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null || true; } |
      awk -v wanted="$*" '
        $1 == "installed" { installed[$2] = 1 }
        END { n = split(wanted, names, " "); for (i = 1; i <= n; i++) if (!(names[i] in installed)) print names[i] }'
    return
  fi
  for package in "$@"; do
    _setup_probe_ok "$(_setup_probe "$package")" || echo "$package"
  done
}

_setup_cannot() {
  local reason=$1 package
  shift
  _setup_say "$reason"
  _setup_say "missing (Debian and Ubuntu package names):"
  for package in "$@"; do printf '  %s\n' "$package" >&2; done
  if command -v apt-get >/dev/null; then
    _setup_say "as root: apt-get update && apt-get install --no-install-recommends $*"
  else
    _setup_say "install your system's counterparts of these packages, then run this again"
  fi
  return 2
}

_setup_no_clang() {
  _setup_say "this system's packages have no clang-19 (those of Debian 12, Ubuntu 24.04 and their successors do)"
  _setup_say "either add the LLVM project's own packages for this system and run this again,"
  _setup_say "or use the distribution's g++: SECEQUIV_PRESET=gcc scripts/demo, and scripts/test gcc"
}

# Runs apt-get, and waits for up to ten minutes while another program holds a lock, because a new machine updates itself first.
# apt-get itself waits only for dpkg's lock, not for the locks of package lists and downloads.
_setup_apt() {
  local tries=120 errors noted=
  while ! { errors=$("${privileged[@]}" apt-get -o DPkg::Lock::Timeout=600 "$@" 2>&1 >&3); } 3>&2; do
    case "$errors" in *"Could not get lock"* | *"Unable to acquire"* | *"Unable to lock"*) ;; *) tries=0 ;; esac
    if [ "$tries" = 0 ]; then
      printf '%s\n' "$errors" >&2
      return 1
    fi
    [ -n "$noted" ] || _setup_say "another program holds the lock of the package manager; waiting for up to 10 minutes"
    noted=1
    tries=$((tries - 1))
    sleep 5
  done
  [ -z "$errors" ] || printf '%s\n' "$errors" >&2
}

_setup_install() {
  local package unknown=() privileged=(env DEBIAN_FRONTEND=noninteractive LC_ALL=C)
  command -v apt-get >/dev/null || {
    _setup_cannot "this system has no apt-get, so nothing was installed" "$@"
    return 2
  }
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      _setup_cannot "not root, and there is no sudo: nothing was installed" "$@"
      return 2
    }
    if [ -t 0 ]; then privileged=(sudo "${privileged[@]}"); else privileged=(sudo -n "${privileged[@]}"); fi
  fi
  _setup_say "installing $*"
  _setup_apt -q update || {
    _setup_cannot "apt-get update failed" "$@"
    return 2
  }
  for package in "$@"; do
    apt-cache show --no-all-versions "$package" >/dev/null 2>&1 || unknown+=("$package")
  done
  if [ "${#unknown[@]}" -gt 0 ]; then
    _setup_cannot "not in this system's package lists: ${unknown[*]}; nothing was installed" "$@" || true
    case " ${unknown[*]} " in *" clang-19 "*) _setup_no_clang ;; esac
    return 2
  fi
  _setup_apt -q -y install --no-install-recommends "$@" || {
    _setup_cannot "apt-get install failed" "$@"
    return 2
  }
}

# Only cmake can be installed and still be too old.
_setup_cmake_new_enough() {
  local version lowest
  version=$(cmake --version | awk 'NR == 1 { print $3 }')
  lowest=$(printf '%s\n%s\n' "$SETUP_CMAKE_MINIMUM" "$version" | sort -V | head -n 1)
  [ "$lowest" = "$SETUP_CMAKE_MINIMUM" ] && return
  _setup_say "cmake $version is too old: $SETUP_CMAKE_MINIMUM or newer is needed (for example: pip install cmake)"
  return 2
}

setup_require() {
  local wanted missing packages
  wanted=$(_setup_packages "$@") || return 2
  mapfile -t packages <<<"$wanted"
  missing=$(_setup_missing "${packages[@]}")
  if [ -n "$missing" ]; then
    mapfile -t packages <<<"$missing"
    _setup_install "${packages[@]}" || return 2
    missing=$(_setup_missing "${packages[@]}")
    if [ -n "$missing" ]; then
      mapfile -t packages <<<"$missing"
      _setup_cannot "still missing after the installation" "${packages[@]}"
      return 2
    fi
  else
    _setup_say "all ${#packages[@]} packages needed are installed"
  fi
  case $'\n'"$wanted"$'\n' in *$'\n'cmake$'\n'*) _setup_cmake_new_enough ;; esac
}
