#include "harness/adapter/plugin_host.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "harness/adapter/children.h"
#include "harness/adapter/frames.h"
#include "harness/adapter/plugin.h"
#include "harness/adapter/process.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

static_assert(sizeof(secequiv_insn) == sizeof(Insn));
static_assert(sizeof(secequiv_input) == sizeof(SeccompData));

constexpr std::size_t kLeastRoom = std::size_t{1} << 16;  // instructions
constexpr std::size_t kLargestRequest = std::size_t{256} << 20;

using Message = std::array<char, SECEQUIV_MESSAGE_BYTES>;

std::string text_of(const Message& message) {
  return {message.data(), ::strnlen(message.data(), message.size())};
}

// Sets the outcome in `answer` from what a plugin's function returned. Returns whether there is a
// value to read.
template <class T>
bool answered(Answer<T>& answer, int returned, const Message& message) {
  answer.detail = text_of(message);
  switch (returned) {
    case SECEQUIV_ANSWERED:
      answer.detail.clear();
      return true;
    case SECEQUIV_UNSUPPORTED:
      answer.outcome = Outcome::kUnsupported;
      return false;
    case SECEQUIV_REFUSED:
      answer.outcome = Outcome::kRefused;
      return false;
    default:
      answer.outcome = Outcome::kGarbage;
      answer.detail = fmt::format("expected the plugin to return 0, 1 or 2, found {}{}{}", returned,
                                  answer.detail.empty() ? "" : ", saying: ", answer.detail);
      return false;
  }
}

template <class T>
Answer<T> without(std::string_view function) {
  Answer<T> answer;
  answer.outcome = Outcome::kUnsupported;
  answer.detail = fmt::format("the plugin has no {}", function);
  return answer;
}

std::vector<secequiv_insn> to_c(ProgramView program) {
  std::vector<secequiv_insn> out;
  out.reserve(program.size());
  for (const Insn& in : program) out.push_back({in.code, in.jt, in.jf, in.k});
  return out;
}

// Calls `function(out, &count, message)` with room for a program.
template <class Function>
Answer<Program> take_program(std::size_t room, const Function& function) {
  Answer<Program> answer;
  const auto out = std::make_unique_for_overwrite<secequiv_insn[]>(room);
  Message message{};
  std::size_t count = room;
  if (!answered(answer, function(out.get(), &count, message.data()), message)) return answer;
  if (count == 0 || count > room) {
    answer.outcome = Outcome::kGarbage;
    answer.detail =
        fmt::format("expected the plugin to write 1 to {} instructions, found {}", room, count);
    return answer;
  }
  answer.value.reserve(count);
  for (const secequiv_insn& in : std::span(out.get(), count))
    answer.value.push_back({in.code, in.jt, in.jf, in.k});
  return answer;
}

// Returns null if `library` has no function of that name.
template <class Function>
Function find(void* library, const char* name) {
  return reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Plugin::Plugin(const PluginFunctions& functions) : loaded_(functions) {
  if (loaded_.optimize != nullptr) functions_ += 'O';
  if (loaded_.compile != nullptr) functions_ += 'C';
  if (loaded_.evaluate != nullptr) functions_ += 'E';
}

Plugin::~Plugin() {
  if (library_ != nullptr) ::dlclose(library_);
}

Answer<Program> Plugin::optimize(ProgramView program) {
  if (loaded_.optimize == nullptr) return without<Program>("secequiv_optimize");
  const std::vector<secequiv_insn> in = to_c(program);
  return take_program(std::max(kLeastRoom, 4 * in.size()),
                      [&](secequiv_insn* out, std::size_t* count, char* message) {
                        return loaded_.optimize(in.data(), in.size(), out, count, message);
                      });
}

Answer<Program> Plugin::compile(std::string_view policy) {
  if (loaded_.compile == nullptr) return without<Program>("secequiv_compile");
  return take_program(std::max(kLeastRoom, policy.size()),
                      [&](secequiv_insn* out, std::size_t* count, char* message) {
                        return loaded_.compile(policy.data(), policy.size(), out, count, message);
                      });
}

Answer<std::vector<std::uint32_t>> Plugin::evaluate(ProgramView program,
                                                    std::span<const SeccompData> inputs) {
  using Values = std::vector<std::uint32_t>;
  if (loaded_.evaluate == nullptr) return without<Values>("secequiv_evaluate");
  Answer<Values> answer;
  const std::vector<secequiv_insn> in = to_c(program);
  std::vector<secequiv_input> words(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i)
    std::ranges::copy(inputs[i].words, words[i].words);
  answer.value.resize(inputs.size());
  Message message{};
  const int returned = loaded_.evaluate(in.data(), in.size(), words.data(), words.size(),
                                        answer.value.data(), message.data());
  if (!answered(answer, returned, message)) answer.value.clear();
  return answer;
}

Result<std::unique_ptr<Plugin>> load_plugin(const std::string& file) {
  std::error_code ignored;
  // With an absolute path, dlopen does not look in the library search path.
  const std::string path = std::filesystem::absolute(file, ignored);
  std::unique_ptr<void, int (*)(void*)> library(::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL),
                                                [](void* it) { return ::dlclose(it); });
  if (!library) return make_error(ErrorCode::kIo, file, ::dlerror());
  const auto version =
      find<decltype(&secequiv_plugin_version)>(library.get(), "secequiv_plugin_version");
  if (version == nullptr)
    return make_error(ErrorCode::kIo, file, "expected secequiv_plugin_version, found none");
  if (const std::uint32_t found = version(); found != SECEQUIV_PLUGIN_VERSION)
    return make_error(
        ErrorCode::kIo, file,
        fmt::format("expected version {} of plugin.h, found {}", SECEQUIV_PLUGIN_VERSION, found));
  PluginFunctions functions;
  functions.optimize = find<decltype(functions.optimize)>(library.get(), "secequiv_optimize");
  functions.compile = find<decltype(functions.compile)>(library.get(), "secequiv_compile");
  functions.evaluate = find<decltype(functions.evaluate)>(library.get(), "secequiv_evaluate");
  auto plugin = std::make_unique<Plugin>(functions);
  if (plugin->functions().empty())
    return make_error(
        ErrorCode::kIo, file,
        "expected secequiv_optimize, secequiv_compile or secequiv_evaluate, found none");
  plugin->library_ = library.release();
  return plugin;
}

