#include "analyze/proven.h"

#include <fmt/format.h>

#include "harness/seccomp/data.h"
#include "verify/dd/engine.h"

namespace secequiv {

Status expect_same(std::span<const ProgramView> before, ProgramView made, const std::string& name,
                   const std::string& maker, const dd::Limits& limits) {
  Question question;
  question.before.assign(before.begin(), before.end());
  question.after = {made};
  const auto proof = dd::prove(question, limits);
  if (!proof) return proof.error();
  if (proof->verdict == Verdict::kEquivalent) return Ok{};
  if (proof->verdict == Verdict::kUnknown) return dd::limits_reached(name);
  return make_error(ErrorCode::kInternal, maker,
                    fmt::format("the result decides the input {} in another way; please report "
                                "this",
                                proof->witness ? describe(proof->witness->data) : "?"));
}

}  // namespace secequiv
