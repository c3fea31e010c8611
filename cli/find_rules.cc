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
    auto text = read_input(file, warn);
    if (!text) return text.error();
    if (auto s = add_rules(*text, shown_name(file), job.known); !s) return s.error();
  }
  for (const std::string& file : given.files) {
    auto source = load_source(file, reading(options));
    if (!source) return source.error();
    const std::string name = source->name;
    if (!given.target.name().empty()) {
      source = optimized(*source, given.target, options);
      if (!source) return source.error();
    }
    if (auto s = expect_legal(*source); !s) return s.error();
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
  const auto found = find_rules(job);
  if (!found) return found.error();
  ticker.clear();
  const int status = exit_code(found->verdict());
  return options.json ? print_json(find_rules_json(*found), status)
                      : print(find_rules_text(*found), status);
}

}  // namespace

void add_find_rules(CLI::App& app, Context& context) {
  const auto [sub, given] = add_command(
      app, context, "find-rules",
      "Find proven rewrite rules that shorten programs, as a file for prove-rule", find_in);
  sub->add_option("files", given->files,
                  "Programs, for example an optimizer's output, or policies, which it compiles")
      ->required();
  given->target.add(*sub, false);
  sub->add_option("--library", given->known,
                  "Skip code that the rules in this file already shorten; repeatable")
      ->take_all()
      ->allow_extra_args(false);
  add_number(*sub, "--max-window", given->max_window, 1, 5,
             "Search for replacements of up to this many consecutive instructions");
  add_number(*sub, "--max-tries", given->max_tries, 1, 1'000'000'000,
             "Try at most this many instructions in replacements of one window");
  given->options.add(*sub, {kInput, kImport, kProofLimits, kJson});
}

}  // namespace secequiv::cli
