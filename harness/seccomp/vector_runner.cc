// `vector_runner DIR...` runs the vector files of the directories through this implementation. It
// prints one line per failure and then `vectors: N passed, M failed`. The exit status is 0 if all
// passed, 1 if some failed, and 2 for wrong usage or a malformed file.
#include <cstdio>
#include <filesystem>

#include "harness/seccomp/vector_file.h"

int main(int argc, char** argv) {
  const std::vector<std::string> directories(argv + 1, argv + argc);
  for (const std::string& directory : directories) {
    if (std::filesystem::is_directory(directory)) continue;
    std::fprintf(stderr, "%s: not a directory\n", directory.c_str());
    return 2;
  }
  const auto vectors = secequiv::load_vectors(directories);
  if (!vectors || vectors->empty()) {
    std::fprintf(stderr, "%s\n", vectors ? "no .vec files found" : vectors.error().text().c_str());
    return 2;
  }
  std::size_t failed = 0;
  for (const secequiv::Vector& vector : *vectors) {
    const auto failures = secequiv::check_vector(vector);
    failed += failures.empty() ? 0 : 1;
    for (const std::string& failure : failures) std::printf("%s\n", failure.c_str());
  }
  std::printf("vectors: %zu passed, %zu failed\n", vectors->size() - failed, failed);
  return failed == 0 ? 0 : 1;
}
