#include "verify/certificate/case_walk.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "harness/bpf/liveness.h"
#include "verify/certificate/knowledge.h"
#include "verify/certificate/sha256.h"
#include "verify/walk/runner.h"

namespace secequiv::certificate {
namespace {

using NodeId = std::uint32_t;
constexpr NodeId kNone = ~NodeId{0};
constexpr std::size_t kRegisters = kMemWords + 2;  // as in harness/bpf/liveness.h: M[], A, X
// When the walk arrives at two instructions, it tries at most this many finished nodes there.
constexpr std::size_t kCandidates = 32;
// The checker permits 64 steps for each byte of the certificate, and it counts slightly more steps
// than this walk does.
constexpr std::size_t kWorkPerByte = 40;

using walk::Side;
using walk::Terms;
using Sides = std::array<Side, 2>;

struct Node {
  enum class Kind : std::uint8_t { kTest, kReturn, kImpossible };
  Kind kind = Kind::kTest;
  std::array<std::uint32_t, 2> pc{};
  std::array<std::vector<std::pair<std::uint8_t, Term>>, 2> registers;  // live registers
  Literal test;
  std::array<NodeId, 2> next{kNone, kNone};  // false, true
  Term result = 0;
  std::vector<Literal> needs;  // the literals that the cases below rely on
  std::uint32_t uses = 0;
  std::uint32_t lemma = kNone;
};

// The path from one node to the next, with the known literals that decided tests on it.
struct Edge {
  std::vector<Literal> used;
  NodeId to = kNone;
};

struct Frame {
  NodeId node;
  Sides sides;
  std::size_t mark;
  std::array<Edge, 2> edges;
  int outcomes = 0;  // how many outcomes were walked
};

class Walker {
 public:
  Walker(ProgramView before, ProgramView after, Sameness sameness, const WalkLimits& limits)
      : programs_{before, after},
        live_{live_registers(before, false), live_registers(after, false)},
        sameness_(sameness),
        limits_(limits) {}

  Status walk() {
    Sides sides;
    for (std::size_t i = 0; i < 2; ++i) sides[i].start(programs_[i], terms_);
    std::vector<Literal> used;
    RETURN_IF_ERROR(run(sides, nullptr, used));
    RETURN_IF_ERROR(arrive(sides, root_));
    while (!frames_.empty()) {
      RETURN_IF_ERROR(go_on());
    }
    return Ok{};
  }

  Result<Walk> written();

 private:
  Status go_on();
  Status run(Sides& sides, const Knowledge* learned, std::vector<Literal>& used);
  Status arrive(const Sides& sides, NodeId& to);
  NodeId find(const Sides& sides);
  [[nodiscard]] bool same_registers(const Node& node, const Sides& sides) const;
  static Term reg(const Machine<Terms>& m, std::uint32_t i) {
    return i < kMemWords ? m.m[i] : i == kMemWords ? m.a : m.x;
  }
  [[nodiscard]] std::vector<Literal> needs_of(const Edge& edge, const Literal& learned) const;
  void finish(const Frame& frame);
  [[nodiscard]] Status within_limits() const;
  void count_uses();
  void write_cases(std::string& out, NodeId from) const;
  [[nodiscard]] std::string literal_text(const Literal& literal) const;
  void define_terms(std::string& out);
  [[nodiscard]] std::string operand(Term term) const;

