// `kernel`: compares the running Linux, or a booted one, with our model, on given or random
// programs.
#include "harness/report/kernel.h"

#include "cli/command.h"
#include "cli/interrupts.h"
#include "cli/kernel_programs.h"
#include "cli/oracle_option.h"
#include "harness/report/json.h"
#include "harness/terminal/progress.h"

namespace secequiv::cli {
namespace {

// Refuses options that would have no effect.
Status check_options(const KernelArguments& given) {
  const bool random_programs = given.pair.inputs.empty();
  if (given.pair.inputs.size() > 2 && !given.each)
    return make_error(ErrorCode::kUsage, "input",
                      "expected one or two programs; --each compares any number by themselves");
  const auto unused = random_programs
                          ? std::vector{"--policy", "--max-inputs", "--inputs", "--each",
                                        "--random", "--entry",      "--same"}
                          : std::vector{"--random-programs"};
  for (const char* option : unused)
    if (given.command->given(option))
      return make_error(ErrorCode::kUsage, option,
                        random_programs
                            ? "applies only to given programs, and none is given"
                            : "applies only to random programs, and a program is given");
  return Ok{};
}

Result<int> check_model(const KernelArguments& given) {
  kernel::SelfCheckOptions checking;
  checking.programs = given.programs;
  checking.seed = given.job.seed;
  checking.kernel = given.kernel.get();
  if (!given.on.empty()) {
    // An emulator needs longer to install a program than for many calls. With arguments of 32 bits,
    // many programs are installed several times.
    const std::size_t factor = given.kernel->entries().front().argument_bits == 32 ? 16 : 4;
    checking.inputs *= factor;
    checking.one_in *= factor;
  }
  terminal::StatusLine line;
  checking.progress = [&, show = terminal::progress_on(line, "programs")](std::size_t done) {
    show(done, given.programs);
  };
  checking.stop = was_interrupted;
  ASSIGN_OR_RETURN(const auto result, kernel::self_check(checking));
  return print_verdict(given.options.json ? render(to_json(result)) : self_check_text(result),
                       exit_code(verdict_of(result)), given.options);
}

Result<int> run_kernel(KernelArguments& given) {
  RETURN_IF_ERROR(given.options.no_effect());
  heed_interrupts();
  RETURN_IF_ERROR(check_options(given));
  ASSIGN_OR_RETURN(given.kernel, open_kernel(given.on));
  if (given.pair.inputs.empty()) return check_model(given);
  return ask_given(given);
}

}  // namespace

void add_kernel(Commands& all) {
  const auto [sub, given] = add_command(
      all, "kernel", "Compare the running Linux with our interpreter, on given or random programs",
      run_kernel);
  given->command = sub;
  sub->add_option("input", given->pair.inputs,
                  "Programs or policies: one or two, or with --each any number")
      ->expected(0, 1000000);
  sub->add_flag("--each", given->each, "Compare each program by itself with the model");
  sub->add_option("--on", given->on, "Boot this kernel: ARCH, ARCH@VERSION or serve:COMMAND");
  add_number(*sub, "--random-programs", given->programs, 1, 1000000000,
             "Run this many random programs, legal and nearly legal, if no program is given");
  given->pair.add_derivation(*sub);
  add_records(*sub, given->files);
  add_number(*sub, "--random", given->job.random, 0, 100000000,
             "Run this many random inputs near each program's constants");
  add_seed(*sub, given->job.seed);
  sub->add_option("--entry", given->entry,
                  "Run any input by redirecting loads, or make real calls by this entry")
      ->shows_default();
  given->options.add(*sub, {kInput, kSame, kImport, kQuiet, kJson});
}

}  // namespace secequiv::cli
