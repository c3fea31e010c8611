#!/usr/bin/env bash
# Builds the fuzz targets for OSS-Fuzz and ClusterFuzzLite, whose base image sets CC, CXX, CFLAGS, CXXFLAGS,
# LIB_FUZZING_ENGINE, SRC, WORK and OUT. For each target X of fuzz/ that the build makes, it writes X, X_seed_corpus.zip, X.dict
# and X.options to $OUT. fuzz_seeds also writes the pair of programs that fuzz_pair compares.
set -euo pipefail

source=$SRC/secequiv
build=$WORK/secequiv

# Compilers and flags come from the environment.
cmake -S "$source" -B "$build" -G Ninja -DSECEQUIV_FUZZING_ENGINE="$LIB_FUZZING_ENGINE" -DSECEQUIV_Z3=OFF -DSECEQUIV_TESTS=OFF
cmake --build "$build" --target fuzz/all

for target in "$build"/bin/fuzz_*; do
  if [ "${target##*/}" != fuzz_seeds ]; then cp "$target" "$OUT/"; fi
done
(cd "$WORK" && "$build/bin/fuzz_seeds" "$OUT" "$source/corpus") # a coverage build writes its profile to the current folder
for folder in "$OUT"/*_seed_corpus; do
  (cd "$folder" && python3 -m zipfile -c "$folder.zip" .)
  rm -r "$folder"
done
