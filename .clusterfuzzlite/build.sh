#!/usr/bin/env bash
# Builds the same targets as on OSS-Fuzz.
exec bash "$SRC/secequiv/ci/oss-fuzz/build.sh"
