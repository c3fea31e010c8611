#include <fmt/format.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <mutex>
#include <utility>

#include "harness/adapter/command.h"
#include "harness/adapter/transports.h"
#include "harness/base/file.h"
#include "harness/base/parts.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/seccomp/c_names.h"
#include "harness/seccomp/data.h"

namespace secequiv::detail {
namespace {

namespace fs = std::filesystem;

std::size_t find_placeholder(const std::string& command, const std::string& word,
                             std::size_t from) {
  std::size_t at = command.find(word, from);
  while (at != std::string::npos && at > 0 && command[at - 1] == '$')
    at = command.find(word, at + 1);
  return at;
}

// A folder that only this user can read. It is removed at the end of the scope.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = parent() / "secequiv-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr)
      path_ = name;
    else
      problem_ = fmt::format("cannot make a folder like {}: {}", name, std::strerror(errno));
  }
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  [[nodiscard]] const std::string& problem() const { return problem_; }
  [[nodiscard]] std::string file(const std::string& name) const { return path_ + "/" + name; }
  // Removes everything in the folder. Returns whether it can be used again.
  [[nodiscard]] bool clear() const {
    struct stat now{};
    if (path_.empty() || ::stat(path_.c_str(), &now) != 0 || (now.st_mode & 07777) != 0700)
      return false;
    std::error_code error;
    for (auto at = fs::directory_iterator(path_, error); !error && at != fs::directory_iterator();
         at.increment(error))
      if (std::error_code failed; fs::remove_all(at->path(), failed), failed) return false;
    return !error;
  }

 private:
  // Memory is faster than a disk: replacing a file on ext4, as `sed -i` does, waits for the disk.
  static fs::path parent() {
    std::error_code error;
    struct statfs memory{};
    constexpr std::uint64_t kEnough = std::uint64_t{1} << 30;
    if (std::getenv("TMPDIR") == nullptr && ::statfs("/dev/shm", &memory) == 0 &&
        memory.f_type == TMPFS_MAGIC && ::access("/dev/shm", W_OK | X_OK) == 0 &&
        memory.f_bavail * static_cast<std::uint64_t>(memory.f_bsize) >= kEnough)
      return "/dev/shm";
    const fs::path usual = fs::temp_directory_path(error);
    return error ? fs::path("/tmp") : usual;
  }

  std::string path_;
  std::string problem_;
};

// Keeps folders for the requests that follow: on a disk, making and removing one can take longer
// than the command. Several threads may use it.
class Folders {
 public:
  using Folder = std::unique_ptr<PrivateFolder>;
  // Returns an empty folder.
  Folder take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::make_unique<PrivateFolder>();
    Folder out = std::move(free_.back());
    free_.pop_back();
    return out;
  }
  void give_back(Folder folder) {
    if (!folder->clear()) return;
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(folder));
  }

 private:
  std::mutex mutex_;
  std::vector<Folder> free_;
};

// The folder of one request.
class RequestFolder {
 public:
  explicit RequestFolder(Folders& folders) : folders_(folders), folder_(folders.take()) {}
  ~RequestFolder() { folders_.give_back(std::move(folder_)); }
  RequestFolder(const RequestFolder&) = delete;
  RequestFolder& operator=(const RequestFolder&) = delete;
  const PrivateFolder* operator->() const { return folder_.get(); }

 private:
  Folders& folders_;
  Folders::Folder folder_;
};

// Returns an error message, or an empty string. Does not sync to disk, because the file is
// temporary.
std::string put_file(const std::string& path, std::string_view bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush();
  return file ? "" : fmt::format("{}: cannot write: {}", path, std::strerror(errno));
}

template <class T>
Answer<T> failed(Outcome outcome, std::string detail, double seconds = 0) {
  Answer<T> answer;
  answer.outcome = outcome;
  answer.detail = std::move(detail);
  answer.seconds = seconds;
  return answer;
}

// Returns a failure with `detail`, and with the time and the cause of `output`.
template <class T>
Answer<T> failed(Outcome outcome, std::string detail, const Answer<std::string>& output) {
  Answer<T> answer = failed<T>(outcome, std::move(detail), output.seconds);
  answer.cause = output.cause;
  return answer;
}

// Reads the file `path` that the command should have written.
Answer<std::string> read_answer_file(const std::string& path, const std::string& placeholder,
                                     const AdapterLimits& limits) {
  std::error_code error;
  if (!fs::is_regular_file(path, error))  // reading from a pipe might never end
    return failed<std::string>(
        Outcome::kGarbage,
        fmt::format("expected a program in the file {}, but it exited with status 0 and did not "
                    "write the file",
                    placeholder));
  const std::uintmax_t size = fs::file_size(path, error);
  if (!error && size > limits.output_bytes)
    return failed<std::string>(
        Outcome::kExhausted, fmt::format("it wrote {} bytes to {}, more than the limit of {}", size,
                                         placeholder, limits.output_bytes));
  auto bytes = read_file(path, limits.output_bytes);
  if (!bytes)
    return failed<std::string>(
        Outcome::kGarbage, fmt::format("cannot read {}: {}", placeholder, bytes.error().detail));
  Answer<std::string> answer;
  answer.value = std::move(*bytes);
  return answer;
}

