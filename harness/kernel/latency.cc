#include "harness/kernel/latency.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "harness/base/clock.h"
#include "harness/base/random.h"
#include "harness/kernel/running.h"
#include "harness/seccomp/action.h"

#if defined(__x86_64__) && defined(__linux__)
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "harness/kernel/child.h"
#include "harness/kernel/uapi.h"
#endif

namespace secequiv::kernel {
namespace {

constexpr std::size_t kMostBatches = 1000;
constexpr std::size_t kQuantile = 4;  // a sample is the lower quartile of its batches
constexpr double kSigmas = 3;
constexpr double kLeastNoise = 0.005;
constexpr std::uint32_t kNoCall = 0x1ff;  // no call; x32's numbers begin after it

double weighted(const std::vector<TimedCall>& calls, const std::vector<double>& ns) {
  double sum = 0;
  double weights = 0;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    sum += static_cast<double>(calls[i].weight) * ns[i];
    weights += static_cast<double>(calls[i].weight);
  }
  return weights == 0 ? 0 : sum / weights;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

}  // namespace

bool is_safe(const SeccompData& call) {
  constexpr std::array<std::uint32_t, 7> kSafe = {39, 102, 104, 107, 108, 110, 186};
  return std::ranges::find(kSafe, call.nr()) != kSafe.end();
}

std::string claim(const Latency& latency, const VariantTimes& before, const VariantTimes& after) {
  if (latency.rounds < kFewestRounds)
    return fmt::format("fewer than {} rounds are too few to report a difference", kFewestRounds);
  const double ratio = after.mean / before.mean;
  if (std::abs(ratio - 1) <= latency.noise) return "no difference above the noise";
  return ratio < 1 ? fmt::format("{:.1f} % faster", (1 - ratio) * 100)
                   : fmt::format("{:.1f} % slower", (ratio - 1) * 100);
}

double error_of_median(std::vector<double> values) {
  std::ranges::sort(values);
  // The number of values below the true median is binomially distributed, with n/2 +- sqrt(n)/2.
  const auto n = static_cast<double>(values.size());
  const auto outside = static_cast<std::size_t>(std::max(0.0, n / 2 - kSigmas / 2 * std::sqrt(n)));
  const double middle = values[values.size() / 2];
  return std::max(middle - values[outside], values[values.size() - 1 - outside] - middle) / kSigmas;
}

Latency summarize(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                  const Rounds& rounds, double ns) {
  Latency out;
  out.rounds = rounds.size();
  double error = 0;
  for (std::size_t v = 0; v < variants.size(); ++v) {
    VariantTimes times;
    times.name = variants[v].name;
    for (const Program& program : variants[v].stack) times.instructions += program.size();
    if (variants[v].of_instructions > times.instructions)
      times.of_instructions = variants[v].of_instructions;
    std::vector<double> of_rounds(rounds.size());
    for (std::size_t c = 0; c < calls.size(); ++c) {
      for (std::size_t r = 0; r < rounds.size(); ++r) of_rounds[r] = rounds[r][v][c];
      times.ns.push_back(ns * median(of_rounds));
    }
    for (std::size_t r = 0; r < rounds.size(); ++r) of_rounds[r] = weighted(calls, rounds[r][v]);
    times.mean = weighted(calls, times.ns);
    times.error = ns * error_of_median(of_rounds);
    if (!variants[v].stack.empty()) error = std::max(error, times.error / times.mean);
    out.variants.push_back(std::move(times));
  }
  out.noise = out.rounds < kFewestRounds
                  ? std::numeric_limits<double>::infinity()
                  : std::max(kSigmas * std::numbers::sqrt2 * error, kLeastNoise);
  return out;
}

bool wants_more(const Latency& latency, const LatencyOptions& options) {
  if (latency.rounds < options.rounds) return true;
  return latency.noise > kLeastNoise && latency.rounds < options.rounds * options.patience;
}

#if defined(__x86_64__) && defined(__linux__)

namespace {

// Replaces every returned value by an error number, so that no call runs and none is cached.
void answer_by_errors(Program& program) {
  for (Insn& in : program)
    if (in.code == kRetK || in.code == kRetA) in = {kRetK, 0, 0, SECCOMP_RET_ERRNO | 1};
}

// Allows seccomp(), so that newer filters can be installed above this one. Uses only instructions
// that the kernel's emulation understands, so that calls stay cached.
void let_more_filters_in(Program& program) {
  const std::array<Insn, kAddedBelow> start = {{{kLdWAbs, 0, 0, 0},
                                                {kJeqK, 0, 1, SYS_seccomp},
                                                {kRetK, 0, 0, SECCOMP_RET_ALLOW},
                                                {kAndK, 0, 0, 0}}};
  program.insert(program.begin(), start.begin(), start.end());
}

// Returns the programs to install for a variant, newest first.
std::vector<Program> installed(const Variant& variant, bool real) {
  std::vector<Program> out = variant.stack;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (!real) answer_by_errors(out[i]);
    if (i > 0) let_more_filters_in(out[i]);
  }
  return out;
}

// The result of a sample: an errno, or 0 and the times.
struct Sample {
  int error;
  bool done;
  std::uint64_t yardstick;  // ticks of the fastest yardstick
  double batch[];           // NOLINT: times of each call in yardsticks; in shared memory
};

class SharedSample {
 public:
  explicit SharedSample(std::size_t calls) : bytes_(sizeof(Sample) + calls * sizeof(double)) {
    void* memory =
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory != MAP_FAILED) sample_ = static_cast<Sample*>(memory);
  }
  ~SharedSample() {
    if (sample_ != nullptr) ::munmap(sample_, bytes_);
  }
  SharedSample(const SharedSample&) = delete;
  SharedSample& operator=(const SharedSample&) = delete;
  [[nodiscard]] Sample* get() const { return sample_; }

