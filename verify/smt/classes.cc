#include "verify/smt/classes.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/clock.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/input_class.h"
#include "verify/smt/session.h"
#include "verify/symbolic/assume.h"

namespace secequiv::smt {
namespace {

class ClassQuery {
 public:
  ClassQuery(Terms& terms, const Question& question, const Watchdog& watchdog,
             std::size_t memory_mib)
      : terms_(terms),
        watchdog_(watchdog),
        memory_mib_(memory_mib),
        counts_(assume(terms, question.assumption, question.endian)),
        before_(side(question.before)),
        after_(side(question.after)) {
    for (std::uint32_t word = 0; word < SeccompData::kWords; ++word)
      inputs_[word] = terms.input(word);
    members_ = seen_ = free_ = inputs_;
    for (std::uint32_t word = kArgsWord; word < SeccompData::kWords; ++word) {
      seen_[word] = constant("seen" + std::to_string(word));
      free_[word] = constant("free" + std::to_string(word));
      const Z3_ast ignored = terms.bit_xor(seen_[word], terms.constant(~0U));
      members_[word] = terms.bit_or(terms.bit_and(inputs_[word], seen_[word]),
                                    terms.bit_and(free_[word], ignored));
    }
    define_seen();
  }

  [[nodiscard]] Z3_ast before() const { return before_; }
  [[nodiscard]] Z3_ast after() const { return after_; }

  // Looks for an input that meets the assumption and for which no member of its class lets `theirs`
  // match the decision of `ours`: each has a lower action or, unless only actions count, the same
  // action with other data. kUnknown stands for a limit.
  //
  // One solver proposes an input, another one looks for a member that matches. The ignored bits of
  // that member then refute all inputs for which they lead to a match.
  enum class Found : std::uint8_t { kNone, kSome, kUnknown };
  Found unmatched(Z3_ast ours, Z3_ast theirs, bool only_actions) {
    const Z3_ast other = at_member(theirs);
    const Z3_ast matches =
        only_actions
            ? terms_.negate(more_permissive_symbolic(terms_, ours, other))
            : terms_.either(more_permissive_symbolic(terms_, other, ours), terms_.eq(other, ours));
    const Z3_ast refuted = terms_.both(at_member(counts_), matches);
    Solver proposing(terms_, memory_mib_);
    for (const Z3_ast definition : definitions_) proposing.require(definition);
    proposing.require(counts_);
    proposing.require(terms_.negate(replaced(refuted, free_, inputs_)));
    for (;;) {
      const Found proposed = check(proposing);
      if (proposed != Found::kSome) return proposed;
      const auto data = proposing.model();
      if (!data) return Found::kUnknown;
      Solver refuting(terms_, memory_mib_);
      refuting.require(for_input(refuted, *data));
      const Found found = check(refuting);
      if (found == Found::kNone) shown_ = *data;
      if (found == Found::kNone) return Found::kSome;
      const auto bits = found == Found::kSome ? refuting.model(free_) : std::nullopt;
      if (!bits) return Found::kUnknown;
      Words values = inputs_;
      for (std::size_t word = kArgsWord; word < values.size(); ++word)
        values[word] = terms_.constant((*bits)[word]);
      proposing.require(terms_.negate(replaced(refuted, free_, values)));
    }
  }

  // Returns whether some input meets the assumption.
  Found any_input() {
    Solver solver(terms_, memory_mib_);
    solver.require(counts_);
    return check(solver);
  }

  // The input of the latest kSome.
  [[nodiscard]] const std::optional<SeccompData>& shown() const { return shown_; }
  [[nodiscard]] std::string limit() const { return limit_text(reason_, terms_.error()); }

 private:
  using Words = std::array<Z3_ast, SeccompData::kWords>;

  Z3_ast constant(const std::string& name) {
    Z3_context c = terms_.context();
    return Z3_mk_const(c, Z3_mk_string_symbol(c, name.c_str()), Z3_mk_bv_sort(c, 32));
  }
  Z3_ast side(const std::vector<ProgramView>& filters) {
    return normalize_symbolic(terms_, run_stack_symbolic(terms_, filters, {}),
                              Sameness::kBehaviour);
  }
  Found check(Solver& solver) {
    const Z3_lbool answer = watchdog_.expired() ? Z3_L_UNDEF : solver.check();
    if (answer == Z3_L_UNDEF) reason_ = solver.reason_unknown();
    if (answer == Z3_L_UNDEF || !terms_.error().empty()) return Found::kUnknown;
    return answer == Z3_L_TRUE ? Found::kSome : Found::kNone;
  }

