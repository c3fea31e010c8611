// Contains the exported functions. They turn a caller's memory into the job of an analysis, and its
// report into a result.
#include "api/c/secequiv.h"

#include <fmt/format.h>

#include <cstring>
#include <utility>
#include <vector>

#include "analyze/actions.h"
#include "analyze/cache.h"
#include "analyze/cost.h"
#include "analyze/diff.h"
#include "analyze/lift.h"
#include "analyze/lint.h"
#include "analyze/load.h"
#include "analyze/optimize.h"
#include "analyze/policy_form.h"
#include "analyze/profile.h"
#include "analyze/prove.h"
#include "analyze/prove_property.h"
#include "analyze/reach.h"
#include "analyze/run.h"
#include "analyze/why.h"
#include "api/c/options.h"
#include "api/c/result.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/optimize/optimizer.h"
#include "harness/report/json.h"
#include "harness/report/optimize.h"
#include "harness/report/page.h"
#include "harness/report/text.h"
#include "harness/report/validate.h"
#include "harness/seccomp/annotate.h"
#include "harness/seccomp/property_library.h"

namespace secequiv::api {
namespace {

// A caller's program, which may be invalid.
struct Filter {
  const sock_filter* insns;
  std::size_t length;
  std::string name;
};

// A caller's bytes: a program in any form, a policy, or a struct seccomp_data.
struct Bytes {
  const void* start;
  std::size_t length;
  std::string name = "seccomp_data";
  std::string path = {};  // for positions; empty: there are none
};

Result<Program> program_of(const Filter& filter) {
  constexpr std::size_t kMost = kMaxInputBytes / sizeof(Insn);
  if (filter.length > kMost)
    return make_error(
        ErrorCode::kUsage, filter.name,
        fmt::format("expected at most {} instructions, found {}", kMost, filter.length));
  if (filter.insns == nullptr && filter.length != 0)
    return make_error(
        ErrorCode::kUsage, filter.name,
        fmt::format("expected {}, found NULL", counted(filter.length, "instruction")));
  Program out(filter.length);
  if (filter.length != 0)
    std::memcpy(static_cast<void*>(out.data()), filter.insns, filter.length * sizeof(Insn));
  return out;
}

Result<Source> source_of(const Filter& filter) {
  ASSIGN_OR_RETURN(auto program, program_of(filter));
  return Source{filter.name, std::move(program), std::nullopt};
}

// Returns what was parsed. `role` names it in messages if the caller gave it no name.
Result<Source> parsed_source(const secequiv_result* result, const char* role) {
  if (result == nullptr || !result->source)
    return make_error(ErrorCode::kUsage, role,
                      "expected a result of secequiv_parse with a program, found another one");
  Source out = *result->source;
  if (out.file.path.empty()) out.name = role;
  return out;
}

// Returns a filter that the kernel accepts, except that it may be too long.
Result<Source> legal(Result<Source> source) {
  if (!source) return source;
  RETURN_IF_ERROR(expect_legal(*source));
  return source;
}

Result<Source> accepted(const Filter& filter) { return legal(source_of(filter)); }

// Returns one filter or two. An empty `after` means that there is no second one.
Result<std::vector<Source>> accepted(const Filter& before, const Filter& after) {
  std::vector<Source> out;
  for (const Filter* filter : {&before, &after}) {
    if (filter == &after && after.insns == nullptr && after.length == 0) break;
    ASSIGN_OR_RETURN(auto source, accepted(*filter));
    out.push_back(std::move(source));
  }
  return out;
}

Result<SeccompData> data_of(const Bytes& bytes) {
  SeccompData data;
  if (bytes.start == nullptr || bytes.length != sizeof data.words)
    return make_error(ErrorCode::kUsage, bytes.name,
                      fmt::format("expected {} bytes, found {}", sizeof data.words,
                                  bytes.start == nullptr ? "NULL" : std::to_string(bytes.length)));
  std::memcpy(data.words.data(), bytes.start, bytes.length);
  return data;
}

Result<std::string_view> text_of(const Bytes& bytes) {
  if (bytes.length > kMaxInputBytes)
    return make_error(
        ErrorCode::kUsage, bytes.name,
        fmt::format("expected at most {} bytes, found {}", kMaxInputBytes, bytes.length));
  if (bytes.start == nullptr && bytes.length != 0)
    return make_error(ErrorCode::kUsage, bytes.name,
                      fmt::format("expected {} bytes, found NULL", bytes.length));
  const auto* text = static_cast<const char*>(bytes.start);
  return text == nullptr ? std::string_view() : std::string_view(text, bytes.length);
}

dd::Limits limits_of(const Options& options) {
  dd::Limits out = limits_alone(options.mib);
  out.seconds = options.seconds;
  return out;
}

// Returns the status of an answer that is right only for one meaning of the policy.
int status_of(const Source& source) {
  return source.mixed.empty() ? SECEQUIV_PASS : SECEQUIV_UNKNOWN;
}

// Makes an outcome of an analysis that has no verdict of its own.
template <class Report, class Text>
Result<Outcome> holding(const Result<Report>& found, const Text& text) {
  if (!found) return found.error();
  return Outcome{SECEQUIV_PASS, text(*found), render(to_json(*found))};
}

// Notes become lines of `notes`; warnings do not, because with_notes() names no option of the
// command line.
Reading reading_of(const Options& options, std::string& notes) {
  const auto line = [&notes](std::string_view kind, std::string_view text) {
    notes += fmt::format("{}{}\n", kind, printable(text, false));
  };
  Reading out;
  out.form = options.form;
  out.policy_format = options.policy_format;
  // A text in memory has no folder, so it cannot include files.
  out.import = {options.oci, options.filter, {}};
  out.limits = limits_alone(options.mib);
  out.unknown = [line](const UnknownName& unknown) -> Status {
    line("warning: ", unknown.text());
    return Ok{};
  };
  out.failure = [line](const LoadFailure& failure) { line("warning: ", failure.text()); };
  out.note = out.choice = [line](const std::string& text) { line("", text); };
  return out;
}

struct NotedPolicy {
  Import imported;
  std::string notes;  // what was omitted, one line each
};

Result<NotedPolicy> read_policy(std::string_view text, const std::string& name,
                                const Options& options) {
  NotedPolicy out;
  ASSIGN_OR_RETURN(auto read, parse_import(text, name, reading_of(options, out.notes)));
  RETURN_IF_ERROR(filter_fits(options.filter, read.format, name));
  out.imported = std::move(read);
  return out;
}

Result<Outcome> parse(const Bytes& bytes, const Options& options) {
  ASSIGN_OR_RETURN(const auto text, text_of(bytes));
  Outcome out{SECEQUIV_PASS, {}};
  ASSIGN_OR_RETURN(auto source,
                   read_source(text, bytes.name, bytes.path, reading_of(options, out.notes)));
  RETURN_IF_ERROR(filter_fits(options.filter, source.format, bytes.name));
  out.message = out.notes + fmt::format("{}, {}\n", source.policy ? "policy, compiled" : "program",
                                        counted(source.program.size(), "instruction"));
  out.source = std::move(source);
  return out;
}

Result<Outcome> lint(const Bytes& bytes, bool strict, const Options& options) {
  ASSIGN_OR_RETURN(const auto text, text_of(bytes));
  ASSIGN_OR_RETURN(auto read, read_policy(text, bytes.name, options));
  ASSIGN_OR_RETURN(
      const auto found,
      secequiv::lint({std::move(read.imported), bytes.name, {}, strict, limits_of(options)}));
  return Outcome{verdict_of(found.verdict()), read.notes + lint_text(found),
                 render(to_json(found))};
}

Result<Outcome> validate(const Filter& filter, const Options& options) {
  ASSIGN_OR_RETURN(const auto program, program_of(filter));
  const Validated input{
      filter.name, program, nullptr,
      refusal_of(program, options.any_length ? LengthRule::kUnlimited : LengthRule::kKernel)};
  return Outcome{input.refusal ? SECEQUIV_REJECTED : SECEQUIV_PASS, validated_text(input),
                 render(to_json(ValidateReport{{to_json(input)}}))};
}

// Adds for which host the outcome holds, and what it does not cover.
Outcome with_notes(Outcome out, const PairNotes& pair, std::string notes) {
  constexpr std::string_view kHost = "the architecture, kernel and capabilities given when parsing";
  if (!pair.not_compared.empty())
    notes += fmt::format("warning: {}\n", printable(pair.short_warning(kHost), false));
  if (pair.read_for) out.message += holds_for(pair.read_for, kHost) + "\n";
  out.message += notes;
  out.notes = std::move(notes);
  return out;
}

// Makes a job without filters.
ProveJob prove_job(const Options& options) {
  ProveJob job;
  job.assumption = options.assume;
  job.host = options.oci.arch;
  job.engine = options.engine;
  job.budget = budget_for(options.seconds, options.mib);
  return job;
}

Result<Outcome> prove_property(Result<Source> program, const char* text, const Options& options) {
  if (!program) return program.error();
  if (text == nullptr)
    return make_error(ErrorCode::kUsage, "property", "expected a property, found NULL");
  ASSIGN_OR_RETURN(auto property, named_property(text, "property", options.oci.arch));
  PropertyJob job{prove_job(options), {}};
  job.proof.subject = program->name;
  job.proof.after.push_back(std::move(*program));
  static_cast<ReadNotes&>(job.proof.notes) = notes_about(job.proof.after);
  job.properties.push_back(std::move(property));
  ASSIGN_OR_RETURN(const auto proven, secequiv::prove_property(std::move(job)));
  return with_notes({verdict_of(proven.verdict()), property_text(proven), render(to_json(proven))},
                    proven.notes, "");
}

Result<Outcome> prove(Result<Source> before, Result<Source> after, const Options& options) {
  if (!before) return before.error();
  if (!after) return after.error();
  ProveJob job = prove_job(options);
  job.before.push_back(std::move(*before));
  job.after.push_back(std::move(*after));
  std::string notes;
  job.notes = note_pair(job.before, job.after, reading_of(options, notes));
  job.sameness = options.sameness;
  job.refines = options.refines;
  ASSIGN_OR_RETURN(const auto proven, secequiv::prove(job));
  return with_notes({verdict_of(proven.verdict()), prove_text(proven), render(to_json(proven)),
                     proven.proof.witness},
                    job.notes, std::move(notes));
}

Result<Assumption> assumption_of(const Options& options) {
  if (options.assume.empty()) return Assumption();
  return parse_assumption(options.assume, options.oci.arch);
}

struct Diffed {
  DiffJob job;
  DiffReport report;
  std::string notes;
};

Result<Diffed> diffed(const Result<Source>& before, const Result<Source>& after,
                      const Options& options) {
  if (!before) return before.error();
  if (!after) return after.error();
  ASSIGN_OR_RETURN(auto assumption, assumption_of(options));
  DiffJob job{.before = {before->name, {*before}},
              .after = {after->name, {*after}},
              .sameness = options.sameness,
              .assumption = std::move(assumption),
              .host = options.oci.arch,
              .limits = limits_of(options),
              .max_regions = options.regions,
              .assumed = options.assume};
  job.rules = names_rules(job.before.filters) && names_rules(job.after.filters);
  std::string notes;
  job.notes = note_pair(job.before.filters, job.after.filters, reading_of(options, notes));
  ASSIGN_OR_RETURN(auto report, secequiv::diff(job));
  return Diffed{std::move(job), std::move(report), std::move(notes)};
}

Result<Outcome> diff(const Result<Source>& before, const Result<Source>& after,
                     const Options& options) {
  ASSIGN_OR_RETURN(auto made, diffed(before, after, options));
  const DiffReport& found = made.report;
  Outcome out{verdict_of(found.verdict), diff_text(found), render(to_json(found))};
  // Regions may be missing, because the caller may have requested none.
  for (const Change& change : found.difference.changes)
    if (!out.witness && !change.where.regions.empty())
      out.witness = replay(found.question, change.where.regions.front().example());
  return with_notes(std::move(out), made.job.notes, std::move(made.notes));
}

constexpr std::size_t kMostStepped = 24;  // inputs whose execution the reader can step through

Result<Outcome> diff_page(const Result<Source>& before, const Result<Source>& after,
                          const Options& options) {
  ASSIGN_OR_RETURN(auto made, diffed(before, after, options));
  const DiffReport& found = made.report;
  Page shown = page(made.job, found, SECEQUIV_VERSION, "");
  shown.command = "diff";
  shown.sides[0].side = side_of(*before);
  shown.sides[1].side = side_of(*after);
  if (found.direction.example)
    shown.inputs.push_back({"most important", found.direction.example->data});
  for (const Change& change : found.difference.changes)
    for (const Region& region : change.where.regions)
      if (shown.inputs.size() < kMostStepped)
        shown.inputs.push_back(
            {fmt::format("{} to {}", action_text(change.before), action_text(change.after)),
             region.example()});
  Outcome out{verdict_of(found.verdict), html(shown)};
  out.notes = std::move(made.notes);
  return out;
}

Result<Outcome> disassemble(const Result<Source>& source, const char* form,
                            const secequiv_options* given, const Options& options) {
  if (!source) return source.error();
  const std::string_view name = form == nullptr ? "asm" : form;
  const auto to = form_from_name(name);
  if (!to || *to == Form::kRaw || *to == Form::kRawBigEndian)
    return make_error(ErrorCode::kUsage, "form",
                      fmt::format("expected asm, ddd or c, found '{}'", name));
  const bool named = given != nullptr && given->arch != nullptr && *given->arch != '\0';
  const auto comments =
      annotate(source->program, named ? std::optional(options.oci.arch) : std::nullopt);
  return Outcome{SECEQUIV_PASS, write_program(source->program, *to, comments)};
}

Result<Outcome> lift(Result<Source> source, const char* form, const Options& options) {
  if (!source) return source.error();
  const std::string_view name = form == nullptr ? "policy" : form;
  const auto to = policy_form_from_name(name);
  if (!to)
    return make_error(ErrorCode::kUsage, "form",
                      fmt::format("expected policy, normal-form, oci or text, found '{}'", name));
  const std::string subject = source->name;
  const int status = status_of(*source);
  ASSIGN_OR_RETURN(const auto lifted, secequiv::lift({.stack = {subject, {std::move(*source)}},
                                                      .host = options.oci.arch,
                                                      .limits = limits_of(options)}));
  ASSIGN_OR_RETURN(auto text, write_policy_as(*to, lifted.policy, subject, options.oci.arch,
                                              limits_of(options)));
  Outcome out{status, std::move(text)};
  out.notes = fmt::format("proven equivalent: {}\n", summary(lifted));
  return out;
}

Result<Outcome> optimize(Result<Source> source, const Options& options) {
  if (!source) return source.error();
  ASSIGN_OR_RETURN(auto passes, named_passes({}));
  OptimizeJob job{.stack = {source->name, {*source}}, .passes = std::move(passes), .profile = {}};
  job.host = options.oci.arch;
  job.limits = limits_of(options);
  ASSIGN_OR_RETURN(auto made, secequiv::optimize(job));
  Outcome out{status_of(*source), write_program(made.program, Form::kAsm, annotate(made.program))};
  out.notes = changes_text(job, made);
  if (!made.lost_calls.empty())
    out.notes += fmt::format("the kernel now has to run the filter for {}\n", made.lost_calls);
  out.source = Source{source->name, std::move(made.program), std::nullopt};
  return out;
}

Result<Outcome> evaluate(const Filter& filter, const Bytes& data, const Options&) {
  ASSIGN_OR_RETURN(auto source, accepted(filter));
  ASSIGN_OR_RETURN(const auto input, data_of(data));
  const auto found = run({input, {std::move(source)}});
  auto out = holding(found, run_text);
  if (out) out->value = found->result;
  return out;
}

Result<Outcome> why(Result<Source> source, const Bytes& data, const Options& options) {
  if (!source) return source.error();
  ASSIGN_OR_RETURN(const auto input, data_of(data));
  const std::string name = source->name;
  return holding(
      secequiv::why({{name, {std::move(*source)}}, input, options.oci.arch, limits_of(options)}),
      [](const WhyReport& found) { return why_text(found, false); });
}

Result<Outcome> actions(const Filter& filter, const Options& options) {
  if (options.sameness == Sameness::kEffect)
    return make_error(ErrorCode::kUsage, "options.same", "expected raw or behaviour, found effect");
  ASSIGN_OR_RETURN(auto source, accepted(filter));
  return holding(secequiv::actions({{filter.name, {std::move(source)}},
                                    options.sameness,
                                    options.oci.arch,
                                    limits_of(options)}),
                 [](const ActionsReport& found) { return actions_text(found); });
}

Result<Outcome> reach(const Filter& filter, std::size_t at, const Options& options) {
  ASSIGN_OR_RETURN(auto source, accepted(filter));
  ReachJob job{std::move(source), std::nullopt, options.regions, options.oci.arch,
               limits_of(options)};
  if (at != SECEQUIV_ALL_INSTRUCTIONS) job.at = at;
  if (job.at && at >= job.source.program.size())
    return make_error(ErrorCode::kUsage, "instruction",
                      fmt::format("expected an instruction from 0 to {}, found {}",
                                  job.source.program.size() - 1, at));
  return holding(secequiv::reach(job), [](const ReachReport& found) { return reach_text(found); });
}

Result<Outcome> cost(const Filter& before, const Filter& after, const char* profile,
                     const Options& options) {
  ASSIGN_OR_RETURN(auto filters, accepted(before, after));
  CostJob job;
  for (Source& source : filters) job.stacks.push_back({source.name, {source}});
  job.arch = options.oci.arch;
  ASSIGN_OR_RETURN(auto calls, profile == nullptr ? Result<Profile>(every_call_once(job.arch))
                                                  : profile_for(job.arch, profile, "profile"));
  job.profile = std::move(calls.counts);
  job.timeout = options.seconds;
  job.limits = limits_alone(options.mib);
  job.derive = [&job]() -> Result<std::vector<SeccompData>> {
    return derived_cases({}, all_filters(job.stacks), CaseLimits{}.total).inputs;
  };
  return holding(secequiv::cost(job),
                 [](const CostReport& found) { return cost_text(found, SIZE_MAX); });
}

Result<Outcome> cache(const Filter& before, const Filter& after, const Options& options) {
  ASSIGN_OR_RETURN(auto filters, accepted(before, after));
  CacheJob job{{}, options.oci.arch, false, limits_of(options)};
  for (Source& filter : filters) job.stacks.push_back({filter.name, {std::move(filter)}});
  ASSIGN_OR_RETURN(const auto found, secequiv::cache(job));
  return Outcome{verdict_of(found.verdict()), cache_text(found), render(to_json(found))};
}

}  // namespace
}  // namespace secequiv::api

