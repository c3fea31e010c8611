// Reports for machines: JSON with a versioned schema name in every document. Owns the shapes that
// several documents share. Numbers that may exceed 2^53 are hexadecimal strings. It must not know
// texts for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "harness/report/side.h"

namespace secequiv {

// Returns "raw" or "behaviour".
constexpr std::string_view sameness_name(Sameness sameness) {
  if (sameness == Sameness::kEffect) return "effect";
  return sameness == Sameness::kRaw ? "raw" : "behaviour";
}

// Returns an object with a return value as a number and its meaning in words.
nlohmann::ordered_json value_json(std::uint32_t value);

nlohmann::ordered_json to_json(const SeccompData& data);
nlohmann::ordered_json to_json(const Witness& witness);
nlohmann::ordered_json to_json(const Trace& trace);
nlohmann::ordered_json to_json(const Obligation& obligation);
nlohmann::ordered_json to_json(const SideReport& side);
nlohmann::ordered_json to_json(const Question& question);  // omits the programs
// Returns an object that maps each of the question's symbols to its value.
nlohmann::ordered_json symbols_json(const Question& question,
                                    std::span<const std::uint32_t> values);
nlohmann::ordered_json to_json(const Proof& proof);  // schema "secequiv.prove/2"
nlohmann::ordered_json to_json(const Error& error);  // schema "secequiv.error/1"

// Returns an array with to_json() of each element.
template <class List>
nlohmann::ordered_json json_list(const List& list) {
  auto out = nlohmann::ordered_json::array();
  for (const auto& one : list) out.push_back(to_json(one));
  return out;
}

// Returns the document's text, indented, with a final newline.
std::string render(const nlohmann::ordered_json& document);

}  // namespace secequiv
