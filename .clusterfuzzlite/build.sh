#!/usr/bin/env bash
# The same targets as on OSS-Fuzz.
exec bash "$SRC/secequiv/ci/oss-fuzz/build.sh"
