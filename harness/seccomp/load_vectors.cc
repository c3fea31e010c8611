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
      ASSIGN_OR_RETURN(const auto text, read_file(file));
      ASSIGN_OR_RETURN(auto vectors, parse_vectors(text, file));
      std::ranges::move(vectors, std::back_inserter(out));
    }
  }
  return out;
}

}  // namespace secequiv
