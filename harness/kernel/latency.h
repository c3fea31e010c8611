// Measures how long system calls with a filter take in the running kernel. Owns the sampling, which
// works on a busy machine, and the decision when to claim a difference. It must not know where
// filters and calls come from, nor print. README.md describes the method.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// The number of instructions that are added in front of an older filter of a stack, so that newer
// filters can be installed.
inline constexpr std::size_t kAddedBelow = 4;
// With fewer rounds, no difference is reported.
inline constexpr std::size_t kFewestRounds = 8;

struct Variant {
  std::string name;
  std::vector<Program> stack;  // the newest filter first; empty: no filter
  // The full length of the filters, if `stack` contains only the part that calls execute (slice.h).
  // Otherwise the stack's length, or 0.
  std::size_t of_instructions = 0;
};

struct TimedCall {
  std::string name;
  SeccompData input{};  // nr and arguments; the call belongs to this machine's architecture
  std::uint64_t weight = 1;
};

struct LatencyOptions {
  std::size_t rounds = 20;
  // If the noise is still above half a percent after `rounds`, more rounds follow: at most `rounds`
  // * `patience` in total.
  std::size_t patience = 4;
  std::size_t batches = 20;  // per call and process
  std::size_t calls = 200;   // per batch
  std::uint64_t seed = 1;    // chooses the order of samples
  // Leaves ALLOW unchanged, so that calls run and the kernel uses its cache; only for calls that
  // is_safe() accepts. Otherwise every return is an error number, and no call runs.
  bool real = false;
  std::function<bool()> stop;  // called between samples, and after a signal
  // Gets the number of samples so far and the noise (0: not known yet; infinite: too few rounds).
  std::function<void(std::size_t, double)> progress;
};

struct VariantTimes {
  std::string name;
  std::size_t instructions = 0;     // the sum over all filters
  std::size_t of_instructions = 0;  // their full length if only a part was timed; else 0
  std::vector<double> ns;           // time of each call in nanoseconds
  double mean = 0;                  // mean of `ns`, weighted by TimedCall::weight
  double error = 0;                 // standard error of `mean` (error_of_median)
};

struct Latency {
  std::vector<VariantTimes> variants;
  std::size_t rounds = 0;    // finished rounds
  bool interrupted = false;  // `stop` ended the measurement
  // This process has filters, which run in addition to every variant's.
  bool filtered_already = false;
  // claim() reports a difference only if the ratio differs from 1 by more than this. It is three
  // standard errors of a ratio for the variant with the largest error, at least 0.5 %, and infinite
  // with too few rounds. The variant without filters is ignored: its times often have two modes, so
  // its error would hide differences.
  double noise = 0;
};

// The time of each call, by round, variant and call, in any unit.
using Rounds = std::vector<std::vector<std::vector<double>>>;

// Returns whether the call does nothing: getpid, getppid, getuid, geteuid, getgid, getegid or
// gettid.
bool is_safe(const SeccompData& call);

// Returns the standard error of the median of `values` (at least one): a third of the median's
// distance to the farther end of its three-sigma interval. Order statistics give this interval
// without assumptions about the distribution; for few values it contains all of them.
double error_of_median(std::vector<double> values);

// Summarizes `rounds` (at least one). One unit of their times is `ns` nanoseconds.
Latency summarize(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                  const Rounds& rounds, double ns);

// Returns whether another round is needed.
bool wants_more(const Latency& latency, const LatencyOptions& options);

// Times every call with every variant. A call without a filter would run, so unless `real` is set,
// an unused number replaces it. Preconditions: the kernel accepts all programs, even with
// kAddedBelow more instructions in the older filters of a stack; not all weights are 0; with
// `real`, all calls are safe and allowed. Errors: kRejected (the kernel refuses the filters of a
// variant); kUnavailable (no seccomp here, not x86_64, or stopped before two rounds were done).
Result<Latency> measure(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                        const LatencyOptions& options);

// Returns how `after` compares with `before`: "... % faster", "... % slower", no difference above
// the noise, or too few rounds for a claim.
std::string claim(const Latency& latency, const VariantTimes& before, const VariantTimes& after);

}  // namespace secequiv::kernel
