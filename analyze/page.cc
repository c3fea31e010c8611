#include "analyze/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analyze/cost.h"
#include "analyze/direction.h"
#include "analyze/profile.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/report/direction.h"
#include "harness/report/regions.h"
#include "harness/report/rule.h"
#include "verify/dd/diff.h"
#include "verify/dd/reach.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

constexpr std::size_t kMostPageRegions = 200;  // how many are listed for each change
constexpr std::size_t kMostStepped = 24;       // regions whose example can be stepped through
constexpr std::size_t kMostDecisions = 8;      // inputs for different return values
constexpr std::size_t kMostConditions = 3;     // in the reason why an edge is infeasible
constexpr std::size_t kMostReasons = 500;      // edges for which a reason is computed

constexpr std::uint32_t kNever = 0xffffffff;

// Records which input is the first to meet each obligation: the instruction, and its true and false
// outcome.
struct FirstInput {
  ProgramView program;
  std::vector<std::uint32_t> first;
  std::uint32_t input = 0;

  explicit FirstInput(ProgramView view) : program(view), first(view.size() * 3, kNever) {}

  void at(const Insn* insn, const Machine<Concrete>& /*machine*/) { note(insn, 0); }
  void outcome(const Insn* insn, bool taken) { note(insn, taken ? 1 : 2); }

  [[nodiscard]] std::uint32_t of(const Obligation& obligation) const {
    return first[obligation.pc * 3 + static_cast<std::size_t>(obligation.kind)];
  }

 private:
  void note(const Insn* insn, std::size_t kind) {
    std::uint32_t& known = first[static_cast<std::size_t>(insn - program.data()) * 3 + kind];
    if (known == kNever) known = input;
  }
};

// Explains why no input meets an obligation, in words that a reader can check against the listing.
class Reasons {
 public:
  Reasons(const Program& program, const dd::Limits& limits, Arch host)
      : host_(host), programs_{program}, space_(programs_, limits), reach_(space_, program) {}

  std::string text(const Obligation& obligation) {
    if (given_ == kMostReasons || space_.exhausted()) return "proven: no input";
    ++given_;
    const dd::NodeId set = reach_.set({obligation.pc, Obligation::Kind::kLine});
    dd::Regions regions(space_);
    const RegionList list = regions.list(set, kMostConditions);
    if (space_.exhausted()) return "proven: no input";
    if (set == dd::Diagrams::kZero) return "proven: no input reaches this instruction";
    std::vector<std::string> conditions;
    conditions.reserve(list.regions.size());
    for (const Region& region : list.regions)
      conditions.push_back(short_condition(condition_text(region, host_, Values::kNamed)));
    return fmt::format(
        "proven: all {} inputs that reach this instruction satisfy {}{}", count_text(list.count),
        fmt::join(conditions, ", or "),
        list.is_all(list.regions.size())
            ? ""
            : fmt::format(", or another of {} conditions in all", list.region_count));
  }

 private:
  Arch host_;
  ProgramView programs_[1];
  dd::Space space_;
  dd::Reach reach_;
  std::size_t given_ = 0;
};

class PageMaker {
 public:
  explicit PageMaker(const PageJob& job)
      : job_(job), inputs_(job.inputs.begin(), job.inputs.end()) {
    inputs_.insert(inputs_.end(), job.report.own_inputs.begin(), job.report.own_inputs.end());
  }

  Result<Page> make() {
    page_.version = job_.version;
    page_.command = job_.command;
    page_.verdict = job_.report.verdict;
    page_.reason = job_.report.reason;
    page_.text = check_summary(job_.report);
    page_.cache = job_.report.cache;
    page_.provenance = job_.provenance;
    page_.options = job_.options;
    if (job_.report.direction)
      page_.direction = direction_line(*job_.report.direction, job_.report.host);
    page_.sides[0].side = job_.report.before;
    page_.sides[1].side = job_.report.after;
    for (const PageSide& side : page_.sides)
      if (refusal_of(side.side.program, LengthRule::kUnlimited)) {
        page_.difference = "not examined: " + side.side.name + " is not a valid program";
        return std::move(page_);
      }
    if (job_.report.verdict == Verdict::kRejected) {  // only the length is refused
      if (auto s = add_difference(); !s) return s.error();
      return std::move(page_);
    }
    if (job_.report.witness) add_input("the witness", job_.report.witness->data);
    for (const bool second : {false, true})
      if (auto s = add_marks(second); !s) return s.error();
    if (auto s = add_difference(); !s) return s.error();
    if (auto s = add_cost(); !s) return s.error();
    add_decisions();
    return std::move(page_);
  }

 private:
  // Names for each obligation the first input that meets it.
  std::vector<PageMark> covered(const Program& program, CoverageMap& coverage) const {
    FirstInput first(program);
    for (; first.input < inputs_.size(); ++first.input)
      run_observed(program, inputs_[first.input], first);
    const std::vector<Obligation> all = coverage.obligations();
    std::vector<PageMark> out(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint32_t input = first.of(all[i]);
      if (input == kNever) continue;
      coverage.mark(all[i]);
      const char* const from = input < job_.inputs.size() ? ""
                               : job_.report.fuzz         ? "found: "
                                                          : "the prover's: ";
      out[i] = {PageMark::State::kCovered, from + describe(inputs_[input])};
    }
    return out;
  }

