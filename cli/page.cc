#include "cli/page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "analyze/cost.h"
#include "cli/profile_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/report/page.h"
#include "harness/report/regions.h"
#include "verify/dd/diff.h"
#include "verify/dd/reach.h"
#include "verify/decide/feasibility.h"

namespace secequiv::cli {
namespace {

constexpr std::size_t kMostRegions = 200;   // of each change
constexpr std::size_t kMostStepped = 24;    // regions whose example can be stepped through
constexpr std::size_t kMostDecisions = 8;   // inputs for different return values
constexpr std::size_t kMostNames = 6;       // of system calls in one region
constexpr std::size_t kMostConditions = 3;  // in the reason why an edge is infeasible
constexpr std::size_t kMostReasons = 500;

constexpr std::uint32_t kNever = 0xffffffff;

// Which input is the first to meet each obligation: line, true, false of each instruction.
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

// Why no input meets an obligation, in words that a reader can check against the listing.
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
    if (set == dd::Diagrams::kZero) return "proven: no input comes to this instruction";
    std::vector<std::string> conditions;
    conditions.reserve(list.regions.size());
    for (const Region& region : list.regions)
      conditions.push_back(short_condition(condition_text(region, host_)));
    return fmt::format("proven: all {} inputs that come here meet {}{}", count_text(list.count),
                       fmt::join(conditions, ", or "),
                       list.is_all(list.regions.size())
                           ? ""
                           : fmt::format(", or one of {} conditions in all", list.region_count));
  }

 private:
  Arch host_;
  ProgramView programs_[1];
  dd::Space space_;
  dd::Reach reach_;
  std::size_t given_ = 0;
};

struct Gathering {
  const CheckReport& report;
  std::vector<SeccompData> inputs;  // derived ones, then those of the report
  std::size_t derived;
  const EngineOptions& engine;
  const Options& options;
  Page page = {};

  [[nodiscard]] Arch host() const { return options.oci().arch; }

  // The same for both programs; of the second, the report's own answers count.
  Result<std::vector<PageMark>> marks(const Program& program, bool second) const {
    FirstInput first(program);
    for (; first.input < inputs.size(); ++first.input)
      run_observed(program, inputs[first.input], first);
    CoverageMap coverage(program);
    const std::vector<Obligation> all = coverage.obligations();
    std::vector<PageMark> out(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (first.of(all[i]) == kNever) continue;
      coverage.mark(all[i]);
      const std::uint32_t input = first.of(all[i]);
      const char* const from = input < derived ? "" : report.fuzz ? "found: " : "the prover's: ";
      out[i] = {PageMark::State::kCovered, from + describe(inputs[input])};
    }
    Reasons reasons(program, engine.limits(), host());
    const auto take = [&](const Feasibility& answer) {
      PageMark& mark =
          out[static_cast<std::size_t>(std::ranges::find(all, answer.obligation) - all.begin())];
      switch (answer.answer) {
        case Feasibility::Answer::kFeasible:
          mark = {PageMark::State::kCovered, "the prover's: " + describe(*answer.witness)};
          break;
        case Feasibility::Answer::kInfeasible:
          mark = {PageMark::State::kInfeasible, reasons.text(answer.obligation)};
          break;
        case Feasibility::Answer::kUnknown:
          mark = {PageMark::State::kOpen, "not decided: " + answer.detail};
          break;
      }
      return true;
    };
    const auto known = [&](const Feasibility& answer) {
      take(answer);
      coverage.mark(answer.obligation);  // not to be asked about again
    };
    if (second) {
      for (const Obligation& obligation : report.infeasible)
        known({obligation, Feasibility::Answer::kInfeasible, {}, {}});
      for (const Feasibility& open : report.open) known(open);
    }
    const auto asked = account_for_edges(coverage, engine.engine(), engine.budget(options), take);
    if (!asked) return asked.error();
    return out;
  }

  std::size_t add_input(std::string label, const SeccompData& data) {
    page.inputs.push_back({std::move(label), data});
    return page.inputs.size() - 1;
  }

  // Names of the system calls that a region is about, unless it is about nearly all.
  static std::vector<std::string> calls_of(const Region& region) {
    const auto leaves = [&](std::uint32_t word, std::uint32_t value) {
      for (const WordSet& set : region.words)
        if (set.word == word) return set.contains(value);
      return true;
    };
    std::vector<std::string> out;
    std::size_t count = 0;
    for (const ArchInfo& info : all_arches()) {
      if (!leaves(1, info.audit)) continue;
      for (const SyscallEntry& entry : info.syscalls) {
        if (!leaves(0, entry.nr)) continue;
        if (++count <= kMostNames) out.push_back(fmt::format("{} {}", info.name, entry.name));
      }
    }
    if (count > kMostNames) out.push_back(fmt::format("and {} more", count - kMostNames));
    return out;
  }

