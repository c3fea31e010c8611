// What the pair fuzzer keeps between runs: the two programs, and what changes inputs for them. Owns
// the layout of inputs as records of 64 bytes. It must not know libFuzzer (fuzz_pair.cc connects
// the two).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/compare/mutate_input.h"
#include "harness/compare/pair.h"

namespace secequiv::fuzz {

inline constexpr std::size_t kRecordBytes = sizeof(InputWords);
inline constexpr std::size_t kMaxRecords = 16;  // evaluations per run

class PairSession {
 public:
  // Preconditions: check() accepts both programs (the length rule aside).
  explicit PairSession(Pair pair);
  PairSession(const PairSession&) = delete;
  PairSession& operator=(const PairSession&) = delete;

  // Runs every whole 64-byte record of `bytes` (at most kMaxRecords) through both programs. The
  // first difference, if any. `edges` receives a count per outcome of the optimized program (index
  // modulo its size).
  std::optional<Witness> run(std::span<const std::uint8_t> bytes,
                             std::span<std::uint8_t> edges) const;

  // Changes one record in place, or appends a changed copy of one (InputMutator). Returns the new
  // size, a multiple of 64.
  std::size_t mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                     std::uint64_t seed) const;

  [[nodiscard]] const Pair& pair() const { return pair_; }

 private:
  Pair pair_;
  InputMutator mutator_;  // of pair_
};

}  // namespace secequiv::fuzz
