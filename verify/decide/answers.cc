#include "verify/decide/answers.h"

#include <fmt/format.h>

#include <utility>

#include "harness/base/loaded.h"
#include "verify/smt/solver.h"

namespace secequiv {

bool decisive(const Result<Proof>& proof) { return !proof || proof->verdict != Verdict::kUnknown; }

std::optional<Error> contradiction(const Proof& one, const Proof& other) {
  const bool relations = !one.relation || !other.relation || one.relation == other.relation;
  if (one.verdict == other.verdict && relations) return std::nullopt;
  return make_error(
      ErrorCode::kInternal, "engines",
      fmt::format("{} returns '{}' and {} returns '{}'; please report this", one.engine,
                  verdict_name(one.verdict), other.engine, verdict_name(other.verdict)));
}

Result<Proof> z3_if_installed(const Question& question, double seconds, std::size_t mib,
                              double spent) {
  try {
    return smt::prove(question, seconds, mib, spent);
  } catch (const NotInstalled& missing) {
    return no_verdict("z3", missing.what());
  }
}

}  // namespace secequiv
