#include "verify/sat/solver.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/sat/sweep.h"
#include "verify/sat/words.h"
#include "verify/symbolic/sides.h"

namespace secequiv::sat {
namespace {

// Both sides as bits, and the conditions about them. All are made before the first query, because
// the graph must not change then.
struct Conditions {
  Words words;
  BitGraph::Bool counts = 1;
  BitGraph::Bool differ = -1;
  BitGraph::Bool looser = -1;
  BitGraph::Bool stricter = -1;
  // The bits that a minimal example makes false, in the order of precedence: the values of symbols,
  // the number of non-zero words, and the words.
  std::vector<BitGraph::Bool> to_clear;

  Conditions(const Question& question, std::size_t most_bytes, std::function<bool()> stop) {
    words.limit(most_bytes, std::move(stop));
    Sides sides(words, question);
    counts = sides.counts();
    const auto counted = [&](BitGraph::Bool bit) { return words.both(counts, bit); };
    differ = counted(sides.differ());
    if (differ == -1) return;
    looser = counted(sides.looser());
    stricter = counted(sides.stricter());
    const auto symbols = static_cast<std::uint32_t>(question.symbols.size());
    for (std::uint32_t i = 0; i < symbols; ++i) clear(words.bits().load(Symbols::kFirstWord + i));
    Bits::Word used = Bits::constant(0);
    for (std::uint32_t i = 0; i < Symbols::kFirstWord; ++i) {
      Bits::Word one = Bits::constant(0);
      one[0] = words.bits().any_bit(words.bits().load(i), Bits::constant(~0U));
      used = words.bits().add(used, one);
    }
    clear(used);
    for (std::uint32_t i = 0; i < Symbols::kFirstWord; ++i) clear(words.bits().load(i));
  }

  void clear(const Bits::Word& word) {
    to_clear.insert(to_clear.end(), word.rbegin(), word.rend());
  }
};

// Returns the constants of the programs and of the assumption's tests, each once.
std::vector<std::uint32_t> constants(const Question& question) {
  std::set<std::uint32_t> out{0};
  for (const ProgramView program : question.programs())
    for (const Insn& in : program) out.insert(in.k);
  for (const auto& node : question.assumption.nodes) {
    for (const std::uint64_t value : {node.value, node.value >> 32})
      out.insert(static_cast<std::uint32_t>(value));
    for (const auto& range : node.ranges) out.insert(static_cast<std::uint32_t>(range.first));
  }
  return {out.begin(), out.end()};
}

class Prover {
 public:
  Prover(const Question& question, double seconds, std::size_t memory_mib, bool quick = false)
      : question_(question),
        quick_(quick),
        deadline_(Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                     std::chrono::duration<double>(std::max(seconds, 0.0)))),
        conditions_(question, memory_mib << 19, [this] { return stopped(); }) {}

  // Returns whether the time is over.
  [[nodiscard]] bool stopped() const { return Clock::now() >= deadline_ || stop_wanted(); }
  [[nodiscard]] bool exhausted() const { return conditions_.words.exhausted(); }

  // Fills in verdict, relation and witness.
  Status run(Proof& proof) {
    const std::vector<Inputs> likely{Inputs(kInputWords + question_.symbols.size(), 0)};
    Sweep sweep(
        conditions_.words.bits(), likely, constants(question_), [this] { return stopped(); },
        quick_);
    if (!question_.assumption.nodes.empty()) {
      const Answer any = sweep.possible(conditions_.counts);
      if (any == Answer::kNo) return vacuous(question_);
      if (any == Answer::kUnknown) return Ok{};
    }
    const Answer differ = sweep.possible(conditions_.differ);
    if (differ == Answer::kUnknown) return Ok{};
    if (differ == Answer::kNo) {
      proof.verdict = Verdict::kEquivalent;
      proof.relation = Relation::kEqual;
      return Ok{};
    }
    const bool refines = question_.goal == Question::Goal::kRefines;
    Inputs example = sweep.example();
    const Answer looser = sweep.possible(conditions_.looser);
    if (refines) example = sweep.example();
    const Answer stricter = sweep.possible(conditions_.stricter);
    if (looser != Answer::kUnknown && stricter != Answer::kUnknown)
      proof.relation = relation_of(looser == Answer::kYes, stricter == Answer::kYes);
    if (refines && looser == Answer::kUnknown) return Ok{};
    if (quick_ && !proof.relation) return Ok{};
    if (refines && looser == Answer::kNo) {
      proof.verdict = Verdict::kPass;
      return Ok{};
    }
    return minimize_witness(sweep, smaller(std::move(example)), quick_ ? kFewConflicts : kConflicts,
                            proof);
  }