  static std::string shown(const ReturnValue& value) {
    if (value.value) return describe_action(*value.value);
    return value.action ? describe_action(*value.action) + ", data computed" : "computed";
  }

  Status add_difference() {
    const Pair pair{report.before.program, report.after.program, report.sameness};
    const Question question(pair);
    dd::Limits limits = engine.limits();
    limits.seconds = options.timeout;
    const auto found = dd::diff(question, kMostRegions, limits);
    if (!found) {
      if (found.error().code != ErrorCode::kBudget) return found.error();
      page.difference = "not known: " + found.error().detail;
      return Ok{};
    }
    page.difference = found->changes.empty() ? std::string("no input differs")
                                             : count_text(found->count) + " of 2^512 inputs differ";
    for (const Change& change : found->changes) {
      for (const Region& region : change.where.regions) {
        PageRegion& row = page.regions.emplace_back();
        row.calls = calls_of(region);
        row.before = shown(change.before);
        row.after = shown(change.after);
        row.summary = summary(change, region, host());
        row.condition = condition_text(region, host());
        row.count = count_text(region.count);
        if (page.regions.size() <= kMostStepped)
          row.input =
              add_input(fmt::format("difference {}", page.regions.size()), region.example());
      }
      if (!change.where.is_all(change.where.regions.size()))
        page.difference += fmt::format("; {} to {}: {} of {} regions are shown",
                                       shown(change.before), shown(change.after),
                                       change.where.regions.size(), change.where.region_count);
    }
    return Ok{};
  }

  Status add_cost(const Source& before, const Source& after) {
    const auto profile = ProfileOptions{}.read(host());
    if (!profile) return profile.error();
    PageCost& cost = page.cost.emplace();
    cost.profile = fmt::format("each system call of {} once", arch_info(host()).name);
    CostJob job{{before, after}, *profile, host(), options.timeout, engine.limits()};
    job.derive = [this] { return Result<std::vector<SeccompData>>(inputs); };
    auto found = secequiv::cost(job);
    if (!found) return found.error();
    for (const std::size_t at : {std::size_t{0}, std::size_t{1}}) {
      CostReport::Side& side = found->sides[at];
      cost.exact[at] = side.calls_exact() && side.worst_exact;
      cost.worst[at] = side.worst;
      cost.calls[at] = std::move(side.calls);
    }
    add_input("most instructions of before", cost.worst[0].data);
    add_input("most instructions of after", cost.worst[1].data);
    return Ok{};
  }

  // One derived input for each of the first values that `before` returns.
  void add_decisions() {
    std::set<std::uint32_t> seen;
    for (const SeccompData& data : inputs) {
      const std::uint32_t value = run(report.before.program, data);
      if (!seen.insert(value).second) continue;
      add_input(describe_action(value), data);
      if (seen.size() == kMostDecisions) return;
    }
  }

  Status all(const Source& before, const Source& after) {
    page.report = report;
    page.version = SECEQUIV_VERSION;
    page.command = options.command;
    page.sides[0].side = report.before;
    page.sides[1].side = report.after;
    if (report.verdict == Verdict::kRejected) {
      page.difference = "not looked at";
      return Ok{};
    }
    if (report.witness) add_input("the witness", report.witness->data);
    for (const bool second : {false, true}) {
      auto found = marks(second ? report.after.program : report.before.program, second);
      if (!found) return found.error();
      page.sides[second ? 1 : 0].marks = std::move(*found);
    }
    if (auto s = add_difference(); !s) return s;
    if (auto s = add_cost(before, after); !s) return s;
    add_decisions();
    return Ok{};
  }
};

}  // namespace

Status write_page(const CheckReport& report, const Source& before, const Source& after,
                  std::span<const SeccompData> inputs, const EngineOptions& engine,
                  const Options& options) {
  if (options.html.empty()) return Ok{};
  Ticker ticker;
  ticker.step("gathering what the page shows", 5 * options.timeout);
  Gathering gathering{report, {inputs.begin(), inputs.end()}, inputs.size(), engine, options};
  gathering.inputs.insert(gathering.inputs.end(), report.own_inputs.begin(),
                          report.own_inputs.end());
  if (auto s = gathering.all(before, after); !s) return s;
  return write_file(options.html, html(gathering.page));
}

}  // namespace secequiv::cli
