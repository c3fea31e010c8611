#include "analyze/known.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <system_error>

#include "fuzz/hunt/program_source.h"
#include "harness/base/file.h"
#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/coverage/state.h"
#include "harness/seccomp/vector_file.h"
#include "harness/seccomp/vector_text.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

using TomlEntry = std::map<std::string, std::string, std::less<>>;

// Returns the value in `rest`: a text without its quotes, or a date or number as it is written.
// Returns std::nullopt if the quotes are wrong or more than a comment follows the value.
std::optional<std::string> value_of(std::string_view rest) {
  std::string out;
  if (!rest.starts_with('"')) {
    out = trimmed(rest.substr(0, rest.find('#')));
    return out.empty() || out.find('"') != std::string::npos ? std::nullopt : std::optional(out);
  }
  std::size_t at = 1;
  for (; at < rest.size() && rest[at] != '"'; ++at) {
    if (rest[at] == '\\') {
      ++at;
      if (at == rest.size() || (rest[at] != '"' && rest[at] != '\\')) return std::nullopt;
    }
    out += rest[at];
  }
  const std::string_view behind = at < rest.size() ? trimmed(rest.substr(at + 1)) : "?";
  return behind.empty() || behind.starts_with('#') ? std::optional(out) : std::nullopt;
}

// Reads the part of TOML that scripts/corpus/known.py requires of this file: tables [[known]] whose
// values each take one line. A list stays as it is written.
Result<std::vector<TomlEntry>> entries_of(const std::string& path) {
  ASSIGN_OR_RETURN(const auto read, read_file(path));
  std::vector<TomlEntry> out;
  std::string_view rest = read;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::string_view line = trimmed(take_part(rest));
    const std::size_t equals = line.find('=');
    if (trimmed(line.substr(0, line.find('#'))) == "[[known]]") {
      out.emplace_back();
      continue;
    }
    if (line.empty() || line.starts_with('#')) continue;
    const auto place = fmt::format("{}:{}", path, number);
    if (out.empty() || equals == std::string_view::npos)
      return make_error(ErrorCode::kParse, place, "expected [[known]] or KEY = VALUE");
    const std::string_view key = trimmed(line.substr(0, equals));
    const std::string_view given = trimmed(line.substr(equals + 1));
    auto value = given.starts_with('[') ? std::optional(std::string(given)) : value_of(given);
    if (!value)
      return make_error(ErrorCode::kParse, place,
                        fmt::format("expected a text in quotes or a number for '{}', found {}",
                                    printable(key, false), printable(given, false)));
    out.back().insert_or_assign(std::string(key), std::move(*value));
  }
  return out;
}

std::string_view request_of(const KnownTarget& target) {
  if (target.kind == "optimizer") return "optimize";
  return target.kind == "compiler" ? "compile" : "evaluate";
}

Result<HuntSubject> load_one(const std::string& path, const KnownTarget& target,
                             const Reading& reading) {
  if (target.kind == "compiler") {
    ASSIGN_OR_RETURN(const auto policy, load_policy(path, reading));
    return hunt::subject_of(shown_name(path), policy);
  }
  ASSIGN_OR_RETURN(auto source, load_source(path, reading));
  RETURN_IF_ERROR(expect_legal(source));
  return HuntSubject{source.name, {}, std::move(source.program)};
}

// Reads a program of known.toml, which is written like those of vectors (corpus/FORMAT.md).
Result<HuntSubject> load_listed(const std::string& path, const KnownTarget& target,
                                const Reading& reading) {
  if (target.kind == "compiler") return load_one(path, target, reading);
  ASSIGN_OR_RETURN(const auto text, read_file(path));
  ASSIGN_OR_RETURN(auto program, detail::vector_program(detail::split(text, '\n'), 1, path));
  Source source{shown_name(path), std::move(program), {}};
  RETURN_IF_ERROR(expect_legal(source));
  return HuntSubject{source.name, {}, std::move(source.program)};
}

// Returns the kind that an entry of known.toml names. All entries about evaluators are about wrong
// values.
std::optional<FindingKind> kind_of_entry(std::string_view kind) {
  if (kind == "wrong-answer" || kind == "evaluator") return FindingKind::kDifferent;
  if (kind == "refused-output") return FindingKind::kRejected;
  if (kind == "refused") return FindingKind::kRefused;
  if (kind == "crash") return FindingKind::kCrashed;
  if (kind == "hang") return FindingKind::kHung;
  return {};
}

