#include "verify/certificate/cnf.h"

#include <fmt/format.h>

#include <cstdlib>
#include <iterator>
#include <utility>

namespace secequiv::certificate {

GateTable::Bool GateTable::gate(const Gate& gate) {
  const auto [at, added] = index_.try_emplace(gate, kFirst + static_cast<Bool>(made_.size()));
  if (added) made_.push_back(gate);
  return at->second;
}

std::pair<std::vector<Clause>, std::int32_t> GateTable::clauses(Bool goal) const {
  std::vector<std::int32_t> number(kFirst + made_.size(), 0);
  const auto at = [&](Bool literal) -> std::int32_t& {
    return number[static_cast<std::size_t>(std::abs(literal))];
  };
  at(goal) = 1;
  for (std::size_t i = made_.size(); i-- > 0;) {
    if (number[kFirst + i] == 0) continue;
    const Gate& gate = made_[i];
    at(gate.a) = at(gate.b) = 1;
    if (gate.kind == Kind::kMux) at(gate.c) = 1;
  }
  for (Bool input = 0; input < kFirst; ++input) at(input) = input;
  const auto renamed = [&](Bool literal) { return literal < 0 ? -at(literal) : at(literal); };
  std::int32_t count = kFirst - 1;
  std::vector<Clause> out{{1}};
  for (std::size_t i = 0; i < made_.size(); ++i) {
    if (number[kFirst + i] == 0) continue;
    const std::int32_t v = number[kFirst + i] = ++count;
    const Gate& gate = made_[i];
    const std::int32_t a = renamed(gate.a);
    const std::int32_t b = renamed(gate.b);
    switch (gate.kind) {
      case Kind::kAnd:
        out.insert(out.end(), {{-v, a}, {-v, b}, {v, -a, -b}});
        break;
      case Kind::kXor:
        out.insert(out.end(), {{-v, a, b}, {-v, -a, -b}, {v, -a, b}, {v, a, -b}});
        break;
      case Kind::kMux: {
        const std::int32_t c = renamed(gate.c);
        out.insert(out.end(), {{-v, -a, b}, {v, -a, -b}, {-v, a, c}, {v, a, -c}});
        break;
      }
    }
  }
  out.push_back({renamed(goal)});
  return {std::move(out), count};
}

Result<Cnf> different(ProgramView before, ProgramView after, Sameness sameness) {
  Gates gates;
  Cnf out;
  out.text = fmt::format("c secequiv cnf certificate 1\nc same {}\n",
                         sameness == Sameness::kRaw ? "raw" : "behaviour");
  std::array<Gates::Word, 2> results{};
  for (std::size_t i = 0; i < 2; ++i) {
    const ProgramView view = i == 0 ? before : after;
    out.text += i == 0 ? "c before " : "c after ";
    Program program(view.begin(), view.end());
    for (Insn& in : program) {
      fmt::format_to(std::back_inserter(out.text), "{:04x}{:02x}{:02x}{:08x}", in.code, in.jt,
                     in.jf, in.k);
      if (in.code == kRetA && sameness != Sameness::kRaw)
        return make_error(ErrorCode::kBudget, "query.cnf",
                          "computed return values cannot be compared by behaviour");
      if (in.code == kRetK) in.k = normalize(in.k, sameness);
    }
    out.text += '\n';
    auto run = run_symbolic(gates, program);
    if (!run.complete)
      return make_error(ErrorCode::kBudget, "query.cnf",
                        stop_wanted() ? stop_reason() : "memory limit reached");
    results[i] = run.result;
  }
  Gates::Bool goal = -1;
  for (std::size_t i = 0; i < 32; ++i)
    goal = gates.either(goal, gates.differ(results[0][i], results[1][i]));
  std::int32_t variables = 0;
  std::tie(out.clauses, variables) = gates.clauses(goal);
  fmt::format_to(std::back_inserter(out.text), "p cnf {} {}\n", variables, out.clauses.size());
  for (const Clause& clause : out.clauses) {
    for (const std::int32_t literal : clause)
      fmt::format_to(std::back_inserter(out.text), "{} ", literal);
    out.text += "0\n";
  }
  return out;
}

}  // namespace secequiv::certificate