  std::array<ProgramView, 2> programs_;
  std::array<std::vector<std::uint32_t>, 2> live_;
  Sameness sameness_;
  WalkLimits limits_;
  Clock::time_point start_ = Clock::now();
  Terms terms_{true};
  Knowledge knowledge_;
  std::vector<Node> nodes_;
  std::vector<NodeId> finished_;  // each node comes after all nodes that it leads to
  std::map<std::array<std::uint32_t, 2>, std::vector<NodeId>> known_;
  std::vector<Frame> frames_;
  NodeId root_ = kNone;
  std::vector<std::uint32_t> defined_;  // by term: its number in the text
  std::size_t work_ = 0;
  std::size_t executed_ = 0;
  std::size_t kept_ = 0;  // stored literals
};

Status Walker::within_limits() const {
  if (nodes_.size() < limits_.nodes && work_ < limits_.work &&
      kept_ * sizeof(Literal) < limits_.bytes &&
      (nodes_.size() % 256 != 0 || (seconds_since(start_) < limits_.seconds && !stop_wanted())))
    return Ok{};
  return make_error(ErrorCode::kBudget, "walk.cert",
                    "the limit of cases, steps, memory or time is reached");
}

// Runs both programs to their next undecided tests. Adds to `used` the outcomes of the tests that
// were decided on the way, except outcomes that `learned`, the literal of the edge, implies alone.
Status Walker::run(Sides& sides, const Knowledge* learned, std::vector<Literal>& used) {
  const auto decide = [&](const Literal& test) {
    const auto relation = knowledge_.decide(test);
    if (!relation) return relation;
    Literal fact = test;
    fact.holds = *relation;
    if (learned == nullptr || !learned->implies(fact)) used.push_back(fact);
    return relation;
  };
  for (Side& side : sides) {
    const std::size_t executed = walk::run_to_test(terms_, side, decide);
    work_ += executed;
    executed_ += executed;
  }
  return within_limits();
}

bool Walker::same_registers(const Node& node, const Sides& sides) const {
  for (std::size_t i = 0; i < 2; ++i)
    for (const auto& [at, term] : node.registers[i])
      if (reg(sides[i].machine, at) != term) return false;
  return true;
}

NodeId Walker::find(const Sides& sides) {
  const auto there = known_.find({sides[0].pc, sides[1].pc});
  if (there == known_.end()) return kNone;
  std::size_t looked = 0;
  for (std::size_t i = there->second.size(); i-- > 0 && looked < kCandidates; ++looked) {
    const Node& node = nodes_[there->second[i]];
    if (!same_registers(node, sides)) continue;
    work_ += node.needs.size();
    if (std::ranges::all_of(node.needs, [&](const Literal& l) { return knowledge_.implies(l); }))
      return there->second[i];
  }
  return kNone;
}

// Sets `to` to the node for the current instructions: a finished node that applies here, or a new
// one.
Status Walker::arrive(const Sides& sides, NodeId& to) {
  Node node;
  for (std::size_t i = 0; i < 2; ++i) node.pc[i] = sides[i].pc;
  if (sides[0].returned && sides[1].returned) {
    const auto [a, b] = std::pair(sides[0].result, sides[1].result);
    const bool same = a == b || (terms_.is_constant(a) && terms_.is_constant(b) &&
                                 same_decision(terms_.number(a), terms_.number(b), sameness_));
    if (!same)
      return make_error(ErrorCode::kBudget, "walk.cert",
                        fmt::format("the product walk cannot prove that "
                                    "instructions {} and {} return the same value",
                                    sides[0].pc, sides[1].pc));
    node.kind = Node::Kind::kReturn;
    node.result = a;
  } else {
    to = find(sides);
    if (to != kNone) return Ok{};
    node.test = sides[0].returned ? sides[1].test : sides[0].test;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::uint32_t live = live_[i][sides[i].pc];
      for (std::uint32_t r = 0; r < kRegisters; ++r)
        if ((live >> r & 1) != 0)
          node.registers[i].emplace_back(static_cast<std::uint8_t>(r), reg(sides[i].machine, r));
    }
  }
  to = static_cast<NodeId>(nodes_.size());
  nodes_.push_back(std::move(node));
  if (nodes_.back().kind == Node::Kind::kTest)
    frames_.push_back({to, sides, knowledge_.mark(), {}});
  else
    finished_.push_back(to);
  return Ok{};
}

Status Walker::go_on() {
  Frame& frame = frames_.back();
  knowledge_.forget(frame.mark);
  if (frame.outcomes == 2) {
    finish(frame);
    frames_.pop_back();
    return Ok{};
  }
  const bool outcome = frame.outcomes++ == 0;
  Literal learned = nodes_[frame.node].test;
  learned.holds = learned.holds == outcome;
  Edge& edge = frame.edges[outcome ? 1 : 0];
  if (!knowledge_.learn(learned)) {
    edge.to = static_cast<NodeId>(nodes_.size());
    nodes_.emplace_back().kind = Node::Kind::kImpossible;
    finished_.push_back(edge.to);
    knowledge_.forget(frame.mark);
    edge.used = knowledge_.about(learned.base);
  } else {
    Sides sides = frame.sides;
    Knowledge alone;
    alone.learn(learned);
    RETURN_IF_ERROR(run(sides, &alone, edge.used));
    NodeId to = kNone;
    const std::size_t depth = frames_.size();
    RETURN_IF_ERROR(arrive(sides, to));
    frames_[depth - 1].edges[outcome ? 1 : 0].to = to;  // arrive() may have moved the frames
  }
  return Ok{};
}

// Returns, sorted, the literals except `learned` that a node must know before it can take `edge`.
std::vector<Literal> Walker::needs_of(const Edge& edge, const Literal& learned) const {
  Knowledge alone;
  alone.learn(learned);
  std::vector<Literal> out;
  std::vector<Literal> more;  // unsorted
  bool whole = false;
  const auto need = [&](const Literal& literal, std::vector<Literal>& to) {
    if (literal.base != learned.base) return to.push_back(literal);
    if (alone.implies(literal)) return;
    if (knowledge_.implies(literal)) return to.push_back(literal);
    // This literal follows only from `learned` together with the literals that were known before.
    if (whole) return;
    whole = true;
    for (const Literal& known : knowledge_.about(literal.base)) more.push_back(known);
  };
  const std::vector<Literal>& below = nodes_[edge.to].needs;
  out.reserve(below.size());
  for (const Literal& literal : below) need(literal, out);
  for (const Literal& literal : edge.used) need(literal, more);
  if (more.empty()) return out;
  std::ranges::sort(more);
  std::vector<Literal> both;
  both.reserve(out.size() + more.size());
  std::ranges::set_union(out, more, std::back_inserter(both));
  both.erase(std::ranges::unique(both).begin(), both.end());
  return both;
}

void Walker::finish(const Frame& frame) {
  Node& node = nodes_[frame.node];
  std::array<std::vector<Literal>, 2> needs;
  for (std::size_t outcome = 0; outcome < 2; ++outcome) {
    const Edge& edge = frame.edges[outcome];
    Literal learned = node.test;
    learned.holds = learned.holds == (outcome == 1);
    node.next[outcome] = edge.to;
    needs[outcome] = needs_of(edge, learned);
    work_ += edge.used.size() + nodes_[edge.to].needs.size();
  }
  node.needs.reserve(needs[0].size() + needs[1].size());
  std::ranges::set_union(needs[0], needs[1], std::back_inserter(node.needs));
  kept_ += node.needs.size();
  finished_.push_back(frame.node);
  known_[node.pc].push_back(frame.node);
}

void Walker::count_uses() {
  ++nodes_[root_].uses;
  for (const Node& node : nodes_)
    for (const NodeId to : node.next)
      if (to != kNone) ++nodes_[to].uses;
}

// Writes definitions of all terms that the cases and lemmas use.
void Walker::define_terms(std::string& out) {
  std::vector<Term> todo;
  for (const Node& node : nodes_) {
    todo.push_back(node.result);
    if (node.uses < 2) continue;
    for (const auto& side : node.registers)
      for (const auto& [at, term] : side) todo.push_back(term);
    for (const Literal& literal : node.needs) todo.push_back(literal.base);
  }
  std::vector<Term> wanted;
  defined_.assign(terms_.size(), kNone);
  while (!todo.empty()) {
    const Term term = todo.back();
    todo.pop_back();
    if (!terms_.is_operation(term) || defined_[term] != kNone) continue;
    defined_[term] = 0;
    wanted.push_back(term);
    for (const Term part : terms_.operands(term)) todo.push_back(part);
  }
  // This order is valid because a term has a larger number than its operands.
  std::ranges::sort(wanted);
  for (std::uint32_t i = 0; i < wanted.size(); ++i) {
    const auto parts = terms_.operands(wanted[i]);
    fmt::format_to(std::back_inserter(out), "term {} {} {} {}\n", i, terms_.operation(wanted[i]),
                   operand(parts[0]), operand(parts[1]));
    defined_[wanted[i]] = i;
  }
}

std::string Walker::operand(Term term) const {
  if (terms_.is_operation(term)) return fmt::format("t{}", defined_[term]);
  return terms_.is_constant(term) ? fmt::format("c{:x}", terms_.number(term))
                                  : fmt::format("w{}", term);
}

std::string Walker::literal_text(const Literal& literal) const {
  const std::string base = operand(literal.base);
  if (literal.order)
    return fmt::format(" {}{}{:x}", base, literal.holds ? ":ge:" : ":lt:", literal.value);
  return fmt::format(" {}{}{:x}:{:x}", base, literal.holds ? ":eq:" : ":ne:", literal.mask,
                     literal.value);
}

// Writes the cases in the order in which the checker walks them: the true outcome comes first.
void Walker::write_cases(std::string& out, NodeId from) const {
  std::vector<NodeId> todo{from};
  while (!todo.empty()) {
    const NodeId id = todo.back();
    todo.pop_back();
    const Node& node = nodes_[id];
    if (id != from && node.lemma != kNone) {
      fmt::format_to(std::back_inserter(out), "use {}\n", node.lemma);
    } else if (node.kind == Node::Kind::kImpossible) {
      out += "never\n";
    } else if (node.kind == Node::Kind::kReturn) {
      fmt::format_to(std::back_inserter(out), "ret {} {} {}\n", node.pc[0], node.pc[1],
                     operand(node.result));
    } else {
      fmt::format_to(std::back_inserter(out), "test {} {}\n", node.pc[0], node.pc[1]);
      todo.push_back(node.next[0]);
      todo.push_back(node.next[1]);
    }
  }
}

Result<Walk> Walker::written() {
  Walk out;
  out.cases = nodes_.size();
  count_uses();
  out.text = fmt::format("secequiv walk certificate 1\nsame {}\n",
                         sameness_ == Sameness::kRaw ? "raw" : "behaviour");
  for (std::size_t i = 0; i < 2; ++i) {
    out.text += i == 0 ? "before " : "after ";
    for (const Insn& in : programs_[i])
      fmt::format_to(std::back_inserter(out.text), "{:04x}{:02x}{:02x}{:08x}", in.code, in.jt,
                     in.jf, in.k);
    out.text += '\n';
  }
  define_terms(out.text);
  for (const NodeId id : finished_) {
    Node& node = nodes_[id];
    if (node.kind != Node::Kind::kTest || node.uses < 2) continue;
    fmt::format_to(std::back_inserter(out.text), "lemma {} {} {}", out.lemmas, node.pc[0],
                   node.pc[1]);
    for (std::size_t i = 0; i < 2; ++i)
      for (const auto& [at, term] : node.registers[i])
        fmt::format_to(std::back_inserter(out.text), " {}{}={}", i == 0 ? 'b' : 'a',
                       at < kMemWords    ? fmt::format("{}", at)
                       : at == kMemWords ? "A"
                                         : "X",
                       operand(term));
    for (const Literal& literal : node.needs) out.text += literal_text(literal);
    out.text += '\n';
    write_cases(out.text, id);
    node.lemma = static_cast<std::uint32_t>(out.lemmas++);
  }
  out.text += "main\n";
  write_cases(out.text, root_);
  out.text += fmt::format("end {}\n", sha256(out.text));
  if (executed_ + knowledge_.work() > kWorkPerByte * out.text.size())
    return make_error(ErrorCode::kBudget, "walk.cert",
                      "the checker would take too long for a file of this size");
  return out;
}

}  // namespace

Result<Walk> walk_certificate(ProgramView before, ProgramView after, Sameness sameness,
                              const WalkLimits& limits) {
  Walker walker(before, after, sameness, limits);
  RETURN_IF_ERROR(walker.walk());
  return walker.written();
}

}  // namespace secequiv::certificate