// Returns the kind in the name of a file that `fuzz --save` wrote.
std::optional<FindingKind> kind_of_file(const std::string& path) {
  const std::string name = fs::path(path).filename().string();
  for (std::size_t i = 0; i < kFindingKinds; ++i)
    if (name.starts_with(fmt::format("{}-", finding_name(static_cast<FindingKind>(i)))))
      return static_cast<FindingKind>(i);
  return {};
}

// Reads the wrong value of an input, such as "nr=1 -> 2".
Result<std::optional<Witness>> answer_of(std::string_view text, const std::string& place) {
  const auto run = parse_run(text);
  if (!run) return make_error(ErrorCode::kParse, place, run.error().detail);
  return std::optional(Witness{run->input, {}, run->expected});
}

// Reads the wrong value in a file that `fuzz --save` wrote. In a file with a policy, the policy's
// description contains it.
Result<std::optional<Witness>> answer_in_file(const std::string& path) {
  constexpr std::string_view kStart = "answer: words=";
  ASSIGN_OR_RETURN(const auto read, read_file(path));
  const std::size_t at = read.find(kStart);
  if (at == std::string::npos) return std::optional<Witness>();
  const std::string_view rest = std::string_view(read).substr(at + kStart.find("words="));
  return answer_of(rest.substr(0, rest.find_first_of("\n\\\"")), path);
}

// Returns whether the adapter occurs in the name of the target as a whole word: a file name or a
// command.
bool names_adapter(std::string_view target, std::string_view adapter) {
  constexpr std::string_view kEnds = "/: ";
  for (std::size_t at = target.find(adapter); at != std::string_view::npos;
       at = target.find(adapter, at + 1)) {
    const std::size_t end = at + adapter.size();
    if ((at == 0 || kEnds.find(target[at - 1]) != std::string_view::npos) &&
        (end == target.size() || kEnds.find(target[end]) != std::string_view::npos))
      return true;
  }
  return false;
}

Status add_file(Known& out, const std::string& path, const KnownTarget& target,
                const Reading& reading) {
  ASSIGN_OR_RETURN(auto one, load_one(path, target, reading));
  ASSIGN_OR_RETURN(auto answer, answer_in_file(path));
  out.subjects.push_back({std::move(one), kind_of_file(path), {}, answer});
  const std::string inputs = path + ".inputs";  // as `fuzz --save` writes them
  std::error_code error;
  if (target.kind != "evaluator" || !fs::exists(inputs, error)) return Ok{};
  ASSIGN_OR_RETURN(const auto bytes, read_file(inputs));
  ASSIGN_OR_RETURN(out.subjects.back().inputs, read_inputs(bytes, inputs));
  return Ok{};
}

Status add_entries(Known& out, const std::string& path, const KnownTarget& target,
                   const Reading& reading) {
  ASSIGN_OR_RETURN(const auto entries, entries_of(path));
  for (TomlEntry entry : entries) {
    const std::string& adapter = entry["adapter"];
    if (entry["request"] != request_of(target) || adapter.empty() ||
        !names_adapter(target.name, adapter))
      continue;
    if (entry["kind"] == "slow") {
      out.slow.insert(entry["family"]);
      continue;
    }
    const std::string file = (fs::path(path).parent_path() / entry["file"]).string();
    ASSIGN_OR_RETURN(auto one, load_listed(file, target, reading));
    out.subjects.push_back({std::move(one), kind_of_entry(entry["kind"])});
    if (entry["input"].empty()) continue;
    ASSIGN_OR_RETURN(auto answer, answer_of(entry["input"] + " -> " + entry["theirs"], path));
    out.subjects.back().answer = answer;
  }
  return Ok{};
}

// A folder without findings is valid: the earlier run found nothing.
Status add_folder(Known& out, const std::string& path, const KnownTarget& target,
                  const Reading& reading) {
  const std::string_view ending = target.kind == "compiler" ? ".json" : ".asm";
  std::vector<std::string> files;
  std::error_code error;
  for (auto at = fs::directory_iterator(path, error); !error && at != fs::directory_iterator();
       at.increment(error))
    if (at->path().extension() == ending) files.push_back(at->path().string());
  if (error) return make_error(ErrorCode::kIo, path, error.message());
  std::ranges::sort(files);
  for (const std::string& file : files) RETURN_IF_ERROR(add_file(out, file, target, reading));
  return Ok{};
}

}  // namespace

Result<Known> load_known(const std::vector<std::string>& paths, const KnownTarget& target,
                         const Reading& reading) {
  Known out;
  for (const std::string& path : paths) {
    std::error_code error;
    const auto add = fs::is_directory(path, error)           ? add_folder
                     : fs::path(path).extension() == ".toml" ? add_entries
                                                             : add_file;
    RETURN_IF_ERROR(add(out, path, target, reading));
  }
  return out;
}

}  // namespace secequiv
