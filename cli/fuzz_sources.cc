#include "cli/fuzz_sources.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

#include "cli/inputs.h"
#include "cli/output.h"
#include "harness/base/file.h"
#include "harness/bpf/refusal.h"

namespace secequiv::cli {
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
Result<std::vector<Loaded>> load_all(const std::vector<std::string>& paths, const char* option,
                                     const std::vector<std::string_view>& endings,
                                     const Load& load) {
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
        warn(fmt::format("note: left out: {}", named(one.error()).text()));
      else
        return one.error();
    }
  }
  if (out.empty())
    return make_error(ErrorCode::kUsage, option, "expected a file to start from, found none");
  return out;
}

Result<hunt::NamedProgram> load_program(const std::string& path, const Options& options) {
  auto source = load_source(path, options);
  if (!source) return source.error();
  if (const auto refusal = refusal_of(source->program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, source->name, describe(*refusal, source->program));
  return hunt::NamedProgram{source->name, std::move(source->program)};
}

Result<hunt::NamedPolicy> load_named_policy(const std::string& path, const Options& options) {
  auto policy = load_policy(path, options);
  if (!policy) return policy.error();
  return hunt::NamedPolicy{shown_name(path), std::move(*policy)};
}

}  // namespace

void FuzzSources::add(CLI::App& app) {
  app.add_option("--programs", programs,
                 "Start from these programs (files or folders), then from changed copies")
      ->allow_extra_args();
  app.add_option("--policies", policies,
                 "Start from these policies (files or folders), then from changed copies")
      ->allow_extra_args();
  app.add_flag("--generate", generate, "Start from generated programs or policies (the default)");
}

Result<std::unique_ptr<hunt::ProgramSource>> FuzzSources::open(bool compiler,
                                                               const Options& options) const {
  if (int{!programs.empty()} + int{!policies.empty()} + int{generate} > 1)
    return make_error(ErrorCode::kUsage, {},
                      "expected only one of --programs, --policies and --generate");
  if (!programs.empty()) {
    if (compiler)
      return make_error(ErrorCode::kUsage, "--programs",
                        "expected --policies or --generate, because a compiler takes policies");
    auto all = load_all<hunt::NamedProgram>(
        programs, "--programs", {".bpf", ".asm", ".ddd", ".raw", ".c"},
        [&](const std::string& path) { return load_program(path, options); });
    if (!all) return all.error();
    return hunt::given_programs(std::move(*all));
  }
  if (!policies.empty()) {
    auto all = load_all<hunt::NamedPolicy>(
        policies, "--policies", {".json"},
        [&](const std::string& path) { return load_named_policy(path, options); });
    if (!all) return all.error();
    return hunt::given_policies(std::move(*all));
  }
  return compiler ? hunt::generated_policies() : hunt::generated_programs();
}

}  // namespace secequiv::cli
