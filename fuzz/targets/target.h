// Owns what all fuzz targets share: the declarations of libFuzzer's entry points, our own options,
// and data files next to the executable. It must not know any target.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed);
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* first, std::size_t first_size,
                                                 const std::uint8_t* second,
                                                 std::size_t second_size, std::uint8_t* out,
                                                 std::size_t capacity, unsigned seed);

namespace secequiv::fuzz {

// Returns the path of `name` in the folder of the executable `argv0`, or "" if there is no such
// file. Fuzzing services move targets, so targets must not depend on the build folder.
inline std::string data_file(const char* argv0, const char* name) {
  std::error_code error;
  const auto path = std::filesystem::path(argv0).parent_path() / name;
  return std::filesystem::exists(path, error) ? path.string() : std::string();
}

// Returns the value of the last `--NAME=`, or `fallback`. libFuzzer ignores options that start with
// two dashes.
inline std::string option(int argc, char** argv, const std::string& name, std::string fallback) {
  const std::string start = "--" + name + "=";
  for (int i = 1; i < argc; ++i)
    if (const std::string_view arg = argv[i]; arg.starts_with(start))
      fallback = arg.substr(start.size());
  return fallback;
}

}  // namespace secequiv::fuzz