  // Fills in verdict and witness, starting from a known one.
  Status run_from(const Witness& witness, Proof& proof) {
    const Inputs example(witness.data.words.begin(), witness.data.words.end());
    Sweep sweep(conditions_.words.bits(), std::span(&example, 1), constants(question_),
                [this] { return stopped(); });
    return minimize_witness(sweep, example, kFewConflicts, proof);
  }

 private:
  // Limits on conflicts for each bit of a witness. Many witnesses need no conflicts.
  static constexpr int kConflicts = 10000;
  static constexpr int kFewConflicts = 500;

  Status minimize_witness(Sweep& sweep, Inputs example, int conflicts, Proof& proof) {
    const bool refines = question_.goal == Question::Goal::kRefines;
    const BitGraph::Bool wrong = refines ? conditions_.looser : conditions_.differ;
    proof.minimal = sweep.minimize(wrong, conditions_.to_clear, std::move(example), conflicts);
    return take_witness(sweep.example(), proof);
  }

  static constexpr std::size_t kInputWords = Symbols::kFirstWord;

  // Returns a smaller example, found by runs alone, so that the solver has less to do.
  Inputs smaller(Inputs example) {
    SeccompData data{};
    std::copy_n(example.begin(), kInputWords, data.words.begin());
    const std::vector<std::uint32_t> values(example.begin() + kInputWords, example.end());
    const auto found = replay(question_, values, data);
    if (!found) return example;  // take_witness() reports this
    const Instance instance(question_, values);
    std::ranges::copy(minimize(instance.question, *found).data.words, example.begin());
    return example;
  }

  Status take_witness(const Inputs& example, Proof& proof) {
    SeccompData data{};
    std::copy_n(example.begin(), kInputWords, data.words.begin());
    proof.symbols.assign(example.begin() + kInputWords, example.end());
    const auto found = replay(question_, proof.symbols, data);
    if (!found)
      return make_error(ErrorCode::kInternal, "sat",
                        "the solver's input does not differ when run; please report this");
    proof.witness = *found;
    proof.verdict = Verdict::kDifferent;
    return Ok{};
  }

  const Question& question_;
  bool quick_;
  Clock::time_point deadline_;
  Conditions conditions_;
};

constexpr std::size_t kQuickMib = 32;  // the graph gets half of it, as in Prover

Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib,
                    double spent_seconds, bool quick) {
  RETURN_IF_ERROR(check_symbols(question));
  Proof proof;
  proof.engine = "sat";
  const auto start = Clock::now();
  Prover prover(question, timeout_seconds - spent_seconds, memory_mib, quick);
  proof.encode_seconds = seconds_since(start);
  if (!prover.exhausted()) {
    RETURN_IF_ERROR(prover.run(proof));
    proof.solve_seconds = seconds_since(start) - proof.encode_seconds;
  }
  if (proof.verdict == Verdict::kUnknown)
    proof.detail = stop_wanted()      ? stop_reason()
                   : prover.stopped() ? "time limit reached"
                   : !prover.exhausted()
                       ? "limit of conflicts reached"
                       : fmt::format("memory limit of {} MiB reached", memory_mib);
  return proof;
}

}  // namespace

Result<Proof> prove(const Question& question, double timeout_seconds, std::size_t memory_mib,
                    double spent_seconds) {
  return prove(question, timeout_seconds, memory_mib, spent_seconds, false);
}

Result<Proof> prove_quickly(const Question& question, double timeout_seconds,
                            std::size_t memory_mib, double spent_seconds) {
  constexpr double kShare = 0.1;
  return prove(question, std::lerp(spent_seconds, timeout_seconds, kShare),
               std::min(memory_mib, kQuickMib), spent_seconds, true);
}

Result<Proof> minimized(const Question& question, const Witness& witness, double timeout_seconds,
                        std::size_t memory_mib, double spent_seconds) {
  Proof proof;
  proof.engine = "sat";
  proof.witness = minimize(question, witness);
  proof.verdict = Verdict::kDifferent;
  Prover prover(question, timeout_seconds - spent_seconds, memory_mib);
  if (prover.exhausted()) return proof;
  RETURN_IF_ERROR(prover.run_from(*proof.witness, proof));
  return proof;
}

}  // namespace secequiv::sat
