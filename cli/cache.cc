// `cache`: what the kernel answers without running a filter.
#include <fmt/format.h>

#include "cli/engine_options.h"
#include "cli/names.h"
#include "harness/compare/cache_change.h"
#include "harness/kernel/bitmap.h"
#include "harness/kernel/oracle.h"
#include "harness/report/json.h"
#include "verify/dd/actions.h"

namespace secequiv::cli {
namespace {

using nlohmann::ordered_json;

struct CacheJob {
  Options options;
  std::vector<std::string> filters;
  bool allow_loss = false;
  bool verify = false;
  EngineOptions engine;
};

// Calls whose action nothing but their number decides, by name, on `arch`; nothing if the filters
// do not tell `arch` from unknown ones.
using Constant = std::vector<dd::ArchActions>;
Result<Constant> constant_of(const std::vector<Source>& stack, const CacheJob& job,
                             const std::string& filter) {
  const auto programs = views(stack);
  dd::Space space(programs, job.engine.limits());
  const auto decisions = space.decisions(programs, Sameness::kRaw);
  auto out = dd::constant_actions(space, decisions, job.options.oci().arch);
  if (space.exhausted()) return limits_reached(filter);
  return out;
}

std::size_t constant_calls(const Constant& constant, Arch arch) {
  std::size_t out = 0;
  for (const dd::ArchActions& one : constant)
    if (one.arch == arch)
      for (const auto& [value, calls] : one.constant) out += calls.size();
  return out;
}

using Bitmaps = std::vector<kernel::Bitmap>;

// Of each stack; without --verify none is read.
Result<std::vector<Bitmaps>> bitmaps_of(const std::vector<std::vector<Source>>& stacks,
                                        const CacheJob& job) {
  std::vector<std::vector<ProgramView>> programs;
  if (!job.verify) return std::vector<Bitmaps>(stacks.size());
  if (const Arch host = job.options.oci().arch; host != Arch::kX86_64)
    return make_error(
        ErrorCode::kUnavailable, "--verify",
        fmt::format("bitmaps can be read of x86_64, not of {} (--arch)", arch_info(host).name));
  programs.reserve(stacks.size());
  for (const auto& stack : stacks) programs.push_back(views(stack));
  return kernel::bitmaps(programs);
}

// What the kernel's bitmap of an architecture says of a stack.
struct Verified {
  ordered_json json = nullptr;
  std::string text = "  kernel: it has no bitmap of this architecture\n";
  bool agrees = true;
};

Verified verified(const std::vector<Source>& stack, Arch arch, const Bitmaps& bitmaps) {
  Verified out;
  for (const kernel::Bitmap& bitmap : bitmaps) {
    if (bitmap.arch != arch) continue;
    // Any other number that filters do not stop is a difference.
    std::vector<std::uint32_t> known;
    for (const std::uint32_t nr : bitmap.unfiltered)
      if (arch == Arch::kX86_64 && kernel::bypasses_filters({nr}, kernel::Entry::kX86_64))
        known.push_back(nr);
    const auto difference = bitmap_difference(views(stack), arch, bitmap.bits, known);
    out.agrees = difference.only_model.empty() && difference.only_kernel.empty();
    out.json = {{"numbers", bitmap.numbers},
                {"agrees", out.agrees},
                {"unfiltered", names_of(arch, bitmap.unfiltered)},
                {"only_model", names_of(arch, difference.only_model)},
                {"only_kernel", names_of(arch, difference.only_kernel)}};
    out.text = fmt::format("  {:<20} {:>4}: numbers, {}\n", "kernel", bitmap.numbers,
                           out.agrees ? "its bitmap has the same" : "its bitmap DIFFERS");
    if (!bitmap.unfiltered.empty())
      out.text += paragraph("never filtered", names_of(arch, bitmap.unfiltered));
    if (!out.agrees)
      out.text += paragraph("not in the kernel", names_of(arch, difference.only_model)) +
                  paragraph("only in the kernel", names_of(arch, difference.only_kernel));
  }
  return out;
}

// The last line.
std::string verdict_text(const CacheJob& job, bool agrees, bool lost) {
  const bool fails = !agrees || (lost && !job.allow_loss);
  std::string out = fmt::format("verdict   {}:", fails ? "fail" : "pass");
  if (job.verify)
    out += fmt::format(" Linux {} has {} bitmaps{}", kernel::release(),
                       agrees ? "the same" : "OTHER", job.filters.size() == 2 ? ";" : "");
  if (job.filters.size() == 2)
    out += lost ? " the kernel no longer answers some calls from its cache"
                : " no cached call is lost";
  return out + "\n";
}

int cache(const CacheJob& job) {
  std::vector<std::vector<Source>> stacks;
  std::vector<Constant> constant;
  for (const std::string& filter : job.filters) {
    auto stack = load_accepted_stack(filter, job.options);
    if (!stack) return report(stack.error(), job.options);
    auto calls = constant_of(*stack, job, filter);
    if (!calls) return report(calls.error(), job.options);
    stacks.push_back(std::move(*stack));
    constant.push_back(std::move(*calls));
  }
  const auto kernels = bitmaps_of(stacks, job);
  if (!kernels) return report(kernels.error(), job.options);
  const bool two = stacks.size() == 2;
  const auto before = views(stacks.front());
  const auto after = views(stacks.back());
  const auto changes = cache_changes(before, after, job.options.oci().arch);
  bool agrees = true;
  ordered_json arches = ordered_json::array();
  std::string text;
  for (const CacheChange& change : changes) {
    const Arch arch = change.arch;
    ordered_json row{{"arch", arch_info(arch).name},
                     {"numbers", cached_numbers(arch)},
                     {"cached", names_of(arch, change.before)},
                     {"constant", constant_calls(constant.front(), arch)}};
    text += fmt::format("{}\n{}", arch_info(arch).name,
                        paragraph("cached", names_of(arch, change.before)));
    text += fmt::format("  {:<20} {:>4}: calls whose action only their number decides\n",
                        "constant", constant_calls(constant.front(), arch));
    const auto verify = [&](std::size_t side, ordered_json& into) {
      if (!job.verify) return;
      Verified one = verified(stacks[side], arch, (*kernels)[side]);
      agrees = agrees && one.agrees;
      into["kernel"] = std::move(one.json);
      text += one.text;
    };
    verify(0, row);
    if (two) {
      row["after"] = {{"cached", names_of(arch, change.after)},
                      {"constant", constant_calls(constant.back(), arch)},
                      {"lost", names_of(arch, change.lost)},
                      {"gained", names_of(arch, change.gained)}};
      text += fmt::format("  {:<20} {:>4}\n  {:<20} {:>4}\n", "cached after", change.after.size(),
                          "constant after", constant_calls(constant.back(), arch));
      verify(1, row["after"]);
      text += paragraph("lost", names_of(arch, change.lost));
      text += paragraph("gained", names_of(arch, change.gained));
    }
    arches.push_back(std::move(row));
  }
  if (two || job.verify) text += verdict_text(job, agrees, loses(changes));
  const bool fails = !agrees || (loses(changes) && !job.allow_loss);
  ordered_json document{{"schema", "secequiv.cache/1"}, {"verdict", fails ? "fail" : "pass"}};
  if (job.verify) document["kernel"] = {{"release", kernel::release()}, {"agrees", agrees}};
  document["arches"] = std::move(arches);
  return print_verdict(job.options.json ? render(document) : text,
                       exit_code(fails ? Verdict::kFail : Verdict::kPass), job.options);
}

}  // namespace

void add_cache(CLI::App& app, Context& context) {
  CLI::App* sub = app.add_subcommand(
      "cache", "List the system calls that the kernel answers without running the filter");
  auto job = std::make_shared<CacheJob>();
  sub->add_option("filter", job->filters,
                  "One or two programs in any form, or policies; with commas, filters stacked on "
                  "each other, which have to agree")
      ->required()
      ->expected(1, 2);
  sub->add_flag("--allow-cache-loss", job->allow_loss, "Report lost cached calls without failing");
  sub->add_flag("--verify", job->verify,
                "Compare with the running kernel's own bitmaps (needs root; x86_64)");
  job->engine.add_memory(*sub);
  job->options.add_input(*sub);
  job->options.add_import(*sub);
  job->options.add_quiet(*sub);
  job->options.add_json(*sub);
  sub->callback([job, &context] { context.status = cache(*job); });
}

}  // namespace secequiv::cli
