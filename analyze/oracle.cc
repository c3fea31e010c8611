#include "analyze/oracle.h"

namespace secequiv {

Result<std::optional<OracleReport>> ask(const Oracle& oracle, const std::vector<Source>& stack,
                                        const std::vector<Source>& other,
                                        const std::vector<SeccompData>& inputs) {
  if (!oracle) return std::optional<OracleReport>();
  std::vector<NamedProgram> programs;
  for (const std::vector<Source>* sources : {&stack, &other})
    for (const Source& source : *sources) programs.emplace_back(source.title(), source.program);
  ASSIGN_OR_RETURN(auto answer, oracle(programs, inputs));
  return std::optional(std::move(answer));
}

}  // namespace secequiv
