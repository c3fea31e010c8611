#include "harness/adapter/command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "harness/base/interrupt.h"
#include "harness/base/shell.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;

// A POSIX shell exits with these statuses if it may not execute a command or does not find it.
constexpr int kNoPermissionStatus = 126;
constexpr int kNoCommandStatus = 127;

// Exchanges data with the process until it has exited and closed its outputs. Returns the limit
// that was exceeded, if any.
std::string pump(Process& process, std::string_view input, std::string& output,
                 const AdapterLimits& limits, Outcome& outcome) {
  const auto deadline = deadline_in(limits.seconds_now());
  if (input.empty()) process.close_input();
  while (!process.exited() || process.output_open() || process.error_open()) {
    const bool more = !input.empty();
    const bool in_time = process.step(input, output, deadline);
    if (!in_time && (!process.exited() || process.output_open() || process.error_open())) {
      outcome = Outcome::kHung;
      return fmt::format("it was still running after {} s and was killed", limits.seconds_now());
    }
    if (more && input.empty()) process.close_input();
    if (output.size() > limits.output_bytes) {
      outcome = Outcome::kExhausted;
      return fmt::format("it wrote more than {} bytes and was killed", limits.output_bytes);
    }
  }
  return {};
}

// Returns the words of a command if the command means the same without a shell: all words are plain
// (no quotes, no variables), and the first is a file name, not an assignment. Else returns nothing.
std::vector<std::string> plain_words(std::string_view command) {
  std::vector<std::string> out;
  while (!command.empty()) {
    const std::size_t end = std::min(command.find(' '), command.size());
    std::string word(command.substr(0, end));
    command.remove_prefix(std::min(end + 1, command.size()));
    if (word.empty()) continue;
    if (shell_quoted(word) != word) return {};
    if (out.empty() && word.find('=') != word.npos) return {};
    out.push_back(std::move(word));
  }
  return out;
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

}  // namespace

Outcome failed(const Ending& ending, const ErrorTail& tail, std::string& how) {
  const auto status = ending.exit_status();
  if (status == kNoPermissionStatus || status == kNoCommandStatus) return Outcome::kCannotRun;
  const bool near = ending.resident_bytes / 3 >= ending.memory_bytes / 4;
  if (ending.limit_of_work && !near && !tail.tells_of_memory())
    how += fmt::format("; the limit of all work left it {} bytes of memory", ending.memory_bytes);
  if (ending.memory_bytes == 0 || (!near && !tail.tells_of_memory())) return Outcome::kCrashed;
  if (ending.limit_of_work) memory_ran_out();
  how += fmt::format("; it ran out of memory (limit {} bytes)", ending.memory_bytes);
  return Outcome::kExhausted;
}

std::string file_of_command(const std::string& command, const AdapterLimits& limits) {
  const std::vector<std::string> words = plain_words(command.substr(0, command.find(' ')));
  if (words.empty()) return {};
  if (words[0].find('/') != std::string::npos) return words[0];
  // Only the shell knows its own commands and functions, so it names the file.
  const Answer<std::string> found = run_command("command -v " + words[0], {}, limits);
  const std::string file = found.value.substr(0, found.value.find('\n'));
  return file.starts_with('/') && fs::path(file).filename() == words[0] ? file : "";
}

Answer<std::string> run_command(const std::string& command, std::string_view input,
                                const AdapterLimits& limits, const std::string& file) {
  const auto start = Clock::now();
  Answer<std::string> answer;
  const NoSigpipe no_sigpipe;
  Process process;
  Start launch{.argv = {"/bin/sh", "-c", command},
               .memory_bytes = limits.memory_bytes,
               .confinement = limits.confinement.get(),
               .ends_with_thread = true};
  if (!file.empty()) launch.words = plain_words(command);
  if (!launch.words.empty()) launch.file = file;
  if (const Status started = process.start(std::move(launch)); !started) {
    answer.outcome = Outcome::kCrashed;
    answer.detail = started.error().detail;
    return answer;
  }
  std::string how = pump(process, input, answer.value, limits, answer.outcome);
  const Ending ending = process.end();
  answer.seconds = seconds_since(start);
  if (answer.ok() && ending.exit_status() == kUnsupportedStatus) {
    answer.outcome = Outcome::kUnsupported;
    how = ending.text();
  } else if (answer.ok() && !ending.clean()) {
    how = ending.text();
    answer.outcome = failed(ending, process.tail(), how);
  }
  if (!answer.ok()) answer.value.clear();
  // The program may have written its answer to standard error, so the message quotes the end of
  // standard error.
  if (answer.ok() && is_blank(answer.value)) how = "it exited with status 0 and printed nothing";
  if (how.empty()) return answer;
  answer.detail = how + process.tail().clause();
  answer.cause = process.tail().cause(how);
  return answer;
}

}  // namespace secequiv
