#include "fuzz/hunt/store.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "harness/base/file.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/coverage/state.h"
#include "harness/policy/json.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::hunt {
namespace {

bool is_policy(const Finding& finding, const HuntReport& report) {
  return report.kind == "compiler" && !finding.subject.policy.empty();
}

std::vector<std::string> heading(const HuntReport& report, const Finding& finding,
                                 const std::string& path) {
  std::vector<std::string> lines = {
      fmt::format("{}: {}", finding_name(finding.kind), finding.detail),
      fmt::format("{} {}", report.kind, report.target),
      fmt::format("replay: {}", replay_command(report, finding, path)),
  };
  if (!finding.pass.empty()) lines.push_back("pass: " + finding.pass);
  if (finding.witness) {
    // Uses the notation of test vectors (corpus/FORMAT.md), but with the wrong value.
    std::vector<std::string> words;
    words.reserve(finding.witness->data.words.size());
    for (const std::uint32_t word : finding.witness->data.words)
      words.push_back(fmt::format("{:#x}", word));
    lines.push_back(
        fmt::format("answer: words={} -> {:#x}", fmt::join(words, ","), finding.witness->after));
  }
  for (std::string& line : lines) line = printable(line, false);
  return lines;
}

}  // namespace

std::string replay_command(const HuntReport& report, const Finding& finding,
                           const std::string& path) {
  const std::string target = shell_quoted(report.target);
  if (report.kind == "evaluator")
    return fmt::format(
        "secequiv fuzz --evaluator {} --programs {} --trials 1{}{}", target, shell_quoted(path),
        finding.witness ? fmt::format(" --inputs {}.inputs", shell_quoted(path)) : "",
        report.replay_options);
  const bool shown_by_check =
      finding.kind == FindingKind::kDifferent || finding.kind == FindingKind::kRejected;
  if (shown_by_check)
    return fmt::format("secequiv check --{} {} {}{}", report.kind, target, shell_quoted(path),
                       report.replay_options);
  return fmt::format("secequiv fuzz --{} {} {} {} --trials 1 --no-scaling{}", report.kind, target,
                     is_policy(finding, report) ? "--policies" : "--programs", shell_quoted(path),
                     report.replay_options);
}

std::string file_text(const HuntReport& report, const Finding& finding, const std::string& path) {
  const auto lines = heading(report, finding, path);
  if (is_policy(finding, report)) {
    auto policy = read_policy(finding.subject.policy, path);
    if (!policy) return finding.subject.policy;
    policy->description = fmt::format("{}", fmt::join(lines, "\n"));
    return write_policy(*policy);
  }
  std::string out;
  for (const std::string& line : lines) out += fmt::format("; {}\n", line);
  return out + write_program(finding.subject.before, Form::kAsm, annotate(finding.subject.before));
}

Status prepare_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return make_error(ErrorCode::kIo, folder, "cannot use it as a folder: " + error.message());
  if (::access(folder.c_str(), W_OK | X_OK) != 0)
    return make_error(ErrorCode::kIo, folder,
                      fmt::format("cannot write to this folder: {}", std::strerror(errno)));
  return Ok{};
}

Status store(const HuntReport& report, Finding& finding, const std::string& folder) {
  if (finding.subject.before.empty()) return Ok{};
  const std::string path = (std::filesystem::path(folder) / short_name(finding)).string() +
                           (is_policy(finding, report) ? ".json" : ".asm");
  RETURN_IF_ERROR(write_file(path, file_text(report, finding, path)));
  finding.file = path;
  if (report.kind != "evaluator" || !finding.witness) return Ok{};
  return write_file(path + ".inputs", write_inputs({finding.witness->data}));
}

void remove_stored(const std::string& file) {
  for (const std::string& name : {file, file + ".inputs"}) {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }
}

Status store_all(HuntReport& report, const std::string& folder) {
  RETURN_IF_ERROR(prepare_folder(folder));
  for (Finding& finding : report.findings) RETURN_IF_ERROR(store(report, finding, folder));
  return Ok{};
}

}  // namespace secequiv::hunt
