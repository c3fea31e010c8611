#include <algorithm>
#include <filesystem>
#include <iterator>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include "harness/base/file.h"
#include "harness/seccomp/vector_file.h"

namespace secequiv {

Result<std::vector<Vector>> load_vectors(std::span<const std::string> directories) {
  std::vector<Vector> out;
  for (const std::string& directory : directories) {
    std::vector<std::string> files;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(directory, error))
      if (entry.path().extension() == ".vec") files.push_back(entry.path().string());
    std::ranges::sort(files);
    for (const std::string& file : files) {
      const auto text = read_file(file);
      if (!text) return text.error();
      auto vectors = parse_vectors(*text, file);
      if (!vectors) return vectors.error();
      std::ranges::move(*vectors, std::back_inserter(out));
    }
  }
  return out;
}

}  // namespace secequiv
