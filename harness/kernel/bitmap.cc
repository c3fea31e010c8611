#include "harness/kernel/bitmap.h"

#include <fmt/format.h>

#if defined(__x86_64__) && defined(__linux__) && defined(SECEQUIV_LIBBPF)

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "harness/base/loaded.h"
#include "harness/base/parts.h"
#include "harness/kernel/child.h"
#include "harness/kernel/uapi.h"

namespace secequiv::kernel {
namespace {

// libbpf needs two more libraries; only runs that read a bitmap load them. In this namespace, these
// pointers have the names of the functions.
// NOLINTBEGIN(bugprone-macro-parentheses, bugprone-reserved-identifier): libbpf chose the names
// clang-format off
#define SECEQUIV_BPF_FUNCTIONS(F) \
  F(bpf_prog_load) F(bpf_prog_test_run_opts) F(btf__find_by_name_kind) F(btf__free) \
  F(btf__load_vmlinux_btf) F(btf__name_by_offset) F(btf__resolve_size) F(btf__resolve_type) \
  F(btf__type_by_id) F(libbpf_get_error) F(libbpf_set_print)
// clang-format on
#define SECEQUIV_BPF_POINTER(name) decltype(&::name) name = nullptr;
SECEQUIV_BPF_FUNCTIONS(SECEQUIV_BPF_POINTER)
#undef SECEQUIV_BPF_POINTER

Status load_libbpf() {
#define SECEQUIV_BPF_LOADED(name) {#name, reinterpret_cast<void**>(&name)},
  const LoadedFunction functions[] = {SECEQUIV_BPF_FUNCTIONS(SECEQUIV_BPF_LOADED)};
#undef SECEQUIV_BPF_LOADED
  // NOLINTEND(bugprone-macro-parentheses, bugprone-reserved-identifier)
  const Status loaded = load_functions(SECEQUIV_LIBBPF, functions);
  if (loaded) return Ok{};
  return make_error(ErrorCode::kUnavailable, "the kernel's bitmap",
                    "libbpf cannot be loaded: " + loaded.error().detail);
}

// The process that has the filters gets this name, so that it cannot be mistaken for another.
constexpr std::array<char, 16> kName = {"secequiv bitmap"};
constexpr std::size_t kMostBytes = 1024;  // limit for one bitmap; the kernel's have about 64 bytes

Error unavailable(std::string detail) {
  return make_error(ErrorCode::kUnavailable, "the kernel's bitmap", std::move(detail));
}
Error unavailable(std::string_view what, int error) {
  return kernel::unavailable("the kernel's bitmap", what, error);
}

// --- Where the kernel stores the bitmaps.

struct Member {
  std::uint32_t offset = 0;
  std::uint32_t bytes = 0;
};

struct Layout {
  Member children, sibling, comm, filter, filter_count;
  Member allow_native;
  std::optional<Member> allow_compat;
};

using Btf = std::unique_ptr<btf, decltype(btf__free)>;

// Returns the offset in bytes of the member `name` of a struct or union. Searches unnamed members
// too.
std::optional<std::pair<Member, int>> member_of(const btf* types, int type, std::string_view name) {
  type = btf__resolve_type(types, static_cast<std::uint32_t>(type));
  const btf_type* in = type < 0 ? nullptr : btf__type_by_id(types, static_cast<unsigned>(type));
  if (in == nullptr || !btf_is_composite(in)) return std::nullopt;
  for (unsigned i = 0; i < btf_vlen(in); ++i) {
    const btf_member& one = btf_members(in)[i];
    const std::uint32_t offset = btf_member_bit_offset(in, i) / 8;
    const char* found = btf__name_by_offset(types, one.name_off);
    if (found != nullptr && found == name) {
      const auto bytes = btf__resolve_size(types, one.type);
      if (bytes <= 0) return std::nullopt;
      return std::pair(Member{offset, static_cast<std::uint32_t>(bytes)},
                       static_cast<int>(one.type));
    }
    if (found != nullptr && *found != '\0') continue;
    auto inside = member_of(types, static_cast<int>(one.type), name);
    if (!inside) continue;
    inside->first.offset += offset;
    return inside;
  }
  return std::nullopt;
}

std::optional<Member> member(const btf* types, const char* of,
                             std::initializer_list<const char*> path) {
  int type = btf__find_by_name_kind(types, of, BTF_KIND_STRUCT);
  Member out;
  for (const char* name : path) {
    const auto step = member_of(types, type, name);
    if (!step) return std::nullopt;
    out = {out.offset + step->first.offset, step->first.bytes};
    type = step->second;
  }
  return out;
}

Result<Layout> layout() {
  const Btf types(btf__load_vmlinux_btf(), btf__free);
  if (libbpf_get_error(types.get()) != 0) {
    return unavailable(
        "this kernel does not publish the layout of its structures "
        "(/sys/kernel/btf/vmlinux, CONFIG_DEBUG_INFO_BTF)",
        errno);
  }
  Layout out;
  const auto need = [&](Member& to, const char* of, std::initializer_list<const char*> path,
                        std::uint32_t bytes) {
    const auto found = member(types.get(), of, path);
    if (found) to = *found;
    return found && (bytes == 0 ? found->bytes % 8 == 0 && found->bytes <= kMostBytes
                                : found->bytes == bytes);
  };
  if (!need(out.allow_native, "seccomp_filter", {"cache", "allow_native"}, 0))
    return unavailable(
        "this kernel's filters have no bitmaps (struct seccomp_filter has no cache.allow_native; "
        "Linux 5.11 or newer is needed)");
  if (!need(out.children, "task_struct", {"children"}, 16) ||
      !need(out.sibling, "task_struct", {"sibling"}, 16) ||
      !need(out.comm, "task_struct", {"comm"}, kName.size()) ||
      !need(out.filter, "task_struct", {"seccomp", "filter"}, 8) ||
      !need(out.filter_count, "task_struct", {"seccomp", "filter_count"}, 4))
    return unavailable("this kernel's struct task_struct does not have the expected members");
  if (Member compat; need(compat, "seccomp_filter", {"cache", "allow_compat"}, 0))
    out.allow_compat = compat;
  return out;
}

// --- The program that reads the bitmaps.

// What the program writes. The words of the bitmaps follow, those of the native one first.
struct Found {
  std::array<char, kName.size()> name;
  std::uint64_t filters;
};

enum Outcome : std::uint32_t { kRead = 1, kFault = 2, kNoFilter = 3 };

// Builds the program as a list of instructions, so that no compiler for BPF is needed. R6 is the
// context, which holds the results. R7 is the address of the structure that is read.
class ReaderCode {
 public:
  explicit ReaderCode(const Layout& at) {
    constexpr auto kListPrev = 8;  // offsetof(struct list_head, prev)
    move(BPF_REG_6, BPF_REG_1);
    call(BPF_FUNC_get_current_task);
    move(BPF_REG_7, BPF_REG_0);
    // Goes to the youngest child of this thread.
    fetch(at.children.offset + kListPrev, 8);
    move(BPF_REG_7, BPF_REG_0);
    add(BPF_REG_7, -static_cast<std::int32_t>(at.sibling.offset));
    for (std::uint32_t i = 0; i < kName.size(); i += 8) {
      fetch(at.comm.offset + i, 8);
      leave(i);
    }
    fetch(at.filter_count.offset, 4);
    leave(offsetof(Found, filters));
    fetch(at.filter.offset, 8);
    move(BPF_REG_7, BPF_REG_0);
    emit({BPF_JMP | BPF_JNE | BPF_K, BPF_REG_7, 0, 2, 0});
    end(kNoFilter);
    std::uint32_t to = sizeof(Found);
    const auto copy = [&](const Member& bits) {
      for (std::uint32_t i = 0; i < bits.bytes; i += 8, to += 8) {
        fetch(bits.offset + i, 8);
        leave(to);
      }
    };
    copy(at.allow_native);
    if (at.allow_compat) copy(*at.allow_compat);
    end(kRead);
    context_bytes_ = to;
  }