  static PageMark mark_of(const Feasibility& answer, Reasons& reasons) {
    switch (answer.answer) {
      case Feasibility::Answer::kFeasible:
        return {PageMark::State::kCovered, "the prover's: " + describe(*answer.witness)};
      case Feasibility::Answer::kInfeasible:
        return {PageMark::State::kInfeasible, reasons.text(answer.obligation)};
      case Feasibility::Answer::kUnknown:
        break;
    }
    return {PageMark::State::kOpen, "not decided: " + answer.detail};
  }

  // For the second program, the report already contains some answers.
  Status add_marks(bool second) {
    const Program& program = second ? job_.report.after.program : job_.report.before.program;
    CoverageMap coverage(program);
    const std::vector<Obligation> all = coverage.obligations();
    std::vector<PageMark>& marks = page_.sides[second ? 1 : 0].marks;
    marks = covered(program, coverage);
    Reasons reasons(program, job_.limits, job_.host);
    const auto take = [&](const Feasibility& answer) {
      const auto at = std::ranges::find(all, answer.obligation) - all.begin();
      marks[static_cast<std::size_t>(at)] = mark_of(answer, reasons);
      return true;
    };
    const auto known = [&](const Feasibility& answer) {
      take(answer);
      coverage.mark(answer.obligation);  // prevents a second proof
    };
    if (second) {
      for (const Obligation& obligation : job_.report.infeasible)
        known({obligation, Feasibility::Answer::kInfeasible, {}, {}});
      for (const Feasibility& open : job_.report.open) known(open);
    }
    return account_for_edges(coverage, job_.engine, job_.budget, take);
  }

  std::size_t add_input(std::string label, const SeccompData& data) {
    page_.inputs.push_back({std::move(label), data});
    return page_.inputs.size() - 1;
  }

  Status add_difference() {
    const Pair pair{job_.report.before.program, job_.report.after.program, job_.report.sameness};
    const Question question(pair);
    dd::Limits limits = job_.limits;
    limits.seconds = job_.seconds;
    auto found = dd::diff(question, kMostPageRegions, limits);
    if (!found) {
      if (found.error().code != ErrorCode::kBudget) return found.error();
      page_.difference = "not known: " + found.error().detail;
      return Ok{};
    }
    page_.difference = found->changes.empty()
                           ? std::string("no input differs")
                           : count_text(found->count) + " of 2^512 inputs differ";
    if (page_.direction.empty() && !found->changes.empty()) {
      const auto direction = find_direction(question, job_.host, limits, inputs_);
      if (!direction) return direction.error();
      page_.direction = direction_line(*direction, job_.host);
    }
    opened_first(found->changes);
    for (const Change& change : found->changes) {
      for (const Region& whole : change.where.regions)
        for (const Region& region : by_call(whole, kMostSplit)) {
          PageRegion& row = page_.regions.emplace_back(page_region(change, region, job_.host));
          row.rules[0] = rule_of(job_.before, region);
          row.rules[1] = rule_of(job_.after, region);
          if (page_.regions.size() <= kMostStepped)
            row.input =
                add_input(fmt::format("difference {}", page_.regions.size()), region.example());
        }
      note_shown(change, change.where.regions.size(), page_);
    }
    return Ok{};
  }

  // Returns the rule that decides on a region's example, or "" if the side is not a policy.
  static std::string rule_of(const Source& source, const Region& region) {
    return source.policy ? deciding_rule(*source.policy, region.example()).shown() : "";
  }

  Status add_cost() {
    PageCost& cost = page_.cost.emplace();
    cost.profile = fmt::format("each system call of {} once", arch_info(job_.host).name);
    CostJob costs{{{job_.before.name, {job_.before}}, {job_.after.name, {job_.after}}},
                  every_call_once(job_.host).counts,
                  job_.host,
                  job_.seconds,
                  job_.limits};
    costs.derive = [this] { return Result<std::vector<SeccompData>>(inputs_); };
    auto found = secequiv::cost(costs);
    if (!found) return found.error();
    for (std::size_t at = 0; at < 2; ++at) {
      CostReport::Side& side = found->sides[at];
      cost.exact[at] = side.calls_exact() && side.worst_exact;
      cost.worst[at] = side.worst;
      const bool unoptimized = (at == 0 ? job_.before : job_.after).policy.has_value();
      cost.programs[at] = fmt::format("{}{}, {}", side.name, unoptimized ? ", not optimized" : "",
                                      counted(side.instructions(), "instruction"));
      cost.calls[at] = std::move(side.calls);
    }
    add_input("worst case of before", cost.worst[0].data);
    add_input("worst case of after", cost.worst[1].data);
    return Ok{};
  }

  // Adds one derived input for each of the first values that `before` returns.
  void add_decisions() {
    std::set<std::uint32_t> seen;
    for (const SeccompData& data : inputs_) {
      const std::uint32_t value = run(job_.report.before.program, data);
      if (!seen.insert(value).second) continue;
      add_input(describe_action(value), data);
      if (seen.size() == kMostDecisions) return;
    }
  }

  const PageJob& job_;
  std::vector<SeccompData> inputs_;  // first the derived ones, then those of the report
  Page page_;
};

}  // namespace

Result<Page> page(const PageJob& job) { return PageMaker(job).make(); }

}  // namespace secequiv
