#include "verify/sat/cnf_solver.h"

#include <cadical.hpp>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace secequiv::sat {

struct CnfSolver::State {
  struct Stop : CaDiCaL::Terminator {
    explicit Stop(std::function<bool()> when) : wanted(std::move(when)) {}
    bool terminate() override { return wanted(); }
    std::function<bool()> wanted;
  };

  const BitGraph& graph;
  Stop stop;
  CaDiCaL::Solver solver;
  std::vector<bool> known;          // by bit: whether the solver has its clauses
  std::vector<std::size_t> inputs;  // input bits that the solver has
  std::vector<std::size_t> todo = {};

  void clause(std::initializer_list<Bool> literals) {
    for (const Bool literal : literals) solver.add(literal);
    solver.add(0);
  }

  static std::size_t number(Bool bit) { return static_cast<std::size_t>(std::abs(bit)); }

  // Adds the clauses of a bit whose parts, replaced by equal ones, are known.
  void define(std::size_t bit, Bool a, Bool b, Bool c) {
    const auto v = static_cast<Bool>(bit);
    switch (graph.at(bit).kind) {
      case BitGraph::Kind::kInput:
        inputs.push_back(bit);
        return;
      case BitGraph::Kind::kAnd:
        clause({-v, a});
        clause({-v, b});
        clause({v, -a, -b});
        return;
      case BitGraph::Kind::kXor:
        clause({-v, a, b});
        clause({-v, -a, -b});
        clause({v, -a, b});
        clause({v, a, -b});
        return;
      case BitGraph::Kind::kMux:
        clause({-v, -a, b});
        clause({v, -a, -b});
        clause({-v, a, c});
        clause({v, a, -c});
        clause({-v, b, c});
        clause({v, -b, -c});
    }
  }

  void encode(Bool root, const std::function<Bool(Bool)>& same) {
    todo.push_back(number(root));
    known.resize(graph.size(), false);
    while (!todo.empty()) {
      const std::size_t now = todo.back();
      const BitGraph::Bit& bit = graph.at(now);
      const std::size_t before = todo.size();
      Bool parts[3] = {0, 0, 0};
      if (!known[now] && now > 1 && bit.kind != BitGraph::Kind::kInput) {
        const Bool all[3] = {bit.a, bit.b, bit.c};
        for (int i = 0; i < (bit.kind == BitGraph::Kind::kMux ? 3 : 2); ++i) {
          parts[i] = same(all[i]);
          if (number(parts[i]) > 1 && !known[number(parts[i])]) todo.push_back(number(parts[i]));
        }
      }
      if (todo.size() > before) continue;
      todo.pop_back();
      if (known[now] || now <= 1) continue;
      known[now] = true;
      define(now, parts[0], parts[1], parts[2]);
    }
  }
};

CnfSolver::CnfSolver(const BitGraph& graph, Effort effort, std::function<bool()> stop)
    : state_(new State{graph, State::Stop(std::move(stop)), {}, {}, {}}) {
  CaDiCaL::Solver& solver = state_->solver;
  solver.set("quiet", 1);
  if (effort == Effort::kOneQuery)
    solver.configure("unsat");  // simulation has already answered most queries that are satisfiable
  else
    for (const char* technique : {"elim", "probe", "subsume", "vivify", "compact", "lucky"})
      solver.set(technique, 0);
  solver.connect_terminator(&state_->stop);
  state_->clause({1});
}

CnfSolver::~CnfSolver() { state_->solver.disconnect_terminator(); }

void CnfSolver::merge(Bool a, Bool b) {
  state_->clause({-a, b});
  state_->clause({a, -b});
}

Answer CnfSolver::ask(std::span<const Bool> bits, int conflicts,
                      const std::function<Bool(Bool)>& same) {
  for (const Bool bit : bits) state_->encode(bit, same);
  for (const Bool bit : bits) state_->solver.assume(bit);
  if (conflicts >= 0) state_->solver.limit("conflicts", conflicts);
  const int status = state_->solver.solve();
  return status == 10 ? Answer::kYes : status == 20 ? Answer::kNo : Answer::kUnknown;
}

std::vector<std::uint32_t> CnfSolver::true_inputs() const {
  std::vector<std::uint32_t> out;
  for (const std::size_t bit : state_->inputs)
    if (state_->solver.val(static_cast<int>(bit)) > 0)
      out.push_back(static_cast<std::uint32_t>(state_->graph.at(bit).a));
  return out;
}

}  // namespace secequiv::sat