  Z3_ast replaced(Z3_ast term, const Words& from, const Words& to) {
    return Z3_substitute(terms_.context(), term, static_cast<unsigned>(from.size()), from.data(),
                         to.data());
  }
  // Returns the term for another member of the input's class.
  Z3_ast at_member(Z3_ast term) { return replaced(term, inputs_, members_); }
  // Returns the term for one input, as a condition on the ignored bits alone.
  Z3_ast for_input(Z3_ast term, const SeccompData& data) {
    const WordMasks seen = seen_words(data.arch(), data.nr());
    Words values{};
    Words masks = inputs_;
    for (std::size_t word = 0; word < values.size(); ++word) {
      values[word] = terms_.constant(data.words[word]);
      if (word >= kArgsWord) masks[word] = terms_.constant(seen[word]);
    }
    return replaced(replaced(term, seen_, masks), inputs_, values);
  }

  // Defines the constants seen_ by the call.
  void define_seen() {
    std::map<WordMasks, Z3_ast> calls;  // by masks: the calls with these masks
    for (const ArchInfo& info : all_arches()) {
      const Z3_ast arch = terms_.eq(terms_.input(kArchWord), terms_.constant(info.audit));
      std::map<WordMasks, Z3_ast> here;
      for (const SyscallEntry& call : info.syscalls) {
        const auto [at, added] =
            here.try_emplace(seen_words(info.audit, call.nr), terms_.truth(false));
        at->second =
            terms_.either(at->second, terms_.eq(terms_.input(kNrWord), terms_.constant(call.nr)));
      }
      for (const auto& [masks, numbers] : here) {
        const auto [at, added] = calls.try_emplace(masks, terms_.truth(false));
        at->second = terms_.either(at->second, terms_.both(arch, numbers));
      }
    }
    for (std::uint32_t word = kArgsWord; word < SeccompData::kWords; ++word) {
      Z3_ast mask = terms_.constant(~0U);
      for (const auto& [masks, here] : calls)
        if (masks[word] != ~0U) mask = terms_.choose(here, terms_.constant(masks[word]), mask);
      definitions_.push_back(terms_.eq(seen_[word], mask));
    }
  }

  Terms& terms_;
  const Watchdog& watchdog_;
  std::size_t memory_mib_;
  Z3_ast counts_;
  Z3_ast before_;
  Z3_ast after_;
  Words inputs_{};
  Words members_{};  // the words of another member of the class
  Words seen_{};     // masks of arguments
  Words free_{};     // values of arguments' ignored bits
  std::vector<Z3_ast> definitions_;
  std::optional<SeccompData> shown_;
  std::string reason_;
};

}  // namespace

Result<Proof> prove_classes(const Question& question, double timeout_seconds,
                            std::size_t memory_mib, double spent_seconds) {
  using Found = ClassQuery::Found;
  Proof proof;
  proof.engine = "z3";
  const auto start = Clock::now();
  Terms terms;
  const Watchdog watchdog(terms.context(), std::max(timeout_seconds - spent_seconds, 0.0));
  terms.limit([&] { return watchdog.expired(); });
  ClassQuery query(terms, question, watchdog, memory_mib);
  proof.encode_seconds = seconds_since(start);
  const auto solving = Clock::now();
  const auto unknown = [&] {
    proof.verdict = Verdict::kUnknown;
    proof.detail = watchdog.expired() ? watchdog.reason(timeout_seconds) : query.limit();
    proof.solve_seconds = seconds_since(solving);
    return proof;
  };
  const Found any = question.assumption.nodes.empty() ? Found::kSome : query.any_input();
  if (any == Found::kUnknown) return unknown();
  if (any == Found::kNone) return vacuous(question);
  const Found looser = query.unmatched(query.after(), query.before(), true);
  auto example = query.shown();
  const bool refines = question.goal == Question::Goal::kRefines;
  if (looser == Found::kUnknown) return unknown();
  const Found stricter = query.unmatched(query.before(), query.after(), true);
  if (stricter == Found::kUnknown && (!refines || looser == Found::kNone)) return unknown();
  proof.relation = relation_of(looser == Found::kSome, stricter == Found::kSome);
  if (looser == Found::kNone && stricter == Found::kSome) example = query.shown();
  bool differ = looser == Found::kSome || stricter == Found::kSome;
  for (const auto& [ours, theirs] :
       {std::pair(query.after(), query.before()), std::pair(query.before(), query.after())}) {
    if (differ) break;
    const Found data = query.unmatched(ours, theirs, false);
    if (data == Found::kUnknown) return unknown();
    differ = data == Found::kSome;
    example = query.shown();
  }
  proof.solve_seconds = seconds_since(solving);
  if (!differ) {
    proof.verdict = Verdict::kEquivalent;
    return proof;
  }
  if (refines && looser == Found::kNone) {
    proof.verdict = Verdict::kPass;
    return proof;
  }
  proof.witness = replay(question, *example);
  if (!proof.witness) return does_not_replay(*example, "differ");
  proof.verdict = Verdict::kDifferent;
  return proof;
}

}  // namespace secequiv::smt