namespace api = secequiv::api;
using api::answered;

extern "C" {

std::uint32_t secequiv_abi_version(void) { return SECEQUIV_ABI_VERSION; }

const char* secequiv_version(void) { return SECEQUIV_VERSION; }

secequiv_result* secequiv_parse(const void* bytes, std::size_t length, const char* name,
                                const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    const std::string named = name == nullptr ? "<memory>" : name;
    return api::parse({bytes, length, named, named.starts_with('<') ? "" : named}, read);
  });
}

secequiv_result* secequiv_lint(const void* bytes, std::size_t length, const char* name, int strict,
                               const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::lint({bytes, length, name == nullptr ? "<memory>" : name}, strict != 0, read);
  });
}

secequiv_result* secequiv_validate(const sock_filter* program, std::size_t length,
                                   const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::validate({program, length, "program"}, read);
  });
}

secequiv_result* secequiv_prove(const sock_filter* before, std::size_t before_length,
                                const sock_filter* after, std::size_t after_length,
                                const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::prove(api::source_of({before, before_length, "before"}),
                      api::source_of({after, after_length, "after"}), read);
  });
}

secequiv_result* secequiv_prove_parsed(const secequiv_result* before, const secequiv_result* after,
                                       const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::prove(api::parsed_source(before, "before"), api::parsed_source(after, "after"),
                      read);
  });
}

