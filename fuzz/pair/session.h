// Owns what fuzzing a fixed pair keeps between runs (the two programs and the mutator of inputs),
// and the layout of a fuzzer's input: up to 16 records of 64 bytes. A record is a seccomp_data as
// filters load it, little endian. If the last record is incomplete, zeros fill it. It must not know
// libFuzzer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "harness/compare/pair.h"
#include "harness/inputs/mutate_input.h"

namespace secequiv::pair {

inline constexpr std::size_t kRecordBytes = sizeof(SeccompData);
inline constexpr std::size_t kMaxRecords = 16;  // evaluations in one run
inline constexpr std::size_t kMaxBytes = kMaxRecords * kRecordBytes;

// The marks that a run makes for the outcomes of instructions with two outcomes in the optimized
// program. A fuzzer reads and clears `marks` after each run; its size is a power of two, and an
// outcome's number is taken modulo that size. `seen` has one entry for each outcome; fuzzers do not
// clear it.
struct Edges {
  std::span<std::uint8_t> marks;
  std::span<std::uint8_t> seen;
  // If set, a run marks an outcome only the first time that it is seen, so that a fuzzer has less
  // to read. It must be false if the fuzzer needs the whole coverage of an input, for example to
  // merge corpora.
  bool first_only = false;
};

struct PairOutcome {
  std::optional<Witness> witness;  // the first difference
  std::uint16_t first = 0;         // bit i: record i met a new outcome
};

class PairSession {
 public:
  // `mutate` uses values from `known`, inputs that were derived from the programs' policies.
  // Precondition: the kernel accepts both programs, except that they may be too long.
  explicit PairSession(Pair pair, std::span<const SeccompData> known = {});
  PairSession(const PairSession&) = delete;
  PairSession& operator=(const PairSession&) = delete;

  // Runs every record of `bytes` through both programs, until the first difference.
  PairOutcome run(std::span<const std::uint8_t> bytes, const Edges& edges) const;

  // Replaces the records by changed copies: one from InputMutator::mutate, and as many from
  // InputMutator::vary as fit. Returns the new size, at most `capacity`. Precondition: `capacity`
  // is not 0.
  std::size_t mutate(std::uint8_t* bytes, std::size_t size, std::size_t capacity,
                     std::uint64_t seed) const;

  // Writes records whose words each come from one of two inputs. Returns the size.
  static std::size_t cross_over(std::span<const std::uint8_t> first,
                                std::span<const std::uint8_t> second, std::span<std::uint8_t> out,
                                std::uint64_t seed);

  // Returns the number of outcomes in the optimized program, over all instructions with two
  // outcomes.
  [[nodiscard]] std::size_t edges() const { return edges_; }
  // Returns the number of an outcome. Precondition: instruction `pc` has two outcomes.
  [[nodiscard]] std::size_t edge(std::size_t pc, bool taken) const {
    return edge_of_[pc] + (taken ? 1 : 0);
  }
  [[nodiscard]] const Pair& pair() const { return pair_; }
  [[nodiscard]] const InputMutator& mutator() const { return mutator_; }

 private:
  Pair pair_;
  InputMutator mutator_;                // for pair_
  std::vector<std::uint32_t> edge_of_;  // by instruction: the number of its outcome 'false'
  std::size_t edges_ = 0;
};

// records_in() returns how many records `bytes` bytes hold, and record() returns record `i`.
constexpr std::size_t records_in(std::size_t bytes) {
  return std::min((bytes + kRecordBytes - 1) / kRecordBytes, kMaxRecords);
}
SeccompData record(std::span<const std::uint8_t> bytes, std::size_t i);

}  // namespace secequiv::pair
