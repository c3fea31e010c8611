# shellcheck shell=bash
# Configures and builds a preset quietly, with one progress line on a terminal and a log in build/PRESET/build.log. Other
# scripts source this file.

BUILD_TAIL=40 # lines shown from the log of a failed build

# build_log_failed LOG WHAT: shows the end of the log; always returns 1.
build_log_failed() {
  tail -n "$BUILD_TAIL" "$1" >&2
  printf '%s failed; the whole log is in %s\n' "$2" "$1" >&2
  return 1
}

# Copies ninja's output to the given log and shows only the step counter.
_build_progress() {
  local log=$1 line
  while IFS= read -r line || [ -n "$line" ]; do
    printf '%s\n' "$line" >>"$log"
    if [ -t 2 ] && [[ $line =~ ^(\[[0-9]+/[0-9]+\]) ]]; then printf '\r  %s ' "${BASH_REMATCH[1]}" >&2; fi
  done
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# build_preset ROOT PRESET [CONFIGURE-ARGUMENT... [-- BUILD-ARGUMENT...]]
build_preset() {
  local root=$1 preset=$2 started=$SECONDS configure=() log
  shift 2
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    configure+=("$1")
    shift
  done
  [ $# -eq 0 ] || shift
  log=$root/build/$preset/build.log
  mkdir -p "$root/build/$preset"
  printf 'build %s (log: build/%s/build.log)\n' "$preset" "$preset" >&2
  (cd "$root" && cmake --preset "$preset" ${configure[@]+"${configure[@]}"}) >"$log" 2>&1 ||
    build_log_failed "$log" "configuring '$preset'" || return 1
  (set -o pipefail && cd "$root" && cmake --build --preset "$preset" "$@" 2>&1 | _build_progress "$log") ||
    build_log_failed "$log" "building '$preset'" || return 1
  printf 'build %s: done in %d s\n' "$preset" $((SECONDS - started)) >&2
}
