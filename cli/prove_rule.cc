// `prove-rule`: rewrites, proven for all values of their symbols.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <ranges>

#include "analyze/prove_rules.h"
#include "cli/engine_options.h"
#include "cli/progress.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/report/json.h"

namespace secequiv::cli {
namespace {

using Rule = rules::Rewrite;

struct RuleArguments {
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

// The rules of all files, or those named by --rule.
Result<std::vector<Rule>> load_rules(const RuleArguments& given) {
  std::vector<Rule> out;
  for (const std::string& file : given.files) {
    auto text = read_input(file);
    if (!text) return text.error();
    if (auto s = add_rules(*text, shown_name(file), out); !s) return s.error();
  }
  for (const std::string& name : given.only)
    if (std::ranges::find(out, name, &Rule::name) == out.end())
      return make_error(
          ErrorCode::kUsage, "--rule",
          fmt::format("no rule is called '{}'{}", name,
                      did_you_mean(similar_names(name, out | std::views::transform(&Rule::name)))));
  if (!given.only.empty())
    std::erase_if(out, [&](const Rule& rule) {
      return std::ranges::find(given.only, rule.name) == given.only.end();
    });
  return out;
}

// NAME.N.before.asm and NAME.N.after.asm.
Status write_programs(const std::filesystem::path& folder, const ProvenRules& proven) {
  for (const ProvenRules::Programs& pair : proven.programs)
    for (const auto& [side, program] :
         {std::pair{"before", &pair.before}, std::pair{"after", &pair.after}}) {
      const auto path = folder / fmt::format("{}.{}.{}.asm", pair.rule, pair.number, side);
      if (auto s = write_file(path.string(), write_program(*program, Form::kAsm), false); !s)
        return s;
    }
  return Ok{};
}

int prove_rules(const RuleArguments& given) {
  const Options& options = given.options;
  auto rules = load_rules(given);
  if (!rules) return report(rules.error(), options);
  if (!given.instantiate.empty()) {
    std::error_code error;
    std::filesystem::create_directories(given.instantiate, error);
    if (error)
      return report(make_error(ErrorCode::kIo, given.instantiate, error.message()), options);
  }
  ProveRulesJob job;
  job.rules = std::move(*rules);
  job.weakest = given.weakest;
  job.pairs = given.instantiate.empty() ? 0 : given.count;
  job.seed = given.seed;
  job.timeout_seconds = options.timeout;
  job.memory_mib = given.engine.max_memory;
  heed_interrupts();
  Ticker ticker;
  job.progress = [&](std::size_t done) {
    if (job.rules.size() == 1)
      ticker.step("proving", options.timeout);
    else
      ticker.step("rules", done, job.rules.size());
  };
  const auto proven = secequiv::prove_rules(job);
  if (!proven) return report(proven.error(), options);
  if (auto s = write_programs(given.instantiate, *proven); !s) return report(s.error(), options);
  return print_found(options.json ? render(prove_rule_json(proven->report))
                                  : prove_rule_text(proven->report, given.quiet),
                     prove_rule_cases(proven->report), options);
}

}  // namespace

void add_prove_rule(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "prove-rule", "Prove rewrite rules for all values, registers and inputs, or refute them");
  auto given = std::make_shared<RuleArguments>();
  sub->add_option("files", given->files, "Files of rules (verify/rules/library)")->required();
  sub->add_option("--rule", given->only, "Prove only the rule of this name; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  sub->add_flag("--weakest", given->weakest,
                "Also find the weakest conditions on its symbols that make a rule right");
  sub->add_option("--instantiate", given->instantiate,
                  "Write pairs of programs that use a proven rule to this folder");
  sub->add_option("--count", given->count, "Write this many pairs for each rule that is proven")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  sub->add_option("--seed", given->seed, "Set the random seed")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  sub->add_flag("--only-unexpected", given->quiet, "Print only rules that are not as expected");
  given->engine.add_memory(*sub);
  given->options.add_timeout(*sub);
  given->options.add_json(*sub);
  given->options.add_reports(*sub);
  sub->callback([given, &context] { context.status = prove_rules(*given); });
}

}  // namespace secequiv::cli
