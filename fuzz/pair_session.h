// What the pair fuzzer keeps between runs: the two programs, the constants worth trying, the
// optimized program's edges. Owns the mutation of seccomp_data records. It must not know libFuzzer
// (fuzz_pair.cc connects the two).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/bpf/flow.h"
#include "harness/compare/pair.h"

namespace secequiv::fuzz {

inline constexpr std::size_t kRecordBytes = sizeof(InputWords);
inline constexpr std::size_t kMaxRecords = 16;  // evaluations per run

class PairSession {
 public:
  // Preconditions: check() accepts both programs (the length rule aside).
  explicit PairSession(Pair pair);

  // Runs every whole 64-byte record of `bytes` (at most kMaxRecords) through both programs. The
  // first difference, if any. `edges` receives a count per outcome of the optimized program (index
  // modulo its size).
  std::optional<Witness> run(std::span<const std::uint8_t> bytes,
                             std::span<std::uint8_t> edges) const;

  // Changes a few words of one record in place, or appends a changed copy of one: constants the
  // programs compare that word with (k-1, k, k+1), values that turn a test on the record's path,
  // single bits, all ones, zero, other words. Returns the new size, a multiple of 64.
  std::size_t mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                     std::uint64_t seed) const;

  [[nodiscard]] const Pair& pair() const { return pair_; }

 private:
  Pair pair_;
  std::vector<Accumulator> flow_before_;
  std::vector<Accumulator> flow_after_;
  std::array<std::vector<std::uint32_t>, 16> constants_;  // per word of the input
};

}  // namespace secequiv::fuzz
