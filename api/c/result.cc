#include "api/c/result.h"

#include <cstring>

#include "harness/report/json.h"

namespace secequiv::api {
namespace {

int verdict_after(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRejected:
      return SECEQUIV_REJECTED;
    case ErrorCode::kBudget:
    case ErrorCode::kUnavailable:
      return SECEQUIV_UNKNOWN;
    default:
      return SECEQUIV_ERROR;
  }
}

// Returns the member of secequiv_options by which a caller made this choice.
const char* member_about(Subject subject) {
  switch (subject) {
    case Subject::kArch:
      return "options.arch";
    case Subject::kAssumption:
      return "options.assume";
    case Subject::kFilter:
      return "options.filter";
    case Subject::kKernelVersion:
      return "options.kernel";
    default:
      return nullptr;
  }
}

}  // namespace

int verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEquivalent:
      return SECEQUIV_EQUIVALENT;
    case Verdict::kPass:
      return SECEQUIV_PASS;
    case Verdict::kDifferent:
      return SECEQUIV_DIFFERENT;
    case Verdict::kUnknown:
      return SECEQUIV_UNKNOWN;
    case Verdict::kRejected:
      return SECEQUIV_REJECTED;
    case Verdict::kFail:
      return SECEQUIV_FAIL;
    case Verdict::kCrashed:
      break;
  }
  return SECEQUIV_ERROR;
}

Outcome failed(Error error) {
  if (const char* member = member_about(error.subject)) error.where = member;
  return {verdict_after(error.code), error.text() + "\n", render(to_json(error))};
}

}  // namespace secequiv::api

extern "C" {

int secequiv_result_verdict(const secequiv_result* result) {
  return result == nullptr ? SECEQUIV_ERROR : result->verdict;
}

int secequiv_result_holds(const secequiv_result* result) {
  const int verdict = secequiv_result_verdict(result);
  return verdict == SECEQUIV_EQUIVALENT || verdict == SECEQUIV_PASS ? 1 : 0;
}

const char* secequiv_result_message(const secequiv_result* result) {
  return result == nullptr ? "there is no result, because memory ran out\n"
                           : result->message.c_str();
}

const char* secequiv_result_json(const secequiv_result* result) {
  return result == nullptr || !result->json ? nullptr : result->json->c_str();
}

int secequiv_result_witness(const secequiv_result* result, void* seccomp_data,
                            std::uint32_t* before, std::uint32_t* after) {
  if (result == nullptr || !result->witness) return 0;
  const secequiv::Witness& witness = *result->witness;
  if (seccomp_data != nullptr)
    std::memcpy(seccomp_data, witness.data.words.data(), sizeof witness.data.words);
  if (before != nullptr) *before = witness.before;
  if (after != nullptr) *after = witness.after;
  return 1;
}

int secequiv_result_value(const secequiv_result* result, std::uint32_t* value) {
  if (result == nullptr || !result->value) return 0;
  if (value != nullptr) *value = *result->value;
  return 1;
}

const sock_filter* secequiv_result_program(const secequiv_result* result, std::size_t* length) {
  const bool there = result != nullptr && result->source;
  if (length != nullptr) *length = there ? result->source->program.size() : 0;
  return there ? reinterpret_cast<const sock_filter*>(result->source->program.data()) : nullptr;
}

int secequiv_result_is_policy(const secequiv_result* result) {
  return result != nullptr && result->source && result->source->policy ? 1 : 0;
}

const char* secequiv_result_notes(const secequiv_result* result) {
  return result == nullptr ? "" : result->notes.c_str();
}

void secequiv_result_free(secequiv_result* result) { delete result; }

}  // extern "C"
