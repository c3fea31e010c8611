// Reports for machines: JSON with a versioned schema name in every document. Owns the shapes that
// several documents share. Numbers that may exceed 2^53 are hexadecimal strings. It must not know
// texts for people.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "harness/base/result.h"
#include "harness/compare/proof.h"
#include "harness/report/describe.h"
#include "harness/report/side.h"

namespace secequiv {

// Returns "raw" or "behaviour".
constexpr std::string_view sameness_name(Sameness sameness) {
  if (sameness == Sameness::kEffect) return "effect";
  return sameness == Sameness::kRaw ? "raw" : "behaviour";
}

// The return value of a filter, as a number and its meaning in words.
struct ShownValue {
  std::uint32_t value = 0;
};
void describe(Fields<ShownValue>& value);
inline Json value_json(std::uint32_t value) { return to_json(ShownValue{value}); }

void describe(Fields<SeccompData>& data);
void describe(Fields<Witness>& witness);
void describe(Fields<TraceStep>& step);
void describe(Fields<Trace>& trace);
void describe(Fields<Obligation>& obligation);
// A refusal in words needs the program.
struct ShownRefusal {
  const Refusal& refusal;
  ProgramView program;
};
void describe(Fields<ShownRefusal>& refusal);
void describe(Fields<SideReport>& side);
void describe(Fields<Question>& question);  // omits the programs
void describe(Fields<Symbol>& symbol);
void describe(Fields<Error>& error);

// The shape of a name that stands for a number in a program.
Shape name_shape();
// Returns an object that maps each of the question's symbols to its value.
Json symbols_json(const Question& question, std::span<const std::uint32_t> values);
struct ShownWitness {
  const Witness& witness;
  const Json& symbols;  // from symbols_json(); empty: the programs have no names
};
void describe(Fields<ShownWitness>& witness);

// The part of a proof that follows its verdict.
struct ProofParts {
  Proof proof;
  Json symbols;
};
void describe(Fields<ProofParts>& proof);
void describe(Fields<Proof>& proof);

// Returns the document's text, indented, with a final newline.
std::string render(const Json& document);

}  // namespace secequiv
