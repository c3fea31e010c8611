#include "cli/libseccomp.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/command.h"
#include "harness/adapter/command.h"
#include "harness/base/file.h"
#include "harness/base/loaded.h"
#include "harness/base/shell.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"

namespace secequiv::cli {
namespace {

constexpr const char* kCommand = "libseccomp-host";
constexpr double kSeconds = 5;
constexpr std::size_t kMemory = std::size_t{1} << 30;

// The interface of libseccomp, from its manual pages.
struct Version {
  unsigned major, minor, micro;
};
struct Test {
  unsigned argument;
  int op;
  std::uint64_t a, b;
};
constexpr std::uint32_t kNative = 0;  // SCMP_ARCH_NATIVE
constexpr int kUnknownCall = -1;      // __NR_SCMP_ERROR
constexpr unsigned kApiLevel = 6;     // everything that version 2.5 offers, whatever the kernel has
constexpr int kOptimize = 8;          // SCMP_FLTATR_CTL_OPTIMIZE

struct Library {
  const Version* (*version)();
  int (*api_set)(unsigned level);
  void* (*init)(std::uint32_t action);
  std::uint32_t (*arch_native)();
  std::uint32_t (*arch_resolve_name)(const char* name);
  int (*arch_add)(void* filter, std::uint32_t arch);
  int (*arch_remove)(void* filter, std::uint32_t arch);
  int (*attr_set)(void* filter, int attribute, std::uint32_t value);
  int (*resolve_name)(const char* name);
  char* (*resolve_number)(std::uint32_t arch, int number);
  int (*rule_add)(void* filter, std::uint32_t action, int number, unsigned count,
                  const Test* tests);
  int (*export_bpf)(void* filter, int file);
  int (*export_pfc)(void* filter, int file);

  Status load(const std::string& file) {
    const auto at = [](auto& function) { return reinterpret_cast<void**>(&function); };
    const std::array<LoadedFunction, 13> functions = {{
        {"seccomp_version", at(version)},
        {"seccomp_api_set", at(api_set)},
        {"seccomp_init", at(init)},
        {"seccomp_arch_native", at(arch_native)},
        {"seccomp_arch_resolve_name", at(arch_resolve_name)},
        {"seccomp_arch_add", at(arch_add)},
        {"seccomp_arch_remove", at(arch_remove)},
        {"seccomp_attr_set", at(attr_set)},
        {"seccomp_syscall_resolve_name", at(resolve_name)},
        {"seccomp_syscall_resolve_num_arch", at(resolve_number)},
        {"seccomp_rule_add_array", at(rule_add)},
        {"seccomp_export_bpf", at(export_bpf)},
        {"seccomp_export_pfc", at(export_pfc)},
    }};
    return load_functions(file.c_str(), functions);
  }

  [[nodiscard]] std::string title() const {
    const Version& v = *version();
    return fmt::format("libseccomp {}.{}.{}", v.major, v.minor, v.micro);
  }
};

Error refused(const Library& library, const std::string& line, const std::string& why) {
  return make_error(ErrorCode::kRejected, {},
                    fmt::format("{} refuses '{}': {}", library.title(), line, why));
}

// The filter that grows with each line of a request (harness/import/library_request.h).
class Filter {
 public:
  explicit Filter(const Library& library) : library_(library) {}

  Status add(const std::string& line) {
    std::istringstream text(line);
    const std::vector<std::string> words{std::istream_iterator<std::string>(text), {}};
    if (words.size() == 2 && words[0] == "default") return start(line, words[1]);
    if (words.size() == 2 && words[0] == "arch" && filter_ != nullptr)
      return add_arch(line, words[1]);
    if (words.size() >= 3 && words[0] == "rule" && (words.size() - 3) % 4 == 0 &&
        filter_ != nullptr)
      return add_rule(line, words);
    return make_error(ErrorCode::kParse, {},
                      fmt::format("expected 'default ACTION', then 'arch NAME' and 'rule ACTION "
                                  "SYSCALL [INDEX OP A B]...', found '{}'",
                                  line));
  }