secequiv_result* secequiv_prove_property(const sock_filter* program, std::size_t length,
                                         const char* property, const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::prove_property(api::source_of({program, length, "program"}), property, read);
  });
}

secequiv_result* secequiv_prove_property_parsed(const secequiv_result* program,
                                                const char* property,
                                                const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::prove_property(api::parsed_source(program, "program"), property, read);
  });
}

secequiv_result* secequiv_diff(const sock_filter* before, std::size_t before_length,
                               const sock_filter* after, std::size_t after_length,
                               const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::diff(api::accepted({before, before_length, "before"}),
                     api::accepted({after, after_length, "after"}), read);
  });
}

secequiv_result* secequiv_diff_parsed(const secequiv_result* before, const secequiv_result* after,
                                      const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::diff(api::legal(api::parsed_source(before, "before")),
                     api::legal(api::parsed_source(after, "after")), read);
  });
}

secequiv_result* secequiv_evaluate(const sock_filter* program, std::size_t length,
                                   const void* seccomp_data, std::size_t data_size,
                                   const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::evaluate({program, length, "program"}, {seccomp_data, data_size}, read);
  });
}

secequiv_result* secequiv_why(const sock_filter* program, std::size_t length,
                              const void* seccomp_data, std::size_t data_size,
                              const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::why(api::accepted({program, length, "program"}), {seccomp_data, data_size}, read);
  });
}