  [[nodiscard]] const std::vector<bpf_insn>& code() const { return code_; }
  [[nodiscard]] std::uint32_t context_bytes() const { return context_bytes_; }

 private:
  void emit(bpf_insn in) { code_.push_back(in); }
  void move(std::uint8_t to, std::uint8_t from) {
    emit({BPF_ALU64 | BPF_MOV | BPF_X, static_cast<std::uint8_t>(to & 15),
          static_cast<std::uint8_t>(from & 15), 0, 0});
  }
  void set(std::uint8_t to, std::uint32_t value) {
    emit({BPF_ALU64 | BPF_MOV | BPF_K, static_cast<std::uint8_t>(to & 15), 0, 0,
          static_cast<std::int32_t>(value)});
  }
  void add(std::uint8_t to, std::int32_t value) {
    emit({BPF_ALU64 | BPF_ADD | BPF_K, static_cast<std::uint8_t>(to & 15), 0, 0, value});
  }
  void call(std::int32_t helper) { emit({BPF_JMP | BPF_CALL, 0, 0, 0, helper}); }
  void end(std::uint32_t outcome) {
    set(BPF_REG_0, outcome);
    emit({BPF_JMP | BPF_EXIT, 0, 0, 0, 0});
  }
  // Emits code that reads `bytes` (4 or 8) bytes of kernel memory at R7 + offset into R0. If they
  // cannot be read, the code ends the program.
  void fetch(std::uint32_t offset, std::uint32_t bytes) {
    emit({BPF_ST | BPF_MEM | BPF_DW, BPF_REG_10, 0, -8, 0});
    move(BPF_REG_1, BPF_REG_10);
    add(BPF_REG_1, -8);
    set(BPF_REG_2, bytes);
    move(BPF_REG_3, BPF_REG_7);
    add(BPF_REG_3, static_cast<std::int32_t>(offset));
    call(BPF_FUNC_probe_read_kernel);
    emit({BPF_JMP | BPF_JEQ | BPF_K, BPF_REG_0, 0, 2, 0});
    end(kFault);
    emit({BPF_LDX | BPF_MEM | BPF_DW, BPF_REG_0, BPF_REG_10, -8, 0});
  }
  // Emits code that stores R0 in the context, at `offset`.
  void leave(std::uint32_t offset) {
    emit({BPF_STX | BPF_MEM | BPF_DW, BPF_REG_6, BPF_REG_0, static_cast<std::int16_t>(offset), 0});
  }