// Runs a command that answers with a program. Its input is a text or a program.
class ProgramCommand {
 public:
  static Result<ProgramCommand> open(const std::string& command, const AdapterOptions& options) {
    ProgramCommand out(command, options.limits);
    const bool in = has_placeholder(command, "in");
    if (in != has_placeholder(command, "out"))
      return make_error(ErrorCode::kUsage, command,
                        fmt::format("expected {{in}} and {{out}} or neither, found only {{{}}}",
                                    in ? "in" : "out"));
    if (in && has_placeholder(command, ""))
      return make_error(ErrorCode::kUsage, command,
                        "expected either {} or {in} and {out}, found all of them");
    if (in) out.files_ = Files::kTwo;
    if (has_placeholder(command, "")) out.files_ = Files::kOne;
    out.file_ = file_of_command(command, options.limits);
    return out;
  }

  [[nodiscard]] Answer<Program> ask(std::string_view request) const {
    const Answer<std::string> output = run(request);
    if (!output.ok()) return failed<Program>(output.outcome, output.detail, output);
    if (files_ == Files::kNone && !output.detail.empty())
      return failed<Program>(Outcome::kGarbage,
                             "expected a program on its standard output, but " + output.detail,
                             output);
    auto program = read_program(output.value, name(), std::nullopt, c_names(Arch::kX86_64));
    if (!program) return failed<Program>(Outcome::kGarbage, program.error().text(), output.seconds);
    Answer<Program> answer;
    answer.value = std::move(*program);
    answer.seconds = output.seconds;
    return answer;
  }

 private:
  enum class Files { kNone, kOne, kTwo };

  ProgramCommand(std::string command, const AdapterLimits& limits)
      : command_(std::move(command)), limits_(limits) {}

  [[nodiscard]] std::string name() const {
    return files_ == Files::kNone ? "its output" : files_ == Files::kOne ? "{}" : "{out}";
  }

  [[nodiscard]] Answer<std::string> run(std::string_view request) const {
    if (files_ == Files::kNone) return run_command(command_, request, limits_, file_);
    const RequestFolder folder(*folders_);
    if (!folder->problem().empty())
      return failed<std::string>(Outcome::kCrashed, folder->problem());
    const std::string in = folder->file("in");
    const std::string out = files_ == Files::kTwo ? folder->file("out") : in;
    if (const std::string problem = put_file(in, request); !problem.empty())
      return failed<std::string>(Outcome::kCrashed, problem);
    std::string command = command_;
    command = files_ == Files::kOne
                  ? replace_placeholder(command, "", in)
                  : replace_placeholder(replace_placeholder(command, "in", in), "out", out);
    Answer<std::string> answer = run_command(command, {}, limits_, file_);
    if (!answer.ok()) return answer;
    const double seconds = answer.seconds;
    answer = read_answer_file(out, name(), limits_);
    answer.seconds = seconds;
    return answer;
  }

  std::string command_;
  std::string file_;  // for run_command
  AdapterLimits limits_;
  Files files_ = Files::kNone;
  std::unique_ptr<Folders> folders_ = std::make_unique<Folders>();
};

class CommandOptimizer final : public Optimizer {
 public:
  CommandOptimizer(ProgramCommand command, const AdapterOptions& options)
      : command_(std::move(command)), form_(options.form), at_once_(options.at_once) {}
  Answer<Program> optimize(ProgramView program) override {
    return command_.ask(write_program(program, form_));
  }
  [[nodiscard]] unsigned at_once() const override { return at_once_; }

 private:
  ProgramCommand command_;
  Form form_;
  unsigned at_once_;
};

class CommandCompiler final : public TextCompiler {
 public:
  CommandCompiler(ProgramCommand command, unsigned at_once)
      : command_(std::move(command)), at_once_(at_once) {}
  [[nodiscard]] unsigned at_once() const override { return at_once_; }

 private:
  Answer<Program> compile_text(std::string_view policy) override { return command_.ask(policy); }

  ProgramCommand command_;
  unsigned at_once_;
};

