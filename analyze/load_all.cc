#include "analyze/load_all.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>

#include "harness/base/file.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

using Endings = std::vector<std::string_view>;

// Returns whether a file of a folder should be a program or policy, judged by its name.
bool is_wanted(const fs::path& path, const Endings& endings) {
  const std::string name = path.filename().string();
  const std::string ending = path.extension().string();
  return !name.starts_with("README") && name != "schema.json" &&
         (ending.empty() || std::ranges::find(endings, ending) != endings.end());
}

// Returns the wanted files in `folder`. Links to folders count as files, which cannot be read.
Result<std::vector<std::string>> files_in(const std::string& folder, const Endings& endings) {
  std::vector<std::string> out;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(folder, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    const bool hidden = at->path().filename().string().starts_with('.');
    if (hidden) at.disable_recursion_pending();
    const bool linked = at->is_symlink(ignored) && at->is_directory(ignored);
    if (!hidden && (linked || !at->is_directory(ignored)) &&
        (linked || is_wanted(at->path(), endings)))
      out.push_back(at->path().string());
  }
  if (error) return make_error(ErrorCode::kIo, folder, error.message());
  if (out.empty())
    return make_error(
        ErrorCode::kUsage, folder,
        fmt::format("expected files that end in {}, found none", fmt::join(endings, ", ")));
  std::ranges::sort(out);
  return out;
}

// Tests the type of a file that a folder contains. Opening a pipe or a device could wait forever.
Status expect_file(const std::string& path) {
  std::error_code error;
  const auto type = fs::status(path, error).type();
  if (type == fs::file_type::directory)
    return make_error(ErrorCode::kIo, path, "links to folders are not followed");
  if (type == fs::file_type::not_found)
    return make_error(ErrorCode::kIo, path, "the link leads to no file");
  if (type != fs::file_type::regular)
    return make_error(ErrorCode::kIo, path, "expected a file, found a pipe, socket or device");
  return Ok{};
}

template <class Loaded>
struct All {
  std::vector<Loaded> loaded;
  std::vector<UnreadFile> unread;
};

// Loads every file. A file that the user named must load.
template <class Loaded, class Load>
Result<All<Loaded>> load_all(const std::vector<std::string>& paths, Subject subject,
                             const Endings& endings, const Load& load) {
  All<Loaded> out;
  for (const std::string& path : paths) {
    std::error_code error;
    const bool folder = fs::is_directory(path, error);
    ASSIGN_OR_RETURN(auto files,
                     folder ? files_in(path, endings) : Result(std::vector<std::string>{path}));
    for (const std::string& file : files) {
      const Status readable = folder ? expect_file(file) : Ok{};
      Result<Loaded> one = readable ? load(file) : Result<Loaded>(readable.error());
      if (one)
        out.loaded.push_back(std::move(*one));
      else if (folder)
        out.unread.push_back({file, one.error()});
      else
        return one.error();
    }
  }
  if (out.loaded.empty())
    return usage_error(subject, out.unread.empty()
                                    ? "expected a file to start from, found none"
                                    : "expected a file to start from, but no file can be read: " +
                                          out.unread.front().error.text());
  return out;
}

}  // namespace

Result<std::unique_ptr<hunt::ProgramSource>> load_programs(const std::vector<std::string>& paths,
                                                           const Reading& reading) {
  const auto load = [&](const std::string& path) -> Result<hunt::NamedProgram> {
    ASSIGN_OR_RETURN(auto source, load_source(path, reading));
    RETURN_IF_ERROR(expect_legal(source));
    return hunt::NamedProgram{source.name, std::move(source.program)};
  };
  ASSIGN_OR_RETURN(
      auto all, load_all<hunt::NamedProgram>(paths, Subject::kPrograms,
                                             {".bpf", ".asm", ".ddd", ".raw", ".c", ".txt"}, load));
  return hunt::given_programs(std::move(all.loaded), std::move(all.unread));
}

Result<std::unique_ptr<hunt::ProgramSource>> load_policies(const std::vector<std::string>& paths,
                                                           const Reading& reading) {
  const auto load = [&](const std::string& path) -> Result<hunt::NamedPolicy> {
    ASSIGN_OR_RETURN(auto policy, load_policy(path, reading));
    return hunt::NamedPolicy{shown_name(path), std::move(policy)};
  };
  ASSIGN_OR_RETURN(auto all,
                   load_all<hunt::NamedPolicy>(paths, Subject::kPolicies, {".json"}, load));
  return hunt::given_policies(std::move(all.loaded), std::move(all.unread));
}

}  // namespace secequiv