  std::vector<bpf_insn> code_;
  std::uint32_t context_bytes_ = 0;
};

// Returns the last line of the verifier's log, which gives the reason.
std::string last_line(std::string_view log) {
  std::string out;
  while (!log.empty()) {
    const std::string_view line = take_part(log);
    if (!line.empty() && !line.starts_with("processed ")) out = line;
  }
  return out;
}

class Reader {
 public:
  static Result<Reader> open() {
    RETURN_IF_ERROR(load_libbpf());
    libbpf_set_print(nullptr);
    ASSIGN_OR_RETURN(auto at, layout());
    Reader out(at);
    std::vector<char> log(std::size_t{1} << 20);
    bpf_prog_load_opts options{};
    options.sz = sizeof options;
    options.prog_flags = BPF_F_SLEEPABLE;  // programs of this type must be sleepable
    options.log_buf = log.data();
    options.log_size = static_cast<std::uint32_t>(log.size());  // written only on failure
    // Only programs under the GPL may read the kernel's memory.
    const auto& code = out.code_.code();
    out.fd_ = bpf_prog_load(BPF_PROG_TYPE_SYSCALL, "secequiv_bitmap", "Dual BSD/GPL", code.data(),
                            code.size(), &options);
    if (out.fd_ >= 0) return out;
    const int error = -out.fd_;
    const std::string reason = last_line(log.data());
    if ((error == EPERM || error == EACCES) && reason.empty())
      return unavailable("reading it needs CAP_BPF and CAP_PERFMON (root)", error);
    return unavailable(fmt::format(
        "the kernel refuses the program that reads it (CONFIG_BPF_SYSCALL, Linux 5.14 or "
        "newer, CAP_PERFMON and no lockdown are needed): {}; {}",
        std::strerror(error), reason.empty() ? "it gives no reason" : reason));
  }
  ~Reader() {
    if (fd_ >= 0) ::close(fd_);
  }
  Reader(Reader&& other) noexcept : at_(other.at_), code_(std::move(other.code_)), fd_(other.fd_) {
    other.fd_ = -1;
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  Reader& operator=(Reader&&) = delete;

  // Reads the bitmaps of the youngest child of this thread, which has `filters` filters.
  [[nodiscard]] Result<std::vector<Bitmap>> read(std::size_t filters) const {
    std::vector<std::byte> context(code_.context_bytes());
    bpf_test_run_opts options{};
    options.sz = sizeof options;
    options.ctx_in = context.data();
    options.ctx_size_in = code_.context_bytes();
    if (const int done = bpf_prog_test_run_opts(fd_, &options); done < 0)
      return unavailable("the program that reads it cannot be run", -done);
    if (options.retval == kNoFilter) return unavailable("the filter's process has no filter");
    if (options.retval != kRead) return unavailable("the kernel's memory cannot be read");
    Found found{};
    std::memcpy(&found, context.data(), sizeof found);
    if (found.name != kName) return unavailable("the filter's process was not found");
    if (found.filters != filters)
      return unavailable(
          fmt::format("expected {} filters in the filter's process, found {}, because secequiv "
                      "itself runs under filters",
                      filters, found.filters));
    std::vector<Bitmap> out;
    std::size_t from = sizeof found;
    const auto take = [&](Arch arch, const Member& bits) {
      Bitmap one{arch, 0, std::vector<bool>(std::size_t{bits.bytes} * 8), {}};
      for (std::size_t i = 0; i < one.bits.size(); ++i)
        one.bits[i] = (std::to_integer<unsigned>(context[from + i / 8]) >> (i % 8) & 1) != 0;
      from += bits.bytes;
      out.push_back(std::move(one));
    };
    take(Arch::kX86_64, at_.allow_native);
    if (at_.allow_compat) take(Arch::kI386, *at_.allow_compat);
    return out;
  }

 private:
  explicit Reader(const Layout& at) : at_(at), code_(at) {}

  Layout at_;
  ReaderCode code_;
  int fd_ = -1;
};

// --- The process that has the filters.

enum class Step : int { kStarting, kTrace, kNoNewPrivs, kSeccomp, kInstalled };

// What the child reports. Both processes share this memory.
struct Reported {
  Step step;
  int error;
  std::size_t installed;
};

// Runs in the child. It stops once for its ptrace options and once when it is done. It makes no
// system call after it has installed the last filter.
[[noreturn]] void have(std::span<const ProgramView> filters, Reported& reported) {
  const auto succeeds = [&reported](Step step, long result) {
    reported.step = step;
    reported.error = errno;
    return result >= 0;
  };
  leave_no_core();
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_NAME, kName.data());
  if (!succeeds(Step::kTrace, ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr))) ::_exit(1);
  asm volatile("int3" ::: "memory");
  if (succeeds(Step::kNoNewPrivs, ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))) {
    while (reported.installed < filters.size()) {
      const ProgramView program = filters[filters.size() - 1 - reported.installed];
      sock_fprog filter = fprog_of(program);
      if (!succeeds(Step::kSeccomp, ::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter)))
        break;
      ++reported.installed;
    }
    if (reported.installed == filters.size()) reported.step = Step::kInstalled;
  }
  for (;;) asm volatile("int3" ::: "memory");
}