  Status set_tree() {
    return checked("the tree of numbers", library_.attr_set(filter_, kOptimize, 2));
  }

  // Writes the program, or libseccomp's pseudo code, to standard output.
  Status write(bool pfc) {
    return checked("the whole request", pfc ? library_.export_pfc(filter_, STDOUT_FILENO)
                                            : library_.export_bpf(filter_, STDOUT_FILENO));
  }

  [[nodiscard]] bool started() const { return filter_ != nullptr; }
  [[nodiscard]] const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  Status checked(const std::string& line, int status) {
    if (status >= 0) return Ok{};
    return refused(library_, line, std::strerror(-status));
  }

  static std::uint64_t number(const std::string& text) {
    return std::strtoull(text.c_str(), nullptr, 0);
  }

  Status start(const std::string& line, const std::string& action) {
    filter_ = library_.init(static_cast<std::uint32_t>(number(action)));
    return filter_ != nullptr ? Status(Ok{}) : refused(library_, line, std::strerror(EINVAL));
  }

  // libseccomp starts with the architecture of this machine, which stays only if the request names
  // it. It goes first, because libseccomp refuses to mix byte orders.
  Status add_arch(const std::string& line, const std::string& name) {
    const std::uint32_t arch = library_.arch_resolve_name(name.c_str());
    if (arch == 0) return refused(library_, line, "unknown architecture");
    if (std::exchange(first_, false) && arch != library_.arch_native())
      RETURN_IF_ERROR(checked(line, library_.arch_remove(filter_, kNative)));
    const int status = library_.arch_add(filter_, arch);
    return status == -EEXIST ? Status(Ok{}) : checked(line, status);
  }

  Status add_rule(const std::string& line, const std::vector<std::string>& words) {
    constexpr std::array<std::string_view, 8> kOperators = {"",   "ne", "lt", "le",
                                                            "eq", "ge", "gt", "masked_eq"};
    std::vector<Test> tests;
    tests.reserve(words.size() / 4);
    for (std::size_t i = 3; i < words.size(); i += 4) {
      const auto* const op = std::ranges::find(kOperators, words[i + 1]);
      if (op == kOperators.end()) return refused(library_, line, "unknown operator");
      tests.push_back({static_cast<unsigned>(number(words[i])),
                       static_cast<int>(op - kOperators.begin()), number(words[i + 2]),
                       number(words[i + 3])});
    }
    // libseccomp expects numbers of this machine's architecture, or pseudo numbers for calls that
    // it lacks, and translates them. Like runtimes, this omits calls that it does not know.
    const int nr = library_.resolve_name(words[2].c_str());
    if (nr == kUnknownCall) {
      if (std::ranges::find(unknown_, words[2]) == unknown_.end()) unknown_.push_back(words[2]);
      return Ok{};
    }
    return checked(line, library_.rule_add(filter_, static_cast<std::uint32_t>(number(words[1])),
                                           nr, static_cast<unsigned>(tests.size()), tests.data()));
  }

