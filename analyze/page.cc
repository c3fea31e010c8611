#include "analyze/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "analyze/cost.h"
#include "analyze/direction.h"
#include "analyze/profile.h"
#include "analyze/region_rules.h"
#include "harness/base/interrupt.h"
#include "harness/bpf/refusal.h"
#include "harness/coverage/first_input.h"
#include "harness/report/regions.h"
#include "verify/dd/diff.h"
#include "verify/dd/reach.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

constexpr std::size_t kMostPageRegions = 200;  // listed for each change
constexpr std::size_t kMostStepped = 24;       // regions whose example can be stepped through
constexpr std::size_t kMostDecisions = 8;      // example inputs, one for each return value
constexpr std::size_t kMostConditions = 3;     // in the reason why an edge is infeasible
constexpr std::size_t kMostReasons = 500;      // edges for which a reason is computed
constexpr double kLittleSeconds = 0.4;         // for each side, if a limit was reached before

// Explains why no input meets an obligation, in words that a reader can check against the listing.
class Reasons {
 public:
  Reasons(const Program& program, const dd::Limits& limits, Arch host)
      : host_(host), programs_{program}, space_(programs_, limits), reach_(space_, program) {}

  // Returns how many of the obligations some input can meet, or SIZE_MAX if the limits are reached.
  std::size_t feasible(const std::vector<Obligation>& all) {
    const auto count = std::ranges::count_if(all, [&](const Obligation& obligation) {
      return reach_.set(obligation) != dd::Diagrams::kZero;
    });
    return space_.exhausted() ? SIZE_MAX : static_cast<std::size_t>(count);
  }