class Holder {
 public:
  Holder() = default;
  ~Holder() {
    end();
    if (reported_ != nullptr) ::munmap(reported_, sizeof *reported_);
  }
  Holder(const Holder&) = delete;
  Holder& operator=(const Holder&) = delete;

  // Starts a child with the filters, which stays stopped until this object is destroyed.
  Status hold(std::span<const ProgramView> filters) {
    for (const ProgramView program : filters)
      if (program.empty() || program.size() > kMaxInsns)
        return make_error(
            ErrorCode::kRejected, "kernel",
            fmt::format("expected 1 to {} instructions, found {}", kMaxInsns, program.size()));
    void* memory = ::mmap(nullptr, sizeof(Reported), PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
      return unavailable("there is no memory for the filter's process", errno);
    reported_ = static_cast<Reported*>(memory);
    pid_ = ::fork();
    if (pid_ == -1) return unavailable("a process for the filter cannot be started", errno);
    if (pid_ == 0) have(filters, *reported_);
    if (auto s = wait(); !s) return trouble(filters, s.error());
    // Filters may forbid seccomp(), and they must stay unchanged. Therefore they are suspended
    // while the child installs them.
    const bool suspended = option(PTRACE_O_EXITKILL | PTRACE_O_SUSPEND_SECCOMP);
    if (!suspended && !option(PTRACE_O_EXITKILL))
      return unavailable("ptrace is not permitted here", errno);
    if (::ptrace(PTRACE_CONT, pid_, nullptr, nullptr) == -1)
      return unavailable("ptrace is not permitted here", errno);
    if (auto s = wait(); !s) return trouble(filters, s.error());
    if (reported_->step == Step::kInstalled) return Ok{};
    return trouble(filters, unavailable("the filter's process cannot be set up", reported_->error));
  }

 private:
  [[nodiscard]] bool option(int bits) const {
    // ptrace() declares this argument as a pointer, but the request takes a number.
    return ::ptrace(PTRACE_SETOPTIONS, pid_, nullptr, std::intptr_t{bits}) == 0;
  }

  // Waits for the child's breakpoint. Drops all other signals.
  Status wait() {
    for (;;) {
      int status = 0;
      if (::waitpid(pid_, &status, __WALL) == -1) {
        if (errno == EINTR) continue;
        return unavailable("cannot wait for the filter's process", errno);
      }
      if (WIFSTOPPED(status) && WSTOPSIG(status) == SIGTRAP) return Ok{};
      if (!WIFSTOPPED(status)) pid_ = -1;
      if (!WIFSTOPPED(status))
        return unavailable(WIFSIGNALED(status) ? fmt::format("signal {} ended the filter's process",
                                                             WTERMSIG(status))
                                               : std::string("the filter's process ended"));
      if (::ptrace(PTRACE_CONT, pid_, nullptr, nullptr) == -1 && errno != ESRCH)
        return unavailable("ptrace is not permitted here", errno);
    }
  }

  // Returns the reason why the filters could not be installed in the child.
  [[nodiscard]] Error trouble(std::span<const ProgramView> filters, Error otherwise) const {
    const std::size_t done = reported_->installed;
    if (reported_->step == Step::kTrace && reported_->error != 0 && done == 0 && pid_ == -1)
      return unavailable("ptrace is not permitted here", reported_->error);
    if (reported_->step == Step::kSeccomp && reported_->error == EINVAL && done < filters.size())
      return make_error(ErrorCode::kRejected, "kernel",
                        fmt::format("the running kernel refuses a program of {} instructions",
                                    filters[filters.size() - 1 - done].size()));
    if (done == 0 && reported_->step == Step::kSeccomp && pid_ != -1)
      return unavailable("seccomp is not permitted here", reported_->error);
    if (done == 0) return otherwise;
    return unavailable(
        fmt::format("only {} of {} filters could be installed: either the filters are too long "
                    "together, or one forbids seccomp() and secequiv cannot suspend it (this needs "
                    "CAP_SYS_ADMIN and CONFIG_CHECKPOINT_RESTORE); {}",
                    done, filters.size(), otherwise.detail));
  }

  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    int status = 0;
    while (::waitpid(pid_, &status, __WALL) == -1 && errno == EINTR) {
    }
    pid_ = -1;
  }

