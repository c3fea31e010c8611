#include "analyze/load_all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

// Returns the files in `folder` whose names have one of these endings.
Result<std::vector<std::string>> files_in(const std::string& folder,
                                          const std::vector<std::string_view>& endings) {
  std::vector<std::string> out;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error))
    if (std::error_code ignored;
        at->is_regular_file(ignored) && at->path().filename() != "schema.json" &&
        std::ranges::find(endings, at->path().extension().string()) != endings.end())
      out.push_back(at->path().string());
  if (error) return make_error(ErrorCode::kIo, folder, error.message());
  if (out.empty())
    return make_error(
        ErrorCode::kUsage, folder,
        fmt::format("expected files that end in {}, found none", fmt::join(endings, ", ")));
  std::ranges::sort(out);
  return out;
}

// Loads every file. A file that the user named must load. A file found in a folder is skipped with
// a note if it does not.
template <class Loaded, class Load>
Result<std::vector<Loaded>> load_all(const std::vector<std::string>& paths, Subject subject,
                                     const std::vector<std::string_view>& endings,
                                     const LeftOut& left_out, const Load& load) {
  std::vector<Loaded> out;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool folder = fs::is_directory(path, error);
    auto files = folder ? files_in(path, endings) : Result(std::vector<std::string>{path});
    if (!files) return files.error();
    for (const std::string& file : *files) {
      Result<Loaded> one = load(file);
      if (one)
        out.push_back(std::move(*one));
      else if (folder)
        left_out(one.error());
      else
        return one.error();
    }
  }
  if (out.empty()) return usage_error(subject, "expected a file to start from, found none");
  return out;
}

}  // namespace

Result<std::unique_ptr<hunt::ProgramSource>> load_programs(const std::vector<std::string>& paths,
                                                           const Reading& reading,
                                                           const LeftOut& left_out) {
  const auto load = [&](const std::string& path) -> Result<hunt::NamedProgram> {
    auto source = load_source(path, reading);
    if (!source) return source.error();
    if (auto s = expect_legal(*source); !s) return s.error();
    return hunt::NamedProgram{source->name, std::move(source->program)};
  };
  auto all = load_all<hunt::NamedProgram>(paths, Subject::kPrograms,
                                          {".bpf", ".asm", ".ddd", ".raw", ".c"}, left_out, load);
  if (!all) return all.error();
  return hunt::given_programs(std::move(*all));
}

Result<std::unique_ptr<hunt::ProgramSource>> load_policies(const std::vector<std::string>& paths,
                                                           const Reading& reading,
                                                           const LeftOut& left_out) {
  const auto load = [&](const std::string& path) -> Result<hunt::NamedPolicy> {
    auto policy = load_policy(path, reading);
    if (!policy) return policy.error();
    return hunt::NamedPolicy{shown_name(path), std::move(*policy)};
  };
  auto all = load_all<hunt::NamedPolicy>(paths, Subject::kPolicies, {".json"}, left_out, load);
  if (!all) return all.error();
  return hunt::given_policies(std::move(*all));
}

}  // namespace secequiv
