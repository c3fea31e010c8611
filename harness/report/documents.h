// What `prove` and `validate` answer, as whole documents and lines: the command line
// and the library (api) give the same. Owns their shapes.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>

#include "harness/compare/check_report.h"
#include "harness/policy/policy.h"

namespace secequiv {

// Schema "secequiv.prove/2", with the question and both sides.
nlohmann::ordered_json proof_document(const Question& question, const Proof& proof,
                                      std::span<const SideReport> before,
                                      std::span<const SideReport> after);
// The same of a program that the kernel would refuse.
nlohmann::ordered_json rejected_document(const std::string& file, const std::string& detail);
std::string rejected_text(const std::string& file, const std::string& detail);

// A program, or a policy and what was compiled of it, and what the kernel's check says.
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