  Reported* reported_ = nullptr;
  pid_t pid_ = -1;
};

Result<std::vector<Bitmap>> of(const Reader& reader, std::span<const ProgramView> filters) {
  Holder holder;
  RETURN_IF_ERROR(holder.hold(filters));
  return reader.read(filters.size());
}

Result<std::vector<Bitmap>> of_single(const Reader& reader, std::uint32_t action) {
  const Program program = {{kRetK, 0, 0, action}};
  const ProgramView view = program;
  return of(reader, {&view, 1});
}

// Compares a filter that allows everything with one that allows nothing. Their difference shows
// which bits no filter changes, and confirms that bitmaps were read.
Result<std::vector<Bitmap>> calibrated(const Reader& reader) {
  auto out = of_single(reader, SECCOMP_RET_ALLOW);
  if (!out) return out;
  ASSIGN_OR_RETURN(const auto none, of_single(reader, SECCOMP_RET_KILL_PROCESS));
  for (std::size_t i = 0; i < out->size(); ++i) {
    Bitmap& one = (*out)[i];
    const std::vector<bool>& allowed = one.bits;
    const std::vector<bool>& denied = none[i].bits;
    // The kernel fills whole words. Therefore the bits above the last number are either all set or
    // all clear.
    std::size_t numbers = denied.size();
    while (numbers > 0 && denied[numbers - 1]) --numbers;
    const auto clear =
        static_cast<std::size_t>(std::ranges::find(allowed, false) - allowed.begin());
    one.numbers = static_cast<std::uint32_t>(std::min(numbers, clear));
    for (std::uint32_t nr = 0; nr < one.numbers; ++nr)
      if (denied[nr]) one.unfiltered.push_back(nr);
    if (one.numbers + 64 <= allowed.size())
      return unavailable(
          fmt::format("the memory read is not a bitmap of {}: it has {} of {} bits set for a "
                      "filter that allows everything, and {} for one that allows nothing",
                      arch_info(one.arch).name, std::ranges::count(allowed, true), allowed.size(),
                      std::ranges::count(denied, true)));
  }
  return out;
}

}  // namespace

