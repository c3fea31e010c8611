// The report of `validate` about each input, as lines and as a JSON document, for the command line
// and the library (api). Owns both shapes. It must not know how inputs are read.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "harness/bpf/refusal.h"
#include "harness/import/oci_loading.h"
#include "harness/policy/policy.h"

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

// Return the input's row in the document, and its line of text.
nlohmann::ordered_json to_json(const Validated& input);
std::string validated_text(const Validated& input);
// Returns the document with these rows, schema "secequiv.validate/1".
nlohmann::ordered_json validate_document(nlohmann::ordered_json rows);

}  // namespace secequiv