  const Library& library_;
  void* filter_ = nullptr;
  bool first_ = true;
  std::vector<std::string> unknown_;
};

struct HostOptions {
  Options options;
  std::string file;
  bool tree = false;
  bool pfc = false;
  std::string calls;
};

// Writes "NUMBER NAME" for each call that the library knows on an architecture.
Status list_calls(const Library& library, const std::string& arch) {
  constexpr int kLimit = 1024;
  const std::uint32_t token = library.arch_resolve_name(arch.c_str());
  if (token == 0)
    return make_error(ErrorCode::kUsage, "--calls",
                      fmt::format("expected an architecture of libseccomp, found '{}'", arch));
  const int first = arch == arch_info(Arch::kX32).name ? static_cast<int>(kX32Bit) : 0;
  for (int nr = first; nr < first + kLimit; ++nr)
    if (char* name = library.resolve_number(token, nr)) {
      fmt::print("{} {}\n", nr, name);
      std::free(name);
    }
  return Ok{};
}

// Answers with the words that ask() expects: "filter", the library's title, the unknown calls in
// one line, and the filter.
Status answer(const Library& library, const HostOptions& given) {
  std::string line;
  Filter filter(library);
  ASSIGN_OR_RETURN(const auto request, read_file("/dev/stdin"));
  std::istringstream lines(request);
  while (std::getline(lines, line)) {
    const bool first = !filter.started();
    RETURN_IF_ERROR(filter.add(line));
    if (first && given.tree) RETURN_IF_ERROR(filter.set_tree());
  }
  if (!filter.started())
    return make_error(ErrorCode::kParse, "standard input", "expected a request, found nothing");
  fmt::print("filter\n{}\n{}\n", library.title(), fmt::join(filter.unknown(), " "));
  std::fflush(stdout);
  return filter.write(given.pfc);
}

Result<int> host_library(HostOptions& given) {
  Library library{};
  if (const auto s = library.load(given.file); !s) {
    fmt::print("missing\n{}\n", s.error().detail);
    return 0;
  }
  if (library.api_set(kApiLevel) != 0) {
    fmt::print("missing\n{} lacks the API level {}\n", library.title(), kApiLevel);
    return 0;
  }
  const Status done =
      given.calls.empty() ? answer(library, given) : list_calls(library, given.calls);
  if (!done && done.error().code == ErrorCode::kRejected)
    fmt::print("refused\n{}\n", done.error().detail);
  else if (!done)
    return done.error();
  return 0;
}

// Takes a line from the beginning of `text`.
std::string take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string out(text.substr(0, end));
  text.remove_prefix(std::min(end + 1, text.size()));
  return out;
}

Result<LibraryFilter> parse(std::string_view text, Endian endian) {
  const std::string kind = take_line(text);
  const std::string first = take_line(text);
  if (kind == "missing") return make_error(ErrorCode::kUnavailable, {}, first);
  if (kind == "refused") return make_error(ErrorCode::kRejected, {}, first);
  if (kind != "filter")
    return make_error(ErrorCode::kInternal, kCommand,
                      fmt::format("expected an answer, found '{}'", kind));
  std::istringstream words(take_line(text));
  LibraryFilter out{first, {std::istream_iterator<std::string>(words), {}}, {}};
  ASSIGN_OR_RETURN(
      auto program,
      read_program(text, first, endian == Endian::kBig ? Form::kRawBigEndian : Form::kRaw));
  out.program = std::move(program);
  return out;
}

Result<LibraryFilter> ask(const std::string& library, bool tree, const LibraryRequest& request) {
  AdapterLimits limits;
  limits.seconds = kSeconds;
  limits.memory_bytes = kMemory;
  std::error_code none;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe", none);
  const Answer<std::string> found =
      run_command(fmt::format("{} {} {}{}", shell_quoted(self), kCommand, shell_quoted(library),
                              tree ? " --tree" : ""),
                  to_text(request), limits, self);
  if (found.ok()) return parse(found.value, arch_info(request.arches.front()).endian);
  const bool limited = found.outcome == Outcome::kHung || found.outcome == Outcome::kExhausted;
  return make_error(limited ? ErrorCode::kBudget : ErrorCode::kAdapter, {},
                    "libseccomp made no filter of this profile: " + found.detail);
}

}  // namespace

AskLibrary ask_libseccomp(const std::string& library, bool tree) {
  return [=](const LibraryRequest& request) { return ask(library, tree, request); };
}

void add_libseccomp_host(Commands& all) {
  const auto [sub, given] = add_command(
      all, kCommand, "Make a filter with a libseccomp, from a request on standard input",
      host_library);
  sub->add_option("file", given->file, "The library")->required();
  sub->add_flag("--tree", given->tree, "Search numbers in a tree instead of a list");
  sub->add_flag("--pfc", given->pfc, "Write pseudo filter code instead of a program");
  sub->add_option("--calls", given->calls, "List the calls of this architecture");
}

}  // namespace secequiv::cli