 private:
  std::size_t bytes_;
  Sample* sample_ = nullptr;
};

// NOLINTBEGIN(misc-const-correctness): assembly writes these.
[[gnu::always_inline]] inline void make(const SeccompData& call) {
  const auto argument = [&](std::size_t i) {
    return std::uint64_t{call.words[5 + 2 * i]} << 32 | call.words[4 + 2 * i];
  };
  std::uint64_t out = call.nr();
  register std::uint64_t r10 asm("r10") = argument(3);
  register std::uint64_t r8 asm("r8") = argument(4);
  register std::uint64_t r9 asm("r9") = argument(5);
  asm volatile("syscall"
               : "+a"(out)
               : "D"(argument(0)), "S"(argument(1)), "d"(argument(2)), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
}

// Returns the ticks of a chain of dependent multiplications. The chain takes some thousand cycles
// of the core at any frequency.
std::uint64_t yardstick() {
  std::uint64_t value = 3;
  const std::uint64_t start = __rdtsc();
  for (int i = 0; i < 2000; ++i) asm volatile("imul %0, %0" : "+r"(value));
  return __rdtsc() - start;
}
// NOLINTEND(misc-const-correctness)

// Runs in the child. The child ends with an illegal instruction, because the filters may allow no
// system call.
[[noreturn]] void sample(const std::vector<Program>& stack, const std::vector<TimedCall>& calls,
                         const LatencyOptions& options, Sample& out) {
  leave_no_core();
  ::signal(SIGILL, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) out.error = errno;
  for (auto program = stack.rbegin(); out.error == 0 && program != stack.rend(); ++program) {
    sock_fprog filter = fprog_of(*program);
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) !=
        0)
      out.error = errno;
  }
  if (out.error == 0) {
    out.yardstick = std::numeric_limits<std::uint64_t>::max();
    std::array<double, kMostBatches> batches{};
    const std::size_t count = std::min(options.batches, kMostBatches);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      std::uint64_t before = yardstick();
      for (std::size_t batch = 0; batch < count; ++batch) {
        const std::uint64_t start = __rdtsc();
        for (std::size_t n = 0; n < options.calls; ++n) make(calls[i].input);
        const std::uint64_t ticks = __rdtsc() - start;
        const std::uint64_t after = yardstick();
        // A disturbance makes a yardstick longer, but must not make the batch look shorter.
        const std::uint64_t shorter = std::min(before, after);
        batches[batch] = static_cast<double>(ticks) / static_cast<double>(shorter);
        out.yardstick = std::min(out.yardstick, shorter);
        before = after;
      }
      std::sort(batches.begin(), batches.begin() + static_cast<std::ptrdiff_t>(count));
      out.batch[i] = batches[count / kQuantile];
    }
    out.done = true;
  }
  // __builtin_trap() does not suffice, because a sanitizer makes system calls before it.
  for (;;) asm volatile("ud2");
}

// Returns how many ticks the processor's counter makes in a nanosecond.
double ticks_per_ns() {
  const auto start = Clock::now();
  const std::uint64_t ticks = __rdtsc();
  while (seconds_since(start) < 0.02) {
  }
  return static_cast<double>(__rdtsc() - ticks) / (seconds_since(start) * 1e9);
}

