// Owns the loop that runs most inputs of a fuzzed pair: many changed copies of a few inputs, as
// machine code. It only finds interesting inputs; its caller runs these in the interpreter. It must
// not know libFuzzer or where inputs are stored.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "fuzz/pair/session.h"
#include "harness/bpf/native.h"

namespace secequiv::pair {

class Batches {
 public:
  static constexpr std::size_t kGroup = 128;  // copies of one input
  static constexpr std::size_t kGroups = 16;  // limit for the groups of one run

  // Runs an input for which the programs differ, or that meets an outcome which `seen` lacks. Adds
  // new outcomes to `seen`. Returns what the interpreter found.
  using Look = std::function<PairOutcome(const SeccompData&)>;

  // `session` must outlive the batches. `seen` is the same as in Edges, and others may change it.
  Batches(const PairSession& session, std::span<const std::uint8_t> seen, std::uint64_t seed);

  // Runs changed copies of the records of `bytes`, and of inputs that met new outcomes earlier.
  // Ends after kGroups groups, after `most` inputs, or after a difference. Returns the number of
  // inputs that it ran: 0 if this system cannot run machine code that we translate.
  std::size_t run(std::span<const std::uint8_t> bytes, std::uint64_t most, const Look& look);

 private:
  void translate();
  void fill(std::span<const std::uint8_t> bytes);
  bool run_group(std::size_t count, const Look& look);

  const PairSession& session_;
  std::span<const std::uint8_t> seen_;
  Random random_;
  std::optional<NativeProgram> before_;
  std::optional<NativeProgram> after_;  // reports outcomes that `seen_` lacked at translation
  std::vector<SeccompData> kept_;       // each met new outcomes
  std::vector<SeccompData> group_;
};

}  // namespace secequiv::pair
