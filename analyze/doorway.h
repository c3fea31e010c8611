// Finds an input that a filter refuses as one call and an input that it allows as another, in which
// both calls use the same values. Owns this search for one pair of calls. It must not know which
// pairs matter (harness/seccomp/doors.h).
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "analyze/call_sets.h"

namespace secequiv {

class Doorway {
 public:
  // Starts with these sets of inputs of two calls: `refused` of `from`, `allowed` of `to`. No value
  // is common to both yet. Preconditions: all arguments outlive this object, and both architectures
  // have one byte order.
  Doorway(dd::Space& space, const ArchCalls& from, const ArchCalls& to, dd::NodeId refused,
          dd::NodeId allowed)
      : space_(space), from_(from), to_(to), refused_(refused), allowed_(allowed) {}

  [[nodiscard]] bool closed() const {
    return refused_ == dd::Diagrams::kZero || allowed_ == dd::Diagrams::kZero;
  }

  // The refused call's argument has the same value as the door's.
  void same(int refused, int door) { common_.emplace_back(refused, door); }
  // These narrow the refused or the allowed inputs to those whose argument has this value, or has
  // all of these bits.
  void refused_is(int argument, std::uint64_t value);
  void refused_has(int argument, std::uint64_t bits);
  void door_is(int argument, std::uint64_t value);
  void door_has(int argument, std::uint64_t bits);
  // Keeps the refused inputs that the filter would allow without the flag, which is one bit.
  // `allowed` are the refused call's allowed inputs.
  void only_for_flag(dd::NodeId allowed, int argument, std::uint64_t flag);

  // Returns whether the filter allows the door only for a few values of an argument that decides
  // about the refused call. Whoever listed these values wanted them.
  [[nodiscard]] bool lists_values() const;

  // Returns the refused and the allowed input, if there are any.
  [[nodiscard]] std::optional<std::pair<SeccompData, SeccompData>> find(
      std::uint32_t refused_nr, std::uint32_t door_nr) const;

 private:
  [[nodiscard]] bool has_few_values(std::uint32_t word) const;
  [[nodiscard]] dd::NodeId equal(int argument, std::uint64_t value) const;
  [[nodiscard]] dd::NodeId has_bits(int argument, std::uint64_t bits) const;

  dd::Space& space_;
  const ArchCalls& from_;
  const ArchCalls& to_;
  dd::NodeId refused_;
  dd::NodeId allowed_;
  std::vector<std::pair<int, int>> common_;
};

}  // namespace secequiv