Result<std::vector<std::vector<Bitmap>>> bitmaps(std::span<const std::vector<ProgramView>> stacks) {
  ASSIGN_OR_RETURN(const auto reader, Reader::open());
  ASSIGN_OR_RETURN(const auto all, calibrated(reader));
  std::vector<std::vector<Bitmap>> out;
  for (const auto& stack : stacks) {
    ASSIGN_OR_RETURN(auto one, of(reader, stack));
    for (std::size_t i = 0; i < one.size(); ++i) {
      one[i].numbers = all[i].numbers;
      one[i].unfiltered = all[i].unfiltered;
      one[i].bits.resize(all[i].numbers);
    }
    out.push_back(std::move(one));
  }
  return out;
}

}  // namespace secequiv::kernel

#else

namespace secequiv::kernel {

Result<std::vector<std::vector<Bitmap>>> bitmaps(std::span<const std::vector<ProgramView>>) {
#if defined(__x86_64__) && defined(__linux__)
  const char* why = "this secequiv was built without libbpf (libbpf-dev, 1.0 or newer)";
#else
  const char* why = "it can only be read on x86_64 Linux";
#endif
  return make_error(ErrorCode::kUnavailable, "the kernel's bitmap", why);
}

}  // namespace secequiv::kernel

#endif
