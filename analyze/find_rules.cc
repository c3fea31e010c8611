#include "analyze/find_rules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <numeric>
#include <unordered_set>

#include "harness/base/clock.h"
#include "harness/base/interrupt.h"
#include "verify/rules/shorter.h"
#include "verify/smt/rules.h"

namespace secequiv {
namespace {

using rules::Claim;
using rules::Live;
using rules::ReadRule;
using rules::Window;

constexpr int kMaxCandidates = 20;  // for one window
constexpr std::size_t kMaxFacts = 1000;

class RuleFinder {
 public:
  explicit RuleFinder(const FindRulesJob& job) : job_(job) {
    for (const FindRulesJob::Named& one : job.programs)
      out_.programs.push_back({one.name, one.program.size(), one.program.size()});
  }

  Result<FoundRules> run() {
    const auto start = Clock::now();
    for (const rules::Rewrite& rule : job_.known) {
      ASSIGN_OR_RETURN(auto members, rules::instances(rule));
      std::ranges::copy_if(members, std::back_inserter(known_), rules::improves);
    }
    std::vector<Program> programs;
    programs.reserve(job_.programs.size());
    for (const FindRulesJob::Named& one : job_.programs) programs.push_back(one.program);
    // Shorter programs have new windows.
    for (std::size_t before = 1; before != found_.size();) {
      before = found_.size();
      RETURN_IF_ERROR(look_at(std::move(programs)));
      programs = rewritten(found_.size() == before);
    }
    drop_special_cases();
    count_firings();
    out_.seconds = seconds_since(start);
    return std::move(out_);
  }

 private:
  // A program of one round.
  struct Subject {
    explicit Subject(Program given)
        : program(std::make_unique<Program>(std::move(given))),
          scene(*program),
          reducible(program->size(), 0) {}

    std::unique_ptr<Program> program;
    rules::Scene scene;
    std::vector<std::size_t> reducible;  // by instruction: the shortest code that a rule improves
  };
  struct Found {
    ReadRule rule;
    std::size_t facts;
    [[nodiscard]] std::size_t size() const { return code_size(rule.member()); }
  };

  static std::size_t code_size(const rules::Instance& instance) {
    return std::get<rules::Fragment>(instance.before).size;
  }
  static void mark(const rules::Instance& instance, Subject& in) {
    const std::size_t size = code_size(instance);
    for (std::size_t pc = 0; pc + size < in.reducible.size() && !stop_wanted(); ++pc) {
      std::size_t& shortest = in.reducible[pc];
      if ((shortest == 0 || shortest > size) && rules::fires_at(instance, in.scene, pc))
        shortest = size;
    }
  }

  Status look_at(std::vector<Program> programs) {
    const std::size_t first = subjects_.size();
    for (Program& program : programs) {
      Subject& subject = subjects_.emplace_back(std::move(program));
      for (const rules::Instance& known : known_) mark(known, subject);
      for (const Found& found : found_) mark(found.rule.member(), subject);
    }
    for (std::size_t size = 1; size <= job_.max_window; ++size)
      for (std::size_t i = first; i < subjects_.size(); ++i)
        for (std::size_t pc = 0; pc + size < subjects_[i].program->size(); ++pc)
          RETURN_IF_ERROR(look_at(subjects_[i], pc, size, out_.programs[i - first].name));
    return Ok{};
  }

  Status look_at(const Subject& subject, std::size_t pc, std::size_t size,
                 const std::string& name) {
    if (stop_wanted()) {
      out_.stopped = true;
      return Ok{};
    }
    ++out_.windows;
    for (std::size_t at = pc; at < pc + size; ++at)
      if (subject.reducible[at] != 0 && at + subject.reducible[at] <= pc + size) {
        ++out_.known;
        return Ok{};
      }
    auto window = rules::window_at(subject.scene, pc, size);
    if (!window ||
        !seen_.insert(fmt::format("{}{}", fmt::join(window->values.symbols, " "), window->key()))
             .second)
      return Ok{};
    window->state_facts();
    if (!seen_.insert(window->key()).second) return Ok{};
    ++out_.shapes;
    if (job_.progress) job_.progress(size, out_.shapes);
    return search(*window, fmt::format("found by find-rules in {}", name));
  }

