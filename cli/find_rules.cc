// `find-rules`: finds proven rewrites that shorten programs.
#include "analyze/find_rules.h"

#include "analyze/prove_rules.h"
#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/optimized.h"
#include "cli/reading.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

struct FindOptions {
  Options options;
  TargetOptions target;
  std::vector<std::string> files;
  std::vector<std::string> known;
  std::size_t max_window = 3;
  std::size_t max_tries = 1'000'000;
};

Result<int> find_in(const FindOptions& given) {
  const Options& options = given.options;
  FindRulesJob job;
  for (const std::string& file : given.known) {
    ASSIGN_OR_RETURN(auto text, read_input(file, warn));
    RETURN_IF_ERROR(add_rules(text, shown_name(file), job.known));
  }
  for (const std::string& file : given.files) {
    auto source = load_source(file, reading(options));
    if (!source) return source.error();
    const std::string name = source->name;
    if (!given.target.name().empty()) {
      source = optimized(*source, given.target, options);
      if (!source) return source.error();
    }
    RETURN_IF_ERROR(expect_legal(*source));
    job.programs.push_back({name, std::move(source->program)});
  }
  job.max_window = given.max_window;
  job.max_tries = given.max_tries;
  job.timeout_seconds = options.timeout;
  job.memory_mib = given.options.max_memory;
  heed_interrupts();
  terminal::Ticker ticker;
  job.progress = [&](std::size_t size, std::size_t) {
    ticker.step("windows of each size", size - 1, job.max_window);
  };
  ASSIGN_OR_RETURN(const auto found, find_rules(job));
  ticker.clear();
  const int status = exit_code(found.verdict());
  return options.json ? print_json(to_json(found), status) : print(find_rules_text(found), status);
}

}  // namespace

void add_find_rules(Commands& all) {
  const auto [sub, given] = add_command(
      all, "find-rules",
      "Find proven rewrite rules that shorten programs, as a file for prove-rule", find_in);
  sub->add_option("files", given->files,
                  "Programs, for example an optimizer's output, or policies, which it compiles")
      ->required();
  given->target.add(*sub, false);
  sub->add_option("--library", given->known,
                  "Skip code that the rules in this file already shorten; repeatable")
      ->one_at_a_time();
  add_number(*sub, "--max-window", given->max_window, 1, 5,
             "Search for replacements of up to this many consecutive instructions");
  add_number(*sub, "--max-tries", given->max_tries, 1, 1'000'000'000,
             "Try at most this many instructions in replacements of one window");
  given->options.add(*sub, {kInput, kImport, kProofLimits, kJson});
}

}  // namespace secequiv::cli
