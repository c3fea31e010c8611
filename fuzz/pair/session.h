// What fuzzing a fixed pair keeps between runs: the two programs, and what changes inputs for them.
// Owns the layout of a fuzzer's input: up to 16 records of 64 bytes (seccomp_data as filters load
// it, little endian), the last one filled up with zeros. It must not know libFuzzer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/compare/pair.h"
#include "harness/inputs/mutate_input.h"

namespace secequiv::pair {

inline constexpr std::size_t kRecordBytes = sizeof(SeccompData);
inline constexpr std::size_t kMaxRecords = 16;  // evaluations per run
inline constexpr std::size_t kMaxBytes = kMaxRecords * kRecordBytes;

// Where a run marks the outcomes of the optimized program's two-way instructions. `marks` is what a
// fuzzer reads and clears after each run, a power of two of entries (an outcome's number modulo
// that); `seen` stays, one for each outcome.
struct Edges {
  std::span<std::uint8_t> marks;
  std::span<std::uint8_t> seen;
  // Mark an outcome only the first time it is seen: a fuzzer then has less to read. (Not where it
  // asks what a given input covers, as libFuzzer's merging does.)
  bool first_only = false;
};

struct PairOutcome {
  std::optional<Witness> witness;  // the first difference
  std::uint16_t first = 0;         // bit i: record i met an outcome for the first time
};

class PairSession {
 public:
  // `known`: inputs that the rules behind the programs give reason to try; their values are used by
  // `mutate`. Preconditions: check() accepts both programs (the length rule aside).
  explicit PairSession(Pair pair, std::span<const SeccompData> known = {});
  PairSession(const PairSession&) = delete;
  PairSession& operator=(const PairSession&) = delete;

  // Runs every record of `bytes` through both programs, up to the first difference.
  PairOutcome run(std::span<const std::uint8_t> bytes, const Edges& edges) const;

  // Replaces the records by changed copies of them, one changed with care (InputMutator::mutate),
  // as many more as there is room for changed cheaply. Returns the new size, at most `capacity`,
  // which is not 0.
  std::size_t mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                     std::uint64_t seed) const;

  // Records whose words are each of one of two inputs. Returns the size.
  static std::size_t cross_over(std::span<const std::uint8_t> first,
                                std::span<const std::uint8_t> second, std::span<std::uint8_t> out,
                                std::uint64_t seed);

  // Outcomes of two-way instructions of the optimized program.
  [[nodiscard]] std::size_t edges() const { return edges_; }
  // The number of an outcome. Precondition: instruction `pc` has two.
  [[nodiscard]] std::size_t edge(std::size_t pc, bool taken) const {
    return edge_of_[pc] + (taken ? 1 : 0);
  }
  [[nodiscard]] const Pair& pair() const { return pair_; }

 private:
  Pair pair_;
  InputMutator mutator_;                // of pair_
  std::vector<std::uint32_t> edge_of_;  // per instruction: the number of its outcome 'false'
  std::size_t edges_ = 0;
};

// How many records `bytes` bytes are, and record `i` of them.
constexpr std::size_t records_in(std::size_t bytes) {
  return std::min((bytes + kRecordBytes - 1) / kRecordBytes, kMaxRecords);
}
SeccompData record(std::span<const std::uint8_t> bytes, std::size_t i);

}  // namespace secequiv::pair
