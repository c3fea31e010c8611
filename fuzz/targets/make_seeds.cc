// `fuzz_seeds OUT_DIR [SOURCE_CORPUS_DIR]` writes the seeds of all fuzz targets (seeds.h). It makes
// them from the repository's corpus (default: ./corpus). The exit status is 2 if a file cannot be
// read or written.
#include <cstdio>

#include "fuzz/targets/seeds.h"

int main(int argc, char** argv) {
  using namespace secequiv;
  if (argc < 2 || argc > 3) {
    std::fputs("Usage: fuzz_seeds OUT_DIR [SOURCE_CORPUS_DIR]\n", stderr);
    return 2;
  }
  const auto seeds = fuzz::make_seeds(argc == 3 ? argv[2] : "corpus");
  const Status stored = seeds ? fuzz::store_seeds(*seeds, argv[1]) : Status(seeds.error());
  if (!stored) {
    std::fprintf(stderr, "fuzz_seeds: %s\n", stored.error().text().c_str());
    return 2;
  }
  for (const auto& [target, given] : *seeds)
    std::printf("%s: %zu seeds, %zu words\n", target.c_str(), given.files.size(),
                given.dictionary.size());
  return 0;
}
