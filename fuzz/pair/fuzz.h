// Fuzzing a pair with libFuzzer, in processes of their own, without its user having to know
// libFuzzer. Owns the processes, what they share, and when they end. It must not know where the
// first inputs come from nor what a report looks like.
#pragma once

#include <functional>
#include <string>

#include "fuzz/pair/session.h"
#include "harness/base/result.h"

namespace secequiv::pair {

struct FuzzStatus {
  double seconds = 0;
  std::uint64_t runs = 0;         // of libFuzzer, each of up to 16 inputs
  std::uint64_t evaluations = 0;  // inputs run through both programs
  std::size_t edges = 0;          // outcomes of the optimized program's two-way instructions seen
  double last_edge_seconds = 0;   // when the last of them was seen first; 0: before
};

struct FuzzOptions {
  double seconds = 60;
  std::uint64_t evaluations = ~0ull;  // about that many at most, of all jobs together
  unsigned jobs = 1;                  // processes
  std::uint64_t seed = 1;
  // The folder of inputs to start from, which gets those that cover more as soon as they are found,
  // and what differs. Jobs look there for what others found, once a second.
  std::string corpus;
  std::vector<std::uint8_t> seen;                   // outcomes seen before (PairSession::edge)
  std::function<bool()> stop;                       // asked some fifty times a second
  std::function<void(const FuzzStatus&)> progress;  // called as often
};

struct FuzzResult {
  FuzzStatus status;
  std::vector<std::uint8_t> seen;  // 1 for each outcome seen (PairSession::edge)
  std::optional<Witness> witness;  // replayed
  bool interrupted = false;
};

// False if this program was built without libFuzzer; then fuzz() is an error.
bool can_fuzz();

// Ends when the time is over, enough is evaluated, a difference is found or `stop` says so. Errors:
// kIo; kUsage without libFuzzer; kInternal if a process ends as it should not.
Result<FuzzResult> fuzz(const PairSession& session, const FuzzOptions& options);

}  // namespace secequiv::pair
