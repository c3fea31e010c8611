// `prove-rule`: proves rewrites for all values of their symbols.
#include <fmt/format.h>

#include <filesystem>

#include "analyze/prove_rules.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/output.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct RuleArguments {
  Options options;
  std::vector<std::string> files;
  std::vector<std::string> only;
  bool weakest = false;
  bool quiet = false;
  std::string instantiate;
  std::size_t count = 8;
  std::uint64_t seed = 1;
};

// Returns the rules of all files, or those that --rule names.
Result<std::vector<rules::Rewrite>> load_rules(const RuleArguments& given) {
  std::vector<rules::Rewrite> out;
  for (const std::string& file : given.files) {
    ASSIGN_OR_RETURN(auto text, read_input(file, warn));
    RETURN_IF_ERROR(add_rules(text, shown_name(file), out));
  }
  if (!given.only.empty()) RETURN_IF_ERROR(keep_rules(given.only, out));
  return out;
}

// Writes NAME.N.before.asm and NAME.N.after.asm.
Status write_programs(const std::filesystem::path& folder, const ProvenRules& proven) {
  for (const ProvenRules::Programs& pair : proven.programs)
    for (const auto& [side, program] :
         {std::pair{"before", &pair.before}, std::pair{"after", &pair.after}}) {
      const auto path = folder / fmt::format("{}.{}.{}.asm", pair.rule, pair.number, side);
      RETURN_IF_ERROR(write_file(path.string(), write_program(*program, Form::kAsm), false));
    }
  return Ok{};
}

Result<int> prove_rules(const RuleArguments& given) {
  const Options& options = given.options;
  ASSIGN_OR_RETURN(auto rules, load_rules(given));
  if (!given.instantiate.empty()) {
    std::error_code error;
    std::filesystem::create_directories(given.instantiate, error);
    if (error) return make_error(ErrorCode::kIo, given.instantiate, error.message());
  }
  ProveRulesJob job;
  job.rules = std::move(rules);
  job.weakest = given.weakest;
  job.pairs = given.instantiate.empty() ? 0 : given.count;
  job.seed = given.seed;
  job.timeout_seconds = options.timeout;
  job.memory_mib = given.options.max_memory;
  heed_interrupts();
  terminal::Ticker ticker;
  job.progress = [&](std::size_t done) {
    if (job.rules.size() == 1)
      ticker.step("proving", options.timeout);
    else
      ticker.step("rules", done, job.rules.size());
  };
  ASSIGN_OR_RETURN(const auto proven, secequiv::prove_rules(job));
  RETURN_IF_ERROR(write_programs(given.instantiate, proven));
  return print_found(options.json ? render(to_json(ShownRules{proven.report}))
                                  : prove_rule_text(proven.report, given.quiet),
                     prove_rule_cases(proven.report), options);
}

}  // namespace

void add_prove_rule(Commands& all) {
  const auto [sub, given] = add_command(
      all, "prove-rule", "Prove rewrite rules for all values, registers and inputs, or refute them",
      prove_rules);
  sub->add_option("files", given->files, "Files of rewrite rules, for example verify/rules/library")
      ->required();
  sub->add_option("--rule", given->only, "Prove only the rule with this name; repeatable")
      ->one_at_a_time();
  sub->add_flag("--weakest", given->weakest,
                "Also find the weakest conditions on symbols that make each rule right");
  sub->add_option("--instantiate", given->instantiate,
                  "Write pairs of programs, before and after a rewrite by a rule, to this folder")
      ->writes(Writes::kFolder);
  add_number(*sub, "--count", given->count, 1, 10000,
             "Write this many pairs for each rule that is proven");
  add_seed(*sub, given->seed);
  sub->add_flag("--only-unexpected", given->quiet,
                "Print only rules whose result is not the expected one");
  given->options.add(*sub, {kProofLimits, kJson, kReports});
}

}  // namespace secequiv::cli
