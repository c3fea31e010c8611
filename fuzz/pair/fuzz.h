// Owns fuzzing a pair with libFuzzer: its processes, the data that they share, and when they end.
// It must not know where the first inputs come from or what a report looks like.
#pragma once

#include <functional>
#include <string>

#include "fuzz/pair/session.h"
#include "harness/base/result.h"

namespace secequiv::pair {

struct FuzzStatus {
  double seconds = 0;
  std::uint64_t runs = 0;         // runs of libFuzzer, each of up to 16 inputs and a batch
  std::uint64_t evaluations = 0;  // inputs run through both programs
  std::size_t edges = 0;          // outcomes of the optimized program that occurred
  // Seconds until the last new edge was seen; 0 if all were seen before.
  double last_edge_seconds = 0;
};

struct FuzzOptions {
  double seconds = 60;
  std::uint64_t evaluations = ~0ull;  // approximate limit for all jobs together
  unsigned jobs = 1;                  // processes
  std::uint64_t seed = 1;
  // The folder of inputs to start from. Jobs immediately write inputs with new coverage and
  // differences there, and read the inputs of other jobs every second.
  std::string corpus;
  std::vector<std::uint8_t> seen;  // outcomes seen before (PairSession::edge)
  std::function<bool()> stop;      // called about fifty times each second; true stops
  std::function<void(const FuzzStatus&)> progress;  // called as often as `stop`
};

struct FuzzResult {
  FuzzStatus status;
  std::vector<std::uint8_t> seen;  // 1 for each outcome seen (PairSession::edge)
  std::optional<Witness> witness;  // replayed
  bool interrupted = false;
};

// Returns false if this program was built without libFuzzer; then fuzz() returns an error.
bool can_fuzz();

// Fuzzes the pair until the time is over, enough inputs are evaluated, a difference is found or
// `stop` returns true. Errors: kIo; kUsage without libFuzzer; kInternal if a process ends
// unexpectedly.
Result<FuzzResult> fuzz(const PairSession& session, const FuzzOptions& options);

}  // namespace secequiv::pair
