// The report of `validate` about each input, as lines and as a JSON document, for the command line
// and the library (api). Owns both shapes. It must not know how inputs are read.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/bpf/refusal.h"
#include "harness/import/oci_loading.h"
#include "harness/policy/policy.h"
#include "harness/report/describe.h"

namespace secequiv {

// A program, or a policy and its compiled program, with the result of the kernel's check.
struct Validated {
  std::string file;
  ProgramView program;
  const Policy* policy = nullptr;
  std::optional<Refusal> refusal;
  std::string where = {};  // place of the refused instruction; empty: the text names `file`
  // Why some of the chosen container runtimes do not load the policy.
  std::vector<LoadFailure> failures = {};
};

// A file that cannot be read.
struct Unreadable {
  std::string file;  // as the command line names it
  Error error;
};

struct ValidateReport {
  std::vector<Json> results;  // to_json() of Validated or Unreadable; programs need not be kept
};

std::string validated_text(const Validated& input);
void describe(Fields<Validated>& input);
void describe(Fields<Unreadable>& input);
void describe(Fields<ValidateReport>& report);

}  // namespace secequiv