  std::string text(const Obligation& obligation) {
    if (given_ == kMostReasons || space_.exhausted() || stop_wanted()) return "proven infeasible";
    ++given_;
    const dd::NodeId set = reach_.set({obligation.pc, Obligation::Kind::kLine});
    dd::Regions regions(space_);
    const RegionList list = regions.list(set, kMostConditions);
    if (space_.exhausted()) return "proven infeasible";
    if (set == dd::Diagrams::kZero) return "proven infeasible: no input reaches this instruction";
    std::vector<std::string> conditions;
    conditions.reserve(list.regions.size());
    for (const Region& region : list.regions)
      conditions.push_back(short_condition(condition_text(region, host_, Values::kNamed)));
    return fmt::format("proven infeasible: all {} inputs that reach this instruction satisfy {}{}",
                       count_text(list.count), fmt::join(conditions, ", or "),
                       list.is_all(list.regions.size())
                           ? ""
                           : fmt::format(", or others ({} conditions in all)", list.region_count));
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
  explicit PageMaker(const PageJob& job) : job_(job) {}

  Result<Page> make() {
    page_.version = job_.version;
    page_.verdict = job_.report.verdict;
    page_.reason = job_.report.reason;
    page_.text = check_summary(job_.report);
    page_.cache = job_.report.cache;
    page_.provenance = job_.provenance;
    page_.direction = job_.report.direction;
    page_.host = job_.host;
    add_notes(job_.report.notes, page_);
    page_.sides[0].side = job_.report.before;
    page_.sides[1].side = job_.report.after;
    if (!listings_fit()) return std::move(page_);
    for (const PageSide& side : page_.sides)
      if (refusal_of(side.side.program, LengthRule::kUnlimited)) {
        page_.difference = "not examined: " + side.side.name + " is not a valid program";
        return std::move(page_);
      }
    if (job_.report.verdict == Verdict::kRejected) {  // only the length is refused
      RETURN_IF_ERROR(add_difference());
      return std::move(page_);
    }
    if (job_.report.witness) add_input("the witness", job_.report.witness->data);
    for (const bool second : {false, true}) RETURN_IF_ERROR(add_marks(second));
    RETURN_IF_ERROR(add_difference());
    RETURN_IF_ERROR(add_cost());
    add_decisions();
    return std::move(page_);
  }

 private:
  // Removes the programs if the limits leave no room or time for their listings, which hold
  // hundreds of bytes for each instruction. Short listings take neither.
  bool listings_fit() {
    constexpr std::size_t kBytesPerInsn = 800;
    constexpr std::size_t kShort = std::size_t{1} << 16;
    const std::size_t instructions =
        page_.sides[0].side.program.size() + page_.sides[1].side.program.size();
    if (instructions <= kShort || (!stop_wanted() && memory_fits(instructions * kBytesPerInsn)))
      return true;
    page_.difference =
        "not examined: " + (stop_wanted() ? stop_reason() : std::string("memory limit reached"));
    page_.interrupted = true;
    for (PageSide& side : page_.sides) side.side.program.clear();
    return false;
  }

  // Returns the derived inputs, then those of the report.
  [[nodiscard]] const SeccompData& input(std::size_t at) const {
    const std::size_t derived = job_.inputs.size();
    return at < derived ? job_.inputs[at] : job_.report.own_inputs[at - derived];
  }
  [[nodiscard]] std::vector<SeccompData> all_inputs() const {
    std::vector<SeccompData> out(job_.inputs.begin(), job_.inputs.end());
    out.insert(out.end(), job_.report.own_inputs.begin(), job_.report.own_inputs.end());
    return out;
  }

  // Names for each obligation the first input that meets it.
  std::vector<PageMark> covered(const FirstInputs& first, CoverageMap& coverage) const {
    const std::vector<Obligation> all = coverage.obligations();
    std::vector<PageMark> out(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::uint32_t at = first.of(all[i]);
      if (at == FirstInputs::kNone) continue;
      coverage.mark(all[i]);
      const char* const from = at < job_.inputs.size() ? ""
                               : job_.report.fuzz      ? "found: "
                                                       : "the prover's: ";
      out[i] = {PageMark::State::kCovered, from + describe(input(at))};
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
    // The page of a check that took all its time still shows what it decided.
    std::optional<Heed> nothing;
    std::optional<StopToken> little;
    std::optional<Heed> heed;
    if (stop_wanted()) {
      nothing.emplace(nullptr);
      if (!stop_wanted()) {  // a limit was reached; the user did not interrupt
        little.emplace(WorkLimits{.seconds = kLittleSeconds});
        heed.emplace(&*little);
      }
    }
    CoverageMap coverage(program);
    const std::vector<Obligation> all = coverage.obligations();
    std::vector<PageMark>& marks = page_.sides[second ? 1 : 0].marks;
    dd::Limits limits = job_.limits;
    if (little) limits.seconds = kLittleSeconds / 4;
    Reasons reasons(program, limits, job_.host);
    FirstInputs first(program, reasons.feasible(all));
    first.run(job_.inputs);
    first.run(job_.report.own_inputs);
    if (!second) decisive_ = first.all();
    marks = covered(first, coverage);
    const auto place = [](const Obligation& obligation) {  // `all` is in this order
      return std::pair(obligation.pc, obligation.kind);
    };
    const auto take = [&](const Feasibility& answer) {
      if (stop_wanted()) return false;
      const auto at =
          std::ranges::lower_bound(all, place(answer.obligation), {}, place) - all.begin();
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
    RETURN_IF_ERROR(account_for_edges(coverage, job_.engine, job_.budget, take));
    if (stop_wanted() && !little) {  // the report may cover what is still undecided here
      marks.clear();
      page_.interrupted = true;
    }
    return Ok{};
  }

  std::size_t add_input(std::string label, const SeccompData& data) {
    page_.inputs.push_back({std::move(label), data});
    return page_.inputs.size() - 1;
  }

  Status add_difference() {
    if (stop_wanted()) {
      page_.difference = "unknown: " + stop_reason();
      page_.interrupted = true;
      return Ok{};
    }
    const Pair pair{job_.report.before.program, job_.report.after.program, job_.report.sameness};
    const Question question(pair);
    dd::Limits limits = job_.limits;
    limits.seconds = job_.seconds;
    auto found = dd::diff(question, kMostPageRegions, limits);
    if (!found) {
      if (found.error().code != ErrorCode::kBudget) return found.error();
      page_.difference = "unknown: " + found.error().detail;
      page_.interrupted = page_.interrupted || stop_wanted();
      return Ok{};
    }
    page_.difference = found->changes.empty()
                           ? std::string("no input differs")
                           : count_text(found->count) + " of 2^512 inputs differ";
    if (!page_.direction && !found->changes.empty()) {
      ASSIGN_OR_RETURN(page_.direction, find_direction(question, job_.host, limits, all_inputs()));
    }
    opened_first(found->changes);
    std::optional<RegionRules> rules[2];
    const Source* const sources[] = {&job_.before, &job_.after};
    for (std::size_t at = 0; at < 2; ++at)
      if (const Source& source = *sources[at]; source.policy)
        rules[at].emplace(*source.policy, source.program, limits);
    list_regions(*found, rules);
    return Ok{};
  }

  void list_regions(const Difference& found, std::span<std::optional<RegionRules>, 2> rules) {
    for (const Change& change : found.changes) {
      for (const Region& whole : change.where.regions)
        for (const Region& region : by_call(whole, kMostSplit)) {
          PageRegion& row = page_.regions.emplace_back(page_region(change, region, job_.host));
          for (std::size_t at = 0; at < 2; ++at)
            if (rules[at]) row.rules[at] = rules[at]->of(region);
          if (page_.regions.size() <= kMostStepped)
            row.input =
                add_input(fmt::format("difference {}", page_.regions.size()), region.example());
        }
      note_shown(change, change.where.regions.size(), page_);
    }
  }

  Status add_cost() {
    if (stop_wanted()) {
      page_.interrupted = true;
      return Ok{};
    }
    CostJob costs{{{job_.before.name, {job_.before}}, {job_.after.name, {job_.after}}},
                  every_call_once(job_.host).counts,
                  job_.host,
                  job_.seconds,
                  job_.limits};
    costs.derive = [this] {
      return Result<std::vector<SeccompData>>(stop_wanted() ? std::vector<SeccompData>()
                                                            : all_inputs());
    };
    ASSIGN_OR_RETURN(auto found, secequiv::cost(costs));
    if (stop_wanted()) {
      page_.interrupted = true;
      return Ok{};
    }
    add_input("worst case of before", found.sides[0].worst.data);
    add_input("worst case of after", found.sides[1].worst.data);
    page_.cost = PageCost{
        fmt::format("each mean counts every system call of {} once", arch_info(job_.host).name),
        std::move(found)};
    return Ok{};
  }

  // Adds one derived input for each of the first values that `before` returns.
  void add_decisions() {
    std::set<std::uint32_t> seen;
    for (const std::uint32_t at : decisive_) {
      if (stop_wanted()) return;
      const SeccompData& data = input(at);
      const std::uint32_t value = run(job_.report.before.program, data);
      if (!seen.insert(value).second) continue;
      add_input(describe_action(value), data);
      if (seen.size() == kMostDecisions) return;
    }
  }

  const PageJob& job_;
  std::vector<std::uint32_t> decisive_;  // inputs that were the first to meet an edge of `before`
  Page page_;
};

}  // namespace

Result<Page> page(const PageJob& job) { return PageMaker(job).make(); }

}  // namespace secequiv
