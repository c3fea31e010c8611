// `prove-rule`: rewrites, proven for all values of their symbols.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>

#include "cli/common.h"
#include "cli/engine_options.h"
#include "cli/progress.h"
#include "harness/base/clock.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/json.h"
#include "verify/rules/whole.h"
#include "verify/smt/rules.h"

namespace secequiv::cli {
namespace {

using rules::Deviation;
using Rule = rules::Rewrite;

struct RuleJob {
  Options options;
  EngineOptions engine;
  std::vector<std::string> files;
  std::vector<std::string> only;
  bool weakest = false;
  bool quiet = false;
  std::string instantiate;
  std::size_t count = 8;
  std::uint64_t seed = 1;
};

// A rule and what became of it.
struct Outcome {
  Rule rule;
  smt::RuleProof proof;
  std::optional<smt::WeakestCondition> weakest;
  std::optional<std::size_t> programs;  // --instantiate: pairs written
  std::string no_programs;              // or why there are none

  [[nodiscard]] Deviation found() const {
    return proof.counterexample ? proof.counterexample->kind : Deviation::kNone;
  }
  [[nodiscard]] Verdict verdict() const {
    if (proof.verdict == Verdict::kUnknown) return Verdict::kUnknown;
    return found() == rule.expected ? Verdict::kPass : Verdict::kFail;
  }
};

Verdict overall(const std::vector<Outcome>& outcomes) {
  Verdict out = Verdict::kPass;
  for (const Outcome& outcome : outcomes) {
    if (outcome.verdict() == Verdict::kFail) return Verdict::kFail;
    if (outcome.verdict() == Verdict::kUnknown) out = Verdict::kUnknown;
    if (outcome.weakest && outcome.weakest->verdict == Verdict::kUnknown) out = Verdict::kUnknown;
  }
  return out;
}

std::string ending_text(const rules::Ending& ending, const Rule& rule) {
  if (!ending.exit) return fmt::format("returns {:#x}", ending.value);
  return fmt::format("goes to {}", rule.exits[*ending.exit]);
}

std::uint32_t live_value(const Machine<Concrete>& state, rules::Live bit) {
  if (bit == rules::kLiveA) return state.a;
  if (bit == rules::kLiveX) return state.x;
  return state.m[static_cast<std::size_t>(std::countr_zero(bit)) - 2];
}

// "M[3] is 0x1 before and 0x2 after" of the first that differs, or what the sides do.
std::string deviation_text(const rules::Counterexample& c, const Rule& rule) {
  if (c.kind == Deviation::kIllegal) return "the kernel refuses what it becomes: " + c.refusal;
  if (c.kind != Deviation::kState)
    return fmt::format("before {}, after {}", ending_text(c.before, rule),
                       ending_text(c.after, rule));
  const rules::Live bit = c.differs & (~c.differs + 1);
  return fmt::format("at {} {} is {:#x} before, {:#x} after", rule.exits[*c.before.exit],
                     rules::live_name(bit), live_value(c.before.state, bit),
                     live_value(c.after.state, bit));
}

// "$m = 0x3", all symbols and whatever of the state is not 0.
std::vector<std::pair<std::string, std::uint32_t>> values_of(const smt::RuleProof& proof,
                                                             bool zeros) {
  std::vector<std::pair<std::string, std::uint32_t>> out;
  const rules::Assignment& a = proof.counterexample->assignment;
  out.reserve(proof.symbols.size());
  for (std::size_t i = 0; i < proof.symbols.size(); ++i)
    out.emplace_back("$" + proof.symbols[i].name, a.symbols[i]);
  const auto add = [&](std::string name, std::uint32_t value) {
    if (zeros || value != 0) out.emplace_back(std::move(name), value);
  };
  add("A", a.entry.a);
  add("X", a.entry.x);
  for (std::uint32_t k = 0; k < kMemWords; ++k) add(fmt::format("M[{}]", k), a.entry.m[k]);
  for (std::uint32_t w = 0; w < SeccompData::kWords; ++w)
    add(fmt::format("[{}]", 4 * w), a.input.words[w]);
  return out;
}

std::string indices_text(const rules::Indices& indices) {
  std::vector<std::string> out;
  for (const auto& [name, value] : indices) out.push_back(fmt::format("{} = {}", name, value));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string counterexample_text(const Outcome& outcome) {
  std::vector<std::string> values;
  for (const auto& [name, value] : values_of(outcome.proof, false))
    values.push_back(fmt::format("{} = {:#x}", name, value));
  if (!outcome.proof.at->empty()) values.insert(values.begin(), indices_text(*outcome.proof.at));
  return fmt::format("{}{}", values.empty() ? "" : fmt::format("{}: ", fmt::join(values, ", ")),
                     deviation_text(*outcome.proof.counterexample, outcome.rule));
}

std::string state_text(const Outcome& outcome) {
  const Verdict verdict = outcome.proof.verdict;
  if (verdict == Verdict::kUnknown) return "unknown";
  return verdict == Verdict::kEquivalent
             ? "proven"
             : fmt::format("refuted ({})", rules::deviation_name(outcome.found()));
}

std::string weakest_text(const Outcome& outcome) {
  const smt::WeakestCondition& weakest = *outcome.weakest;
  if (weakest.verdict == Verdict::kUnknown)
    return fmt::format("  weakest: unknown: {}\n", weakest.detail);
  if (weakest.any_of.empty()) return "  weakest: nothing in the vocabulary makes it right\n";
  std::string out;
  for (const std::string& condition : weakest.any_of)
    out += fmt::format("  {} {}\n", out.empty() ? "weakest:" : "     or:", condition);
  if (weakest.exact == smt::WeakestCondition::Exact::kYes)
    return out + "  for all other values it is wrong in some state\n";
  if (weakest.exact == smt::WeakestCondition::Exact::kUnknown)
    return out + "  whether it is right for others too was not found out\n";
  std::vector<std::string> values;
  values.reserve(weakest.outside.size());
  for (std::size_t i = 0; i < weakest.outside.size(); ++i)
    values.push_back(fmt::format("${} = {:#x}", weakest.symbols[i].name, weakest.outside[i]));
  return out + fmt::format("  it is right for others too: {}\n", fmt::join(values, ", "));
}

std::string text_of(const Outcome& outcome, bool quiet) {
  const Rule& rule = outcome.rule;
  const bool expected = outcome.verdict() == Verdict::kPass;
  std::string out;
  if (!quiet || !expected || outcome.weakest) {
    out = fmt::format("{}: {}", rule.name, state_text(outcome));
    if (rule.expected != Deviation::kNone && expected) out += ", as expected";
    if (!expected && outcome.proof.verdict != Verdict::kUnknown)
      out += fmt::format(", expected {}",
                         rule.expected == Deviation::kNone
                             ? "proven"
                             : fmt::format("refuted ({})", rules::deviation_name(rule.expected)));
    if (outcome.proof.verdict == Verdict::kUnknown) out += ": " + outcome.proof.detail;
    if (outcome.proof.members > 1 && outcome.proof.verdict == Verdict::kEquivalent)
      out += fmt::format(", {} members", outcome.proof.members);
    out += "\n";
    if (outcome.proof.counterexample) out += fmt::format("  {}\n", counterexample_text(outcome));
  }
  if (outcome.weakest) out += weakest_text(outcome);
  if (quiet && expected) return out;
  if (outcome.programs) out += fmt::format("  {} written\n", counted(*outcome.programs, "pair"));
  if (!outcome.no_programs.empty()) out += fmt::format("  no programs: {}\n", outcome.no_programs);
  return out;
}

nlohmann::ordered_json to_json(const Outcome& outcome) {
  const Rule& rule = outcome.rule;
  nlohmann::ordered_json out{
      {"name", rule.name},
      {"where", rule.where_found},
      {"verdict", verdict_name(outcome.proof.verdict)},
      {"expected",
       rule.expected == Deviation::kNone ? "proven" : rules::deviation_name(rule.expected)},
      {"as_expected", outcome.verdict() == Verdict::kPass},
      {"members", outcome.proof.members},
      {"seconds", outcome.proof.seconds}};
  if (!rule.source.empty()) out["source"] = rule.source;
  if (!outcome.proof.detail.empty()) out["detail"] = outcome.proof.detail;
  if (const auto& c = outcome.proof.counterexample) {
    nlohmann::ordered_json values;
    for (const auto& [name, value] : values_of(outcome.proof, true)) values[name] = value;
    nlohmann::ordered_json at = nlohmann::ordered_json::object();
    for (const auto& [name, value] : *outcome.proof.at) at[name] = value;
    out["counterexample"] = {{"kind", rules::deviation_name(c->kind)},
                             {"member", at},
                             {"values", values},
                             {"text", deviation_text(*c, rule)}};
  }
  if (const auto& weakest = outcome.weakest) {
    constexpr const char* kExact[] = {"yes", "no", "unknown"};
    out["weakest"] = {{"verdict", verdict_name(weakest->verdict)},
                      {"any_of", weakest->any_of},
                      {"exact", kExact[static_cast<int>(weakest->exact)]},
                      {"tried", weakest->tried}};
    if (!weakest->outside.empty()) out["weakest"]["outside"] = weakest->outside;
    if (!weakest->detail.empty()) out["weakest"]["detail"] = weakest->detail;
  }
  if (outcome.programs) out["programs"] = *outcome.programs;
  if (!outcome.no_programs.empty()) out["no_programs"] = outcome.no_programs;
  return out;
}

std::string summary(const std::vector<Outcome>& outcomes) {
  std::size_t proven = 0;
  std::size_t refuted = 0;
  std::size_t unknown = 0;
  std::size_t unexpected = 0;
  for (const Outcome& outcome : outcomes) {
    ++(outcome.proof.verdict == Verdict::kEquivalent  ? proven
       : outcome.proof.verdict == Verdict::kDifferent ? refuted
                                                      : unknown);
    if (outcome.verdict() == Verdict::kFail) ++unexpected;
  }
  std::string out = fmt::format("{}: {}: {} proven, {} refuted", verdict_name(overall(outcomes)),
                                counted(outcomes.size(), "rule"), proven, refuted);
  if (unknown > 0) out += fmt::format(", {} unknown", unknown);
  if (unexpected > 0) out += fmt::format("; {} not as expected", unexpected);
  return out + "\n";
}

ReportedCases cases_of(const std::vector<Outcome>& outcomes) {
  const Verdict verdict = overall(outcomes);
  ReportedCases out{"prove-rule",      counted(outcomes.size(), "rule"),
                    verdict,           exit_code(verdict),
                    summary(outcomes), {}};
  for (const Outcome& outcome : outcomes) {
    const Verdict one = outcome.verdict();
    ReportedCase& added = out.cases.emplace_back();
    added.kind = "rewrite";
    added.name = outcome.rule.name;
    added.state = one == Verdict::kPass      ? ReportedCase::State::kPass
                  : one == Verdict::kUnknown ? ReportedCase::State::kUnknown
                                             : ReportedCase::State::kFail;
    added.message = state_text(outcome);
    added.detail = text_of(outcome, false);
    added.seconds = outcome.proof.seconds;
    added.place = place_of(outcome.rule.where_found);
  }
  conclude(out);
  return out;
}

// Writes NAME.N.before.asm and NAME.N.after.asm.
Status write_programs(const RuleJob& job, Outcome& outcome) {
  auto members = rules::instances(outcome.rule);
  if (!members) return members.error();
  // Of a family the member that is wrong, or else the smallest.
  const auto member = std::ranges::find_if(
      *members, [&](const rules::Instance& each) { return outcome.proof.at == each.indices; });
  const rules::Instance& instance = member == members->end() ? members->front() : *member;
  outcome.no_programs = rules::no_programs(instance);
  if (!outcome.no_programs.empty()) return Ok{};
  std::vector<rules::Assignment> assignments;
  if (outcome.proof.counterexample) {
    if (outcome.found() == Deviation::kIllegal) {
      outcome.no_programs = "the kernel refuses one";
      return Ok{};
    }
    assignments.push_back(outcome.proof.counterexample->assignment);
  } else {
    auto some = smt::some_assignments(instance, job.count, job.seed, job.options.timeout);
    if (!some) return some.error();
    assignments = std::move(*some);
  }
  for (std::size_t i = 0; i < assignments.size(); ++i) {
    const auto programs = rules::whole_programs(instance, assignments[i]);
    for (const auto& [side, program] :
         {std::pair{"before", &programs.first}, std::pair{"after", &programs.second}}) {
      const std::string path = (std::filesystem::path(job.instantiate) /
                                fmt::format("{}.{}.{}.asm", outcome.rule.name, i + 1, side))
                                   .string();
      if (auto s = write_file(path, write_program(*program, Form::kAsm), false); !s) return s;
    }
  }
  outcome.programs = assignments.size();
  return Ok{};
}

// The rules of all files, or those asked for.
Result<std::vector<Rule>> load_rules(const RuleJob& job) {
  std::vector<Rule> out;
  std::vector<std::string> names;
  for (const std::string& file : job.files) {
    auto text = read_input(file);
    if (!text) return text.error();
    auto rules = rules::parse_rules(*text, shown_name(file));
    if (!rules) return rules.error();
    for (Rule& rule : *rules) {
      for (const Rule& other : out)
        if (other.name == rule.name)
          return make_error(ErrorCode::kParse, rule.where_found,
                            fmt::format("rule {} is at {} too", rule.name, other.where_found));
      names.push_back(rule.name);
      out.push_back(std::move(rule));
    }
  }
  for (const std::string& name : job.only)
    if (std::ranges::find(names, name) == names.end())
      return make_error(
          ErrorCode::kUsage, "--rule",
          fmt::format("no rule is called '{}'{}", name, did_you_mean(similar_names(name, names))));
  if (!job.only.empty())
    std::erase_if(out, [&](const Rule& rule) {
      return std::ranges::find(job.only, rule.name) == job.only.end();
    });
  return out;
}

int prove_rules(const RuleJob& job) {
  auto rules = load_rules(job);
  if (!rules) return report(rules.error(), job.options);
  if (!job.instantiate.empty()) {
    std::error_code error;
    std::filesystem::create_directories(job.instantiate, error);
    if (error)
      return report(make_error(ErrorCode::kIo, job.instantiate, error.message()), job.options);
  }
  const std::size_t memory = job.engine.max_memory;
  std::vector<Outcome> outcomes;
  heed_interrupts();
  Ticker ticker;
  for (Rule& rule : *rules) {
    if (rules->size() == 1)
      ticker.step("proving", job.options.timeout);
    else
      ticker.step("rules", outcomes.size(), rules->size());
    Outcome outcome{std::move(rule), {}, {}, {}, {}};
    auto proof = smt::prove_rule(outcome.rule, job.options.timeout, memory);
    if (!proof) return report(proof.error(), job.options);
    outcome.proof = std::move(*proof);
    if (job.weakest) {
      auto weakest = smt::weakest_condition(outcome.rule, job.options.timeout, memory);
      if (!weakest) return report(weakest.error(), job.options);
      outcome.weakest = std::move(*weakest);
    }
    if (!job.instantiate.empty())
      if (auto s = write_programs(job, outcome); !s) return report(s.error(), job.options);
    outcomes.push_back(std::move(outcome));
  }
  const Verdict verdict = overall(outcomes);
  if (!job.options.json) {
    std::string text;
    for (const Outcome& outcome : outcomes) text += text_of(outcome, job.quiet);
    return print_found(text + summary(outcomes), cases_of(outcomes), job.options);
  }
  nlohmann::ordered_json document{{"schema", "secequiv.prove-rule/1"},
                                  {"verdict", verdict_name(verdict)},
                                  {"rules", nlohmann::ordered_json::array()}};
  for (const Outcome& outcome : outcomes) document["rules"].push_back(to_json(outcome));
  return print_found(render(document), cases_of(outcomes), job.options);
}

}  // namespace

void add_prove_rule(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "prove-rule", "Prove rewrite rules for all values, registers and inputs, or refute them");
  auto job = std::make_shared<RuleJob>();
  sub->add_option("files", job->files, "Files of rules (verify/rules/library)")->required();
  sub->add_option("--rule", job->only, "Prove only the rule of this name; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_flag("--weakest", job->weakest,
                "Also find the weakest conditions on its symbols that make a rule right");
  sub->add_option("--instantiate", job->instantiate,
                  "Write pairs of programs that use a proven rule to this folder");
  sub->add_option("--count", job->count, "Write this many pairs for each rule that is proven")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sub->add_option("--seed", job->seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--only-unexpected", job->quiet, "Print only rules that are not as expected");
  job->engine.add_memory(*sub);
  job->options.add_timeout(*sub);
  job->options.add_json(*sub);
  job->options.add_reports(*sub);
  sub->callback([job, &context] { context.status = prove_rules(*job); });
}

}  // namespace secequiv::cli
