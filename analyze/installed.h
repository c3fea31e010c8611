// Finds the inputs for which a container profile does not state one action. Owns this question
// about the entries of one call: libseccomp does not keep their order. It must not know how a
// profile is read (harness/import).
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "analyze/direction.h"
#include "analyze/source.h"
#include "harness/compare/proof.h"
#include "harness/compare/question.h"
#include "harness/import/import.h"
#include "verify/dd/space.h"

namespace secequiv {

// Returns the calls of which entries with different actions match the same input, with such an
// input. If a limit is reached, the call is in the result without an input.
std::vector<MixedCall> open_choices(std::vector<MixedCall> mixed, const dd::Limits& limits);

// A filter that libseccomp made.
struct LibraryFilter {
  std::string library;               // "libseccomp 2.5.4"
  std::vector<std::string> unknown;  // calls of the request that the library does not know
  Program program;
};
// Asks a libseccomp for its filter. Errors: kUnavailable if there is none, kRejected if it refuses
// the request, kBudget if it reaches a limit.
using AskLibrary = std::function<Result<LibraryFilter>(const LibraryRequest& request)>;
// Returns a function that passes each request on only once: both sides of a comparison may be the
// same profile.
AskLibrary ask_once(AskLibrary ask);

// Returns the calls that the library's filter decides differently than `imported`; the calls of
// `imported.mixed` are not asked about. A library may only contradict: if there is none, the result
// is empty. If it makes no filter, or a limit is reached, the result says so without an input. Only
// inputs that satisfy `about` count. Precondition: the import has a request.
std::vector<MixedCall> contradictions(const Import& imported, const AskLibrary& ask,
                                      const Assumption& about = {}, const dd::Limits& limits = {});

// Returns the choices that may make the sides differ: those that do not exist on both. libseccomp
// decides equal entries of a call equally.
std::vector<MixedCall> choices_of(std::span<const Source> before, std::span<const Source> after,
                                  const Assumption& about = {});

// Returns the choices for inputs that satisfy the question's assumption.
std::vector<MixedCall> under_assumption(std::vector<MixedCall> choices, const Question& question,
                                        const dd::Limits& limits);

// Returns the choices of the filters for this input; for its call, if the arguments are not known.
std::vector<MixedCall> choices_at(std::span<const Source> filters, const SeccompData& data,
                                  bool arguments_known, const dd::Limits& limits);

// Returns the question about those of its inputs for which there is no choice.
Question without_choices(Question question, const std::vector<MixedCall>& choices);
// Returns a proof that the sides also differ for an input without a choice: kDifferent, or
// kUnknown with the reason. Preconditions: they differ, and `choices` is not empty. Errors: those
// of dd::prove().
Result<Proof> difference_without_choices(const Question& question,
                                         const std::vector<MixedCall>& choices,
                                         const dd::Limits& limits = {});

// Like find_direction(), for the inputs without a choice. With choices, the result is incomplete.
Result<Direction> find_direction_without_choices(const Question& question,
                                                 const std::vector<MixedCall>& choices, Arch host,
                                                 const dd::Limits& limits,
                                                 std::span<const SeccompData> inputs);

}  // namespace secequiv
