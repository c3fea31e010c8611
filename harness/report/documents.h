// What `validate` reports about each input, as lines and as a document: the command line
// and the library (api) give the same. Owns their shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "harness/bpf/refusal.h"
#include "harness/policy/policy.h"

namespace secequiv {

// A program, or a policy and its compiled program, with the result of the kernel's check.
struct Validated {
  std::string file;
  ProgramView program;
  const Policy* policy = nullptr;
  std::optional<Refusal> refusal;
};

// A row of the document, and a line.
nlohmann::ordered_json to_json(const Validated& input);
std::string validated_text(const Validated& input);
// Schema "secequiv.validate/1".
nlohmann::ordered_json validate_document(nlohmann::ordered_json rows);

}  // namespace secequiv