namespace {

// Moves the streams that carry frames to other descriptors, so that the plugin cannot use them by
// accident.
struct Streams {
  Fd in;
  Fd out;

  Status take() {
    in.reset(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    out.reset(::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
    const Fd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!in.open() || !out.open() || !nothing.open() || ::dup2(nothing.get(), STDIN_FILENO) < 0 ||
        ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
      return make_error(ErrorCode::kIo, "plugin-host",
                        fmt::format("cannot move the standard streams: {}", std::strerror(errno)));
    return Ok{};
  }
};

// Reads `size` bytes, or fewer at the end of the input. Returns how many it read.
std::size_t read_all(int fd, char* to, std::size_t size) {
  std::size_t got = 0;
  while (got < size) {
    const ssize_t n = ::read(fd, to + got, size - got);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    got += static_cast<std::size_t>(n);
  }
  return got;
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0)
      return make_error(ErrorCode::kIo, "<stdout>",
                        fmt::format("cannot write: {}", std::strerror(errno)));
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
  return Ok{};
}

// Returns false at the end of the requests.
Result<bool> read_frame(int fd, std::string& body) {
  std::array<char, kLengthBytes> length{};
  const std::size_t got = read_all(fd, length.data(), length.size());
  if (got == 0) return false;
  const std::size_t size = frame_length({length.data(), length.size()});
  if (got == length.size() && size > kLargestRequest)
    return make_error(
        ErrorCode::kParse, "<stdin>",
        fmt::format("expected a request of at most {} bytes, found {}", kLargestRequest, size));
  body.resize(size);
  if (got < length.size() || read_all(fd, body.data(), size) < size)
    return make_error(ErrorCode::kIo, "<stdin>", "expected a complete request, found only a part");
  return true;
}

std::string body_of(const Program& program) { return write_program(program, Form::kRaw); }
std::string body_of(const std::vector<std::uint32_t>& values) { return values_body(values); }
std::string body_of(const std::vector<OptimizerStage>& stages) { return stages_body(stages); }

template <class T>
std::string frame_of(const Answer<T>& answer) {
  const auto frame = [](AnswerStatus status, const std::string& body) {
    std::string out;
    append_frame(out, static_cast<char>(status) + body);
    return out;
  };
  switch (answer.outcome) {
    case Outcome::kAnswered:
      return frame(kStatusAnswered, body_of(answer.value));
    case Outcome::kUnsupported:
      return frame(kStatusUnsupported, answer.detail);
    case Outcome::kRefused:
      return frame(kStatusRefused, answer.detail);
    default:
      return frame(kStatusGarbage, answer.detail);
  }
}

std::string failure(Outcome outcome, const std::string& detail) {
  Answer<Program> answer;
  answer.outcome = outcome;
  answer.detail = detail;
  return frame_of(answer);
}

std::string not_answered(const Error& error) {
  return failure(error.code == ErrorCode::kUsage ? Outcome::kUnsupported : Outcome::kRefused,
                 error.detail);
}

std::string answer_to(const Request& request, Plugin& plugin) {
  switch (request.kind) {
    case RequestKind::kOptimize:
      return frame_of(plugin.optimize(request.program));
    case RequestKind::kStages:
      return frame_of(plugin.stages(request.program));
    case RequestKind::kCompile:
      return frame_of(plugin.compile(request.policy));
    case RequestKind::kEvaluate:
      return frame_of(plugin.evaluate(request.program, request.inputs));
    case RequestKind::kReached:
      return failure(Outcome::kUnsupported, "a plugin does not report its edges");
    case RequestKind::kFunctions:
      break;
  }
  std::string out;
  append_frame(out, static_cast<char>(kStatusAnswered) + plugin.functions());
  return out;
}

}  // namespace

Status host_plugin(const std::string& file) {
  const NoSigpipe no_sigpipe;
  Streams streams;
  RETURN_IF_ERROR(streams.take());
  const auto plugin = load_plugin(file);
  std::string body;
  for (;;) {
    const Result<bool> more = read_frame(streams.in.get(), body);
    if (!plugin) {
      if (more && *more)
        RETURN_IF_ERROR(
            write_all(streams.out.get(), failure(Outcome::kRefused, plugin.error().detail)));
      return plugin.error();
    }
    if (!more) return more.error();
    if (!*more) return Ok{};
    const Result<Request> request = decode_request(body);
    RETURN_IF_ERROR(write_all(streams.out.get(), request ? answer_to(*request, **plugin)
                                                         : not_answered(request.error())));
  }
}

}  // namespace secequiv
