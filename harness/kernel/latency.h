// How long the running kernel takes over system calls with a filter. Owns sampling that works on a
// busy machine, and the decision when a difference may be claimed. It must not know where filters
// and calls come from, nor print. README.md describes the method.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// Instructions added in front of a filter below others, which let those be installed.
inline constexpr std::size_t kAddedBelow = 4;
// With fewer rounds, no difference is reported.
inline constexpr std::size_t kFewestRounds = 8;

struct Variant {
  std::string name;
  std::vector<Program> stack;  // the newest first; empty: no filter at all
  // If the stack is only the executed part of the filters (slice.h), their full length; else the
  // same or 0.
  std::size_t of_instructions = 0;
};

struct TimedCall {
  std::string name;
  SeccompData input{};  // nr and arguments; the call belongs to this machine's architecture
  std::uint64_t weight = 1;
};

struct LatencyOptions {
  std::size_t rounds = 20;
  // If noise hides differences of half a percent after that, there are more rounds: at most this
  // many times as many.
  std::size_t patience = 4;
  std::size_t batches = 20;  // per call and process
  std::size_t calls = 200;   // per batch
  std::uint64_t seed = 1;    // for the order of samples
  // Leaves ALLOW unchanged, so that calls run and the kernel uses its cache; only for calls that
  // is_safe() accepts. Otherwise every return is an error number, and no call runs.
  bool real = false;
  std::function<bool()> stop;  // called between samples, and after a signal
  // Gets the number of samples so far and the noise (0: not known yet; infinite: too few rounds).
  std::function<void(std::size_t, double)> progress;
};

struct VariantTimes {
  std::string name;
  std::size_t instructions = 0;     // of all filters together
  std::size_t of_instructions = 0;  // their full length if only a part was timed; else 0
  std::vector<double> ns;           // for each call
  double mean = 0;                  // by weight
  double error = 0;                 // standard error of that (error_of_median)
};

struct Latency {
  std::vector<VariantTimes> variants;
  std::size_t rounds = 0;         // finished rounds
  bool interrupted = false;       // `stop` ended it
  bool filtered_already = false;  // this process has filters, which come on top of every variant's
  // A ratio must differ from 1 by more than this to be claimed: three standard errors of a ratio
  // for the variant with the largest error, and at least 0.5 %; infinite with too few rounds. The
  // variant without filters does not count: its times often have two modes, which would hide
  // differences.
  double noise = 0;
};

// For each round, each variant, each call: how long it took, in any unit.
using Rounds = std::vector<std::vector<std::vector<double>>>;

// Calls that do nothing: getpid, getppid, getuid, geteuid, getgid, getegid, gettid.
bool is_safe(const SeccompData& call);

// The standard error of the median of `values` (at least one): a third of its distance from the
// farther end of its three-sigma interval. The interval comes from order statistics, which assume
// nothing about the distribution; for few values it contains all of them.
double error_of_median(std::vector<double> values);

// Summarizes `rounds` (at least one), whose unit is `ns` nanoseconds.
Latency summarize(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                  const Rounds& rounds, double ns);

// Is another round needed?
bool wants_more(const Latency& latency, const LatencyOptions& options);

// Times every call with every variant. Without a filter a call would run, so unless `real` is set
// an unused number takes its place. Preconditions: the kernel accepts all programs, and those below
// others with kAddedBelow more instructions; not all weights are 0; with `real`, all calls are safe
// and allowed. Errors: kRejected (the kernel refuses the filters of a variant); kUnavailable (no
// seccomp here, not x86_64, or stopped before two rounds were done).
Result<Latency> measure(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                        const LatencyOptions& options);

// How `after` compares with `before`: "... % faster", "... % slower", no difference above the
// noise, or too few rounds for a claim.
std::string claim(const Latency& latency, const VariantTimes& before, const VariantTimes& after);

}  // namespace secequiv::kernel