// Reads one number per line. Returns an error message, or an empty string.
std::string read_values(std::string_view text, std::size_t count,
                        std::vector<std::uint32_t>& values) {
  constexpr std::string_view kBlank = " \t\r";
  std::size_t line_number = 0;
  while (!text.empty()) {
    ++line_number;
    std::string_view line = take_part(text);
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(kBlank)));
    line = line.substr(0, line.find_last_not_of(kBlank) + 1);
    if (line.empty() && text.empty()) break;
    const auto value = parse_unsigned(line);
    if (!value || *value > 0xffffffff)
      return fmt::format("its output:{}: expected a number from 0 to 2^32-1, found '{}'",
                         line_number, printable(line.substr(0, 80), false));
    if (values.size() == count)
      return fmt::format("its output:{}: expected {} values, one for each input, found more",
                         line_number, count);
    values.push_back(static_cast<std::uint32_t>(*value));
  }
  if (values.size() == count) return {};
  return fmt::format("its output: expected {} values, one for each input, found {}", count,
                     values.size());
}

class CommandEvaluator final : public Evaluator {
 public:
  CommandEvaluator(std::string command, const AdapterOptions& options)
      : command_(std::move(command)),
        file_(file_of_command(command_, options.limits)),
        limits_(options.limits),
        form_(options.form),
        at_once_(options.at_once) {}
  [[nodiscard]] unsigned at_once() const override { return at_once_; }

  Answer<std::vector<std::uint32_t>> evaluate(ProgramView program,
                                              std::span<const SeccompData> inputs) override {
    using Values = std::vector<std::uint32_t>;
    const RequestFolder folder(folders_);
    if (!folder->problem().empty()) return failed<Values>(Outcome::kCrashed, folder->problem());
    const std::string program_path = folder->file("program");
    const std::string inputs_path = folder->file("inputs");
    const bool by_file = has_placeholder(command_, "inputs");
    const std::string bytes = input_bytes(inputs);
    std::string problem = put_file(program_path, write_program(program, form_));
    if (problem.empty() && by_file) problem = put_file(inputs_path, bytes);
    if (!problem.empty()) return failed<Values>(Outcome::kCrashed, problem);
    const std::string command = replace_placeholder(
        replace_placeholder(command_, "program", program_path), "inputs", inputs_path);
    const Answer<std::string> output =
        run_command(command, by_file ? std::string_view() : bytes, limits_, file_);
    if (!output.ok()) return failed<Values>(output.outcome, output.detail, output);
    Answer<Values> answer;
    answer.seconds = output.seconds;
    const std::string wrong = read_values(output.value, inputs.size(), answer.value);
    if (!wrong.empty()) return failed<Values>(Outcome::kGarbage, wrong, output.seconds);
    return answer;
  }

 private:
  std::string command_;
  std::string file_;  // for run_command
  AdapterLimits limits_;
  Form form_;
  unsigned at_once_;
  Folders folders_;
};

}  // namespace

bool has_placeholder(const std::string& command, const std::string& name) {
  return find_placeholder(command, "{" + name + "}", 0) != std::string::npos;
}

std::string replace_placeholder(const std::string& command, const std::string& name,
                                const std::string& path) {
  const std::string word = "{" + name + "}";
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = 0; (at = find_placeholder(command, word, from)) != std::string::npos;
       from = at + word.size())
    out += command.substr(from, at - from) + shell_quoted(path);
  return out + command.substr(from);
}

Result<std::unique_ptr<Optimizer>> command_optimizer(const std::string& command,
                                                     const AdapterOptions& options) {
  ASSIGN_OR_RETURN(auto asked, ProgramCommand::open(command, options));
  return std::unique_ptr<Optimizer>(std::make_unique<CommandOptimizer>(std::move(asked), options));
}

Result<std::unique_ptr<Compiler>> command_compiler(const std::string& command,
                                                   const AdapterOptions& options) {
  ASSIGN_OR_RETURN(auto asked, ProgramCommand::open(command, options));
  return std::unique_ptr<Compiler>(
      std::make_unique<CommandCompiler>(std::move(asked), options.at_once));
}

Result<std::unique_ptr<Evaluator>> command_evaluator(const std::string& command,
                                                     const AdapterOptions& options) {
  if (!has_placeholder(command, "program"))
    return make_error(ErrorCode::kUsage, command,
                      "expected {program}, which stands for the program's file, found none");
  return std::unique_ptr<Evaluator>(std::make_unique<CommandEvaluator>(command, options));
}

}  // namespace secequiv::detail

namespace secequiv {

Answer<std::string> run_command_on_file(const std::string& command, std::string_view input,
                                        const std::string& name, const AdapterLimits& limits) {
  if (!detail::has_placeholder(command, "")) return run_command(command, input, limits);
  const detail::PrivateFolder folder;
  if (!folder.problem().empty())
    return detail::failed<std::string>(Outcome::kCrashed, folder.problem());
  const std::string path = folder.file(name);
  if (const std::string problem = detail::put_file(path, input); !problem.empty())
    return detail::failed<std::string>(Outcome::kCrashed, problem);
  return run_command(detail::replace_placeholder(command, "", path), {}, limits);
}

}  // namespace secequiv