secequiv_result* secequiv_why_parsed(const secequiv_result* program, const void* seccomp_data,
                                     std::size_t data_size, const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::why(api::legal(api::parsed_source(program, "program")), {seccomp_data, data_size},
                    read);
  });
}

secequiv_result* secequiv_actions(const sock_filter* program, std::size_t length,
                                  const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::actions({program, length, "program"}, read);
  });
}

secequiv_result* secequiv_reach(const sock_filter* program, std::size_t length,
                                std::size_t instruction, const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::reach({program, length, "program"}, instruction, read);
  });
}

secequiv_result* secequiv_cost(const sock_filter* before, std::size_t before_length,
                               const sock_filter* after, std::size_t after_length,
                               const char* profile, const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::cost({before, before_length, "before"}, {after, after_length, "after"}, profile,
                     read);
  });
}

secequiv_result* secequiv_cache(const sock_filter* before, std::size_t before_length,
                                const sock_filter* after, std::size_t after_length,
                                const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::cache({before, before_length, "before"}, {after, after_length, "after"}, read);
  });
}

secequiv_result* secequiv_disassemble(const secequiv_result* program, const char* form,
                                      const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::disassemble(api::parsed_source(program, "program"), form, options, read);
  });
}

secequiv_result* secequiv_lift(const secequiv_result* program, const char* form,
                               const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::lift(api::legal(api::parsed_source(program, "program")), form, read);
  });
}

secequiv_result* secequiv_optimize(const secequiv_result* program,
                                   const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::optimize(api::legal(api::parsed_source(program, "program")), read);
  });
}

secequiv_result* secequiv_diff_page(const secequiv_result* before, const secequiv_result* after,
                                    const secequiv_options* options) {
  return answered(options, [&](const api::Options& read) {
    return api::diff_page(api::legal(api::parsed_source(before, "before")),
                          api::legal(api::parsed_source(after, "after")), read);
  });
}

}  // extern "C"