  Status search(const Window& window, const std::string& source) {
    rules::Shorter shorter(window, job_.max_tries);
    for (int i = 0; i < kMaxCandidates; ++i) {
      const auto after = shorter.find();
      if (shorter.exhausted()) ++out_.unfinished;
      if (!after) return Ok{};
      ++out_.candidates;
      Claim claim{name_of(window), source, window.facts, window.live};
      ASSIGN_OR_RETURN(auto proof, prove(window.rule(claim, *after)));
      if (proof.verdict == Verdict::kDifferent) {
        ++out_.refuted;
        shorter.learn(proof.counterexample->assignment);
        continue;
      }
      if (proof.verdict == Verdict::kUnknown) {
        ++out_.undecided;
        return Ok{};
      }
      return keep(window, std::move(claim), *after);
    }
    ++out_.unfinished;
    return Ok{};
  }

  Result<smt::RuleProof> prove(const std::string& text) const {
    const auto read = rules::read_rule(text);
    if (!read) return make_error(ErrorCode::kInternal, "find-rules", read.error().text());
    return smt::prove_rule(read->rules.front(), job_.timeout_seconds, job_.memory_mib);
  }
  // Returns whether the rule is right. Counterexamples to earlier claims save most proofs.
  bool is_right(const std::string& text) {
    const auto read = rules::read_rule(text);
    if (!read) return false;
    for (const rules::Assignment& each : counterexamples_)
      if (each.symbols.size() == read->member().symbols.size() &&
          rules::replay(read->member(), each))
        return false;
    const auto proof = prove(text);
    if (!proof) return false;
    if (proof->counterexample) counterexamples_.push_back(proof->counterexample->assignment);
    return proof->verdict == Verdict::kEquivalent;
  }

  // Makes a proven claim as general as possible, and keeps it.
  Status keep(Window window, Claim claim, std::string after) {
    counterexamples_.clear();
    const auto try_claim = [&](Claim weaker) {
      if (!is_right(window.rule(weaker, after))) return false;
      claim = std::move(weaker);
      return true;
    };
    for (std::size_t exit = 0; exit < claim.live.size(); ++exit)
      for (const Live more : {rules::kLiveAll, rules::kLiveAll & ~rules::kLiveA, rules::kLiveA}) {
        Claim weaker = claim;
        weaker.live[exit] |= more;
        if (weaker.live[exit] != claim.live[exit] && try_claim(std::move(weaker))) break;
      }
    const auto drop_facts = [&] {
      for (std::size_t i = 0; i < claim.facts.size();) {
        Claim weaker = claim;
        weaker.facts.erase(weaker.facts.begin() + static_cast<std::ptrdiff_t>(i));
        if (!try_claim(std::move(weaker))) ++i;
      }
    };
    drop_facts();
    // A symbol that can have only one value becomes a number.
    auto read = rules::read_rule(window.rule(claim, after));
    if (!read) return make_error(ErrorCode::kInternal, "find-rules", read.error().text());
    for (std::size_t i = 0; i < read->member().symbols.size(); ++i) {
      const std::string symbol = "$" + read->member().symbols[i].name;
      const std::uint32_t value = window.values.symbols[i];
      const std::string number = fmt::format(fmt::runtime(value < 10 ? "{}" : "{:#x}"), value);
      if (!only_value(claim.facts, symbol, number)) continue;
      const auto put = [&](std::string& text) {
        for (std::size_t at = 0; (at = text.find(symbol, at)) != std::string::npos;)
          text.replace(at, symbol.size(), number);
      };
      put(window.before);
      put(after);
      for (std::string& fact : claim.facts) put(fact);
      counterexamples_.clear();
      drop_facts();
    }
    read = rules::read_rule(window.rule(claim, after));
    if (!read) return make_error(ErrorCode::kInternal, "find-rules", read.error().text());
    for (Subject& subject : subjects_) mark(read->member(), subject);
    const auto& code = std::get<rules::Fragment>(read->member().after);
    out_.rules.push_back({claim.name, window.rule(claim, after), window.size - code.size, {}});
    found_.push_back({std::move(*read), claim.facts.size()});
    return Ok{};
  }