Error refused(const Variant& variant, std::size_t instructions, int error) {
  if (error == EINVAL)
    return make_error(
        ErrorCode::kRejected, variant.name,
        fmt::format("the running kernel refuses this filter of {} instructions", instructions));
  // A single filter never exceeds this limit, so the error concerns the sum of all filters.
  if (error == ENOMEM && variant.stack.size() > 1)
    return make_error(ErrorCode::kRejected, variant.name,
                      fmt::format("expected at most 32768 instructions in all filters of a process "
                                  "(the kernel counts translated instructions, and 4 more for each "
                                  "filter), found {} filters of {} instructions",
                                  variant.stack.size(), instructions));
  return unavailable("bench", "seccomp is not permitted here", error);
}

struct Sampled {
  const Variant* variant;
  std::vector<Program> stack;  // the programs to install
};

// Takes one sample in a new process, or returns why it could not.
Status take(const Sampled& sampled, const std::vector<TimedCall>& calls,
            const LatencyOptions& options, Sample& out) {
  out.error = 0;
  out.done = false;
  pid_t pid = -1;
  {
    // Ctrl-C reaches the child too; block it so that the child finishes its sample.
    const NoSignals blocked;
    pid = ::fork();
    if (pid == 0) sample(sampled.stack, calls, options, out);
  }
  if (pid == -1) return unavailable("bench", "a process cannot be started", errno);
  int status = 0;
  while (::waitpid(pid, &status, 0) == -1 && errno == EINTR)
    if (options.stop && options.stop()) ::kill(pid, SIGKILL);
  if (out.error != 0) {
    std::size_t instructions = 0;
    for (const Program& program : sampled.stack) instructions += program.size();
    return refused(*sampled.variant, instructions, out.error);
  }
  if (out.done) return Ok{};
  return make_error(ErrorCode::kUnavailable, "bench",
                    "a filter or a signal ended a process that makes the measured calls");
}

}  // namespace

Result<Latency> measure(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                        const LatencyOptions& options) {
  const SharedSample shared(calls.size());
  if (shared.get() == nullptr)
    return unavailable("bench", "there is no memory for the times", errno);
  std::vector<TimedCall> nothing = calls;
  for (TimedCall& call : nothing) call.input.set_nr(kNoCall);
  std::vector<Sampled> all;
  all.reserve(variants.size());
  for (const Variant& variant : variants)
    all.push_back({&variant, installed(variant, options.real)});
  // Installs all filters once, so that a filter that the kernel refuses gives an error before any
  // measurement.
  for (const Sampled& one : all) RETURN_IF_ERROR(take(one, {}, options, *shared.get()));
  const double per_ns = ticks_per_ns() * static_cast<double>(options.calls);
  Rounds rounds;                                          // the time of each batch, in yardsticks
  double yard = std::numeric_limits<double>::infinity();  // ticks
  Random random(options.seed);
  std::vector<std::size_t> order(variants.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  const auto stopped = [&] { return options.stop && options.stop(); };
  Latency out;
  while (!stopped() && wants_more(out, options)) {
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    Rounds::value_type round(variants.size());
    for (std::size_t i = 0; i < order.size() && !stopped(); ++i) {
      if (options.progress) options.progress(rounds.size() * order.size() + i, out.noise);
      const Sampled& one = all[order[i]];
      const auto s =
          take(one, one.stack.empty() && !options.real ? nothing : calls, options, *shared.get());
      if (stopped()) break;
      if (!s) return s.error();
      const double* batch = shared.get()->batch;
      round[order[i]].assign(batch, batch + calls.size());
      yard = std::min(yard, static_cast<double>(shared.get()->yardstick));
    }
    if (stopped()) break;  // an incomplete round does not count
    rounds.push_back(std::move(round));
    out = summarize(variants, calls, rounds, yard / per_ns);
  }
  if (out.rounds < 2)
    return make_error(ErrorCode::kUnavailable, "bench",
                      "interrupted before two rounds were complete");
  out.interrupted = stopped() && wants_more(out, options);
  out.filtered_already = is_filtered_already();
  return out;
}

#else

Result<Latency> measure(const std::vector<Variant>&, const std::vector<TimedCall>&,
                        const LatencyOptions&) {
  return make_error(ErrorCode::kUnavailable, "bench",
                    "latency can only be measured on x86_64 Linux");
}

#endif

}  // namespace secequiv::kernel
