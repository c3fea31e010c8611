// Owns the list of subcommands, one file for each. Each function declares its command on `app`; the
// command stores its exit status in `context`. It must not know what commands do.
#pragma once

#include <CLI/CLI.hpp>

namespace secequiv::cli {

struct Context {
  int status = 0;
};

void add_actions(CLI::App& app, Context& context);
void add_asm(CLI::App& app, Context& context);
void add_bench(CLI::App& app, Context& context);
void add_bisect(CLI::App& app, Context& context);
void add_cache(CLI::App& app, Context& context);
void add_check(CLI::App& app, Context& context);
void add_cost(CLI::App& app, Context& context);
void add_cover(CLI::App& app, Context& context);
void add_diff(CLI::App& app, Context& context);
void add_dis(CLI::App& app, Context& context);
void add_dump(CLI::App& app, Context& context);
void add_find_rules(CLI::App& app, Context& context);
void add_fuzz(CLI::App& app, Context& context);
void add_guard(CLI::App& app, Context& context);
void add_import(CLI::App& app, Context& context);
void add_kernel(CLI::App& app, Context& context);
void add_lift(CLI::App& app, Context& context);
void add_lint(CLI::App& app, Context& context);
void add_merge(CLI::App& app, Context& context);
void add_mutate(CLI::App& app, Context& context);
void add_optimize(CLI::App& app, Context& context);
void add_plugin_host(CLI::App& app, Context& context);
void add_libseccomp_host(CLI::App& app, Context& context);
void add_precompile(CLI::App& app, Context& context);
void add_prove(CLI::App& app, Context& context);
void add_prove_rule(CLI::App& app, Context& context);
void add_reach(CLI::App& app, Context& context);
void add_run(CLI::App& app, Context& context);
void add_validate(CLI::App& app, Context& context);
void add_why(CLI::App& app, Context& context);

}  // namespace secequiv::cli
