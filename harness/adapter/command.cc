#include "harness/adapter/command.h"

#include <fmt/format.h>

namespace secequiv {
namespace {

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

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == text.npos; }

}  // namespace

Outcome outcome_of(const Ending& ending, const ErrorTail& tail, std::size_t memory_bytes) {
  const auto status = ending.exit_status();
  if (status == kNoPermissionStatus || status == kNoCommandStatus) return Outcome::kCannotRun;
  const bool near = ending.resident_bytes / 3 >= memory_bytes / 4;
  return memory_bytes != 0 && (near || tail.tells_of_memory()) ? Outcome::kExhausted
                                                               : Outcome::kCrashed;
}

std::string failure_text(Outcome outcome, const std::string& how, std::size_t memory_bytes) {
  if (outcome != Outcome::kExhausted) return how;
  return fmt::format("{}; it ran out of memory (limit {} bytes)", how, memory_bytes);
}

Answer<std::string> run_command(const std::string& command, std::string_view input,
                                const AdapterLimits& limits) {
  const auto start = Clock::now();
  Answer<std::string> answer;
  const NoSigpipe no_sigpipe;
  Process process;
  if (const Status started =
          process.start({"/bin/sh", "-c", command}, limits.memory_bytes, limits.confinement.get());
      !started) {
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
    answer.outcome = outcome_of(ending, process.tail(), limits.memory_bytes);
    how = failure_text(answer.outcome, ending.text(), limits.memory_bytes);
  }
  if (!answer.ok()) answer.value.clear();
  // The program may have written its answer to standard error, so the message quotes the end of
  // that.
  if (answer.ok() && is_blank(answer.value)) how = "it exited with status 0 and printed nothing";
  if (how.empty()) return answer;
  answer.detail = how + process.tail().clause();
  answer.cause = process.tail().cause(how);
  return answer;
}

}  // namespace secequiv
