// Ways around a filter, as text, JSON and cases. Owns the report value and these shapes. It must
// not know how the ways are found (analyze/guard.h).
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/compare/verdict.h"
#include "harness/kernel/real_call.h"
#include "harness/report/doors.h"
#include "harness/report/pair_notes.h"
#include "harness/report/reported.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {

// What the running kernel answered to both inputs of a pair.
struct RealAnswers {
  kernel::Answer refused;
  kernel::Answer allowed;
  kernel::Answer unfiltered;  // to either input, without the filter

  // Returns whether a process sees the same with and without the filter. The answers then show
  // nothing about the filter.
  [[nodiscard]] bool alike() const { return refused == unfiltered; }
};

// Two inputs that the kernel cannot tell apart, one of which the filter refuses.
struct SplitReport {
  Arch arch;
  std::uint32_t nr;
  std::vector<int> arguments;  // in which the inputs differ
  SeccompData refused;
  std::uint32_t refused_value;
  DecidingRule refused_by = {};
  SeccompData allowed;
  std::uint32_t allowed_value;
  DecidingRule allowed_by = {};
  std::optional<RealAnswers> answers = {};
  std::string not_run = {};  // why there are no answers, although somebody asked for them
};

struct GuardReport {
  std::string name;
  SourceFile file = {};  // of the first filter
  // Programs usually pass the refused input; setting ignored bits gets the same effect.
  std::vector<SplitReport> holes;
  // Programs usually pass the allowed input, so the filter only refuses more than it needs to.
  std::vector<SplitReport> strict;
  std::vector<DoorFinding> doors = {};
  std::string unknown = {};  // why the answer is incomplete; empty: it is complete
  ReadNotes notes = {};

  [[nodiscard]] Verdict verdict() const {
    const bool open = std::ranges::any_of(doors, &DoorFinding::certain);
    if (!holes.empty() || open) return Verdict::kFail;
    return unknown.empty() ? Verdict::kPass : Verdict::kUnknown;
  }
};

std::string guard_text(const GuardReport& report);
nlohmann::ordered_json to_json(const GuardReport& report);  // schema "secequiv.guard/1"
ReportedCases reported(const GuardReport& report);

}  // namespace secequiv