  // Returns whether the facts imply that the symbol is this number.
  bool only_value(const std::vector<std::string>& facts, const std::string& symbol,
                  const std::string& number) const {
    if (std::ranges::none_of(
            facts, [&](const std::string& fact) { return fact.find(symbol) != std::string::npos; }))
      return false;
    const auto proof = prove(fmt::format("rule t\nbefore: ({}) => {} == {}\nafter: true\n",
                                         fmt::join(facts, ") && ("), symbol, number));
    return proof && proof->verdict == Verdict::kEquivalent;
  }

  // Returns a new name from the instructions of the window.
  std::string name_of(const Window& window) const {
    std::vector<std::string_view> names;
    names.reserve(window.codes.size());
    for (const std::uint16_t code : window.codes) names.push_back(insn_info(code)->mnemonic);
    const std::string base = fmt::format("{}", fmt::join(names, "-"));
    const auto taken = [&](const std::string& name) {
      return std::ranges::find(out_.rules, name, &FoundRules::Rule::name) != out_.rules.end();
    };
    std::string out = base;
    for (int i = 2; taken(out); ++i) out = fmt::format("{}.{}", base, i);
    return out;
  }

  // Returns the programs after all found rules, or no programs.
  [[nodiscard]] std::vector<Program> rewritten(bool none) const {
    std::vector<Program> out;
    const auto members = found_members();
    for (std::size_t i = 0; i < job_.programs.size() && !none; ++i)
      out.push_back(rules::rewrite(job_.programs[i].program, members).program);
    return out;
  }
  [[nodiscard]] std::vector<rules::Instance> found_members() const {
    std::vector<rules::Instance> out;
    out.reserve(found_.size());
    for (const Found& found : found_) out.push_back(found.rule.member());
    return out;
  }

  // Drops each rule that fires only where another one does too, those with most conditions first.
  void drop_special_cases() {
    std::vector<std::size_t> order(found_.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::sort(order, {}, [&](std::size_t i) {
      return std::pair(kMaxFacts - std::min(found_[i].facts, kMaxFacts), i);
    });
    std::vector<std::uint8_t> dropped(found_.size(), 0);
    const auto fires = [&](std::size_t rule, const Subject& in, std::size_t pc) {
      return rules::fires_at(found_[rule].rule.member(), in.scene, pc).has_value();
    };
    const auto another = [&](std::size_t rule, const Subject& in, std::size_t pc) {
      for (std::size_t other = 0; other < found_.size(); ++other)
        for (std::size_t at = pc; other != rule && dropped[other] == 0 &&
                                  at + found_[other].size() <= pc + found_[rule].size();
             ++at)
          if (fires(other, in, at)) return true;
      return false;
    };
    for (const std::size_t rule : order)
      dropped[rule] = std::ranges::all_of(subjects_, [&](const Subject& in) {
        for (std::size_t pc = 0; pc < in.program->size() && !stop_wanted(); ++pc)
          if (fires(rule, in, pc) && !another(rule, in, pc)) return false;
        return true;
      });
    if (stop_wanted()) return;
    std::size_t at = 0;
    std::erase_if(out_.rules, [&](const auto&) { return dropped[at++] != 0; });
    at = 0;
    std::erase_if(found_, [&](const auto&) { return dropped[at++] != 0; });
  }

  void count_firings() {
    const auto members = found_members();
    for (std::size_t i = 0; i < job_.programs.size(); ++i) {
      const auto result = rules::rewrite(job_.programs[i].program, members);
      out_.programs[i].after = result.program.size();
      for (std::size_t rule = 0; rule < members.size(); ++rule)
        out_.rules[rule].fires.push_back(result.fired[rule]);
    }
    out_.stopped = out_.stopped || stop_wanted();
  }

  const FindRulesJob& job_;
  std::vector<rules::Instance> known_;
  std::vector<Subject> subjects_;
  std::unordered_set<std::string> seen_;
  std::vector<Found> found_;  // in the order of out_.rules
  std::vector<rules::Assignment> counterexamples_;
  FoundRules out_;
};

}  // namespace

Result<FoundRules> find_rules(const FindRulesJob& job) { return RuleFinder(job).run(); }

}  // namespace secequiv
