// Runs a fuzz target without libFuzzer: for ctest, for gcc, and to reproduce findings anywhere. It
// runs every given file (also those in folders), and then `--runs=N` deterministic mutations. It
// prints the number of inputs. The exit status is 2 if there were none.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <random>
#include <string>
#include <vector>

#include "fuzz/targets/target.h"
#include "harness/base/file.h"

// These functions are weak, so that targets may omit them. Their declarations in
// fuzz/targets/target.h are strong.
// NOLINTBEGIN(readability-redundant-declaration)
extern "C" __attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomMutator(std::uint8_t*, std::size_t,
                                                                     std::size_t, unsigned);
extern "C" __attribute__((weak)) std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t*,
                                                                       std::size_t,
                                                                       const std::uint8_t*,
                                                                       std::size_t, std::uint8_t*,
                                                                       std::size_t, unsigned);
// NOLINTEND(readability-redundant-declaration)

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kRoom = 32768;  // bytes that a mutator may write

std::vector<Bytes> load(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const std::string& path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path))
      if (entry.is_regular_file()) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  std::vector<Bytes> out;
  for (const std::string& file : files) {
    const auto bytes = secequiv::read_file(file);
    if (!bytes) {
      std::fprintf(stderr, "replay: %s\n", bytes.error().text().c_str());
      std::exit(2);
    }
    out.emplace_back(bytes->begin(), bytes->end());
  }
  return out;
}

// Flips, inserts, deletes or copies bytes. It is used if the target has no mutator.
void flip_bytes(Bytes& bytes, std::minstd_rand& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0; --changes) {
    const std::size_t at = bytes.empty() ? 0 : random() % bytes.size();
    const auto place = bytes.begin() + static_cast<std::ptrdiff_t>(at);
    if (bytes.empty() || random() % 3 == 0) {
      bytes.insert(place, static_cast<std::uint8_t>(random()));
    } else if (random() % 2 == 0) {
      bytes.erase(place);
    } else {
      bytes[at] =
          random() % 2 == 0 ? static_cast<std::uint8_t>(random()) : bytes[random() % bytes.size()];
    }
  }
}

// Sets `out` to a changed copy of one element of `pool`.
void mutate(const std::vector<Bytes>& pool, Bytes& out, std::minstd_rand& random) {
  const Bytes& from = pool[random() % pool.size()];
  if (LLVMFuzzerCustomMutator == nullptr) {
    out = from;
    return flip_bytes(out, random);
  }
  out.resize(std::max(from.size(), kRoom));
  if (LLVMFuzzerCustomCrossOver != nullptr && random() % 8 == 0) {
    const Bytes& donor = pool[random() % pool.size()];
    out.resize(LLVMFuzzerCustomCrossOver(from.data(), from.size(), donor.data(), donor.size(),
                                         out.data(), out.size(), static_cast<unsigned>(random())));
    return;
  }
  std::copy(from.begin(), from.end(), out.begin());
  out.resize(LLVMFuzzerCustomMutator(out.data(), from.size(), out.size(),
                                     static_cast<unsigned>(random())));
}

}  // namespace

int main(int argc, char** argv) {
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  std::vector<std::string> paths;
  unsigned long runs = 0;
  for (int i = 1; i < argc; ++i) {
    const std::string arg = argv[i];
    if (arg.starts_with("--runs=")) {
      runs = std::strtoul(arg.c_str() + 7, nullptr, 10);
    } else if (!arg.starts_with("--")) {
      paths.push_back(arg);
    }
  }
  std::vector<Bytes> pool = load(paths);
  for (const Bytes& input : pool) LLVMFuzzerTestOneInput(input.data(), input.size());
  const std::size_t files = pool.size();
  if (pool.empty()) pool.emplace_back();
  std::minstd_rand random(1);
  Bytes input;
  for (unsigned long run = 0; run < runs; ++run) {
    mutate(pool, input, random);
    const bool kept = LLVMFuzzerTestOneInput(input.data(), input.size()) == 0;
    if (kept && run % 16 == 0 && pool.size() < 4096) pool.push_back(input);
  }
  std::printf("replayed %zu files and %lu mutations\n", files, runs);
  return files + runs == 0 ? 2 : 0;
}
