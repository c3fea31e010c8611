// How long the running kernel takes over system calls with a filter. Owns sampling that holds on a
// machine that does other things too, and when a difference may be claimed. It must not know where
// filters and calls come from, nor print.
//
// A sample is a fresh process that installs the filters and makes each call in batches of some
// hundred. Between batches it times a chain of multiplications, the yardstick: a batch divided by
// it does not depend on the frequency that the core has at that moment. Of a sample's batches the
// one counts that a quarter of them beats. Samples of all variants follow each other in random
// order, and of all rounds the median of each call is taken: a process now and then is faster or
// slower than others for where the kernel put its filters, so that minima are luck. For the same
// reason an error is what order statistics say, which suppose nothing about how times are spread.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/interpreter.h"

namespace secequiv::kernel {

// What a filter below others gets in front, so that the others can be installed: instructions.
inline constexpr std::size_t kAddedBelow = 4;
// From fewer rounds nothing is claimed.
inline constexpr std::size_t kFewestRounds = 8;

struct Variant {
  std::string name;
  std::vector<Program> stack;  // the newest first; empty: no filter at all
  // Of all filters, if the stack is only the executed part of them (slice.h); else the same or 0.
  std::size_t of_instructions = 0;
};

struct TimedCall {
  std::string name;
  SeccompData input{};  // nr and arguments; the call is of this machine
  std::uint64_t weight = 1;
};

struct LatencyOptions {
  std::size_t rounds = 20;
  // Where the machine is too restless to tell differences of half a percent after that: more
  // rounds, until it can be told, at most this many times as many.
  std::size_t patience = 4;
  std::size_t batches = 20;  // of a call in a process
  std::size_t calls = 200;   // in a batch
  std::uint64_t seed = 1;    // of the order
  // Leave ALLOW as it is, so that calls are run and the kernel's cache answers them; otherwise
  // every return is an error number, and nothing is run. Only for calls that is_safe() names.
  bool real = false;
  std::function<bool()> stop;  // asked between samples, and when a signal comes
  // Samples taken so far, and the noise as far as it is known (0: not yet; infinite: too few).
  std::function<void(std::size_t, double)> progress;
};

struct VariantTimes {
  std::string name;
  std::size_t instructions = 0;     // of all filters that were given
  std::size_t of_instructions = 0;  // if those are a part (Variant); else 0
  std::vector<double> ns;           // for each call
  double mean = 0;                  // by weight
  double error = 0;                 // standard error of that (error_of_median)
};

struct Latency {
  std::vector<VariantTimes> variants;
  std::size_t rounds = 0;         // that were finished
  bool interrupted = false;       // by `stop`
  bool filtered_already = false;  // this process has filters that every variant's are added to
  // Ratios that differ from 1 by no more than that are not to be claimed: three standard errors of
  // a ratio, by the variant with the largest, and at least 0.5 %; infinite with too few rounds. Of
  // variants with filters: a call without any is often in one of two modes, and must not hide
  // differences between others.
  double noise = 0;
};

// For each round, each variant, each call: how long it took, in any unit.
using Rounds = std::vector<std::vector<std::vector<double>>>;

// Calls that do nothing: getpid, getppid, getuid, geteuid, getgid, getegid, gettid.
bool is_safe(const SeccompData& call);

// A third of how far the median of `values` (at least one) is from the farther end of an interval
// that has the true one with three sigmas, by order statistics: of few values it is all of them,
// and values of two kinds are not taken for one.
double error_of_median(std::vector<double> values);

// `rounds` (at least one) times `ns`, the nanoseconds of their unit.
Latency summarize(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                  const Rounds& rounds, double ns);

// Is another round to be taken?
bool wants_more(const Latency& latency, const LatencyOptions& options);

// Times every call with every variant. Without a filter calls would be run: unless `real`, a number
// that no call has stands for them there. Preconditions: check() accepts all programs, and those
// below others with kAddedBelow more instructions; not all weights are 0; with `real`, all calls
// are safe and allowed. Errors: kRejected (the kernel refuses the filters of a variant),
// kUnavailable (no seccomp here; no x86_64; it was stopped before two rounds were done).
Result<Latency> measure(const std::vector<Variant>& variants, const std::vector<TimedCall>& calls,
                        const LatencyOptions& options);

// "... % faster", "... % slower", "no difference that could be told from noise" or that there are
// too few rounds to tell: `after` beside `before`.
std::string claim(const Latency& latency, const VariantTimes& before, const VariantTimes& after);

}  // namespace secequiv::kernel
