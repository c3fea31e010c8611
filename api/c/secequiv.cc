#include "api/c/secequiv.h"

#include <fmt/format.h>

#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "analyze/actions.h"
#include "analyze/cache.h"
#include "analyze/cost.h"
#include "analyze/diff.h"
#include "analyze/lint.h"
#include "analyze/profile.h"
#include "analyze/prove.h"
#include "analyze/reach.h"
#include "analyze/run.h"
#include "analyze/why.h"
#include "api/c/options.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/bpf/check.h"
#include "harness/import/import.h"
#include "harness/policy/compile.h"
#include "harness/report/documents.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "harness/seccomp/c_names.h"
#include "verify/decide/decide.h"

struct secequiv_result {
  int verdict = SECEQUIV_ERROR;
  std::string message;
  std::optional<std::string> json = {};
  std::optional<secequiv::Witness> witness = {};
  std::optional<std::uint32_t> value = {};
  std::optional<secequiv::Program> program = {};
  bool is_policy = false;
};

namespace secequiv::api {
namespace {

using Outcome = secequiv_result;

int verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kEquivalent:
      return SECEQUIV_EQUIVALENT;
    case Verdict::kPass:
      return SECEQUIV_PASS;
    case Verdict::kDifferent:
      return SECEQUIV_DIFFERENT;
    case Verdict::kUnknown:
      return SECEQUIV_UNKNOWN;
    case Verdict::kRejected:
      return SECEQUIV_REJECTED;
    case Verdict::kFail:
      return SECEQUIV_FAIL;
    case Verdict::kCrashed:
      break;
  }
  return SECEQUIV_ERROR;
}

int verdict_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kRejected:
      return SECEQUIV_REJECTED;
    case ErrorCode::kBudget:
    case ErrorCode::kUnavailable:
      return SECEQUIV_UNKNOWN;
    default:
      return SECEQUIV_ERROR;
  }
}

Outcome failed(Error error) {
  // What is an option of the command line is a member here.
  if (error.where.starts_with("--")) error.where.replace(0, 2, "options.");
  return {verdict_of(error.code), error.text() + "\n", render(to_json(error))};
}

// What `question` answers, without anything that is thrown. What can be is std::bad_alloc and its
// like.
template <class Function>
secequiv_result* answered(const Function& question) noexcept {
  try {
    std::optional<Error> error;
    try {
      return new secequiv_result(question());
    } catch (const std::bad_alloc&) {
      error = make_error(ErrorCode::kBudget, {}, "memory ran out");
    } catch (const std::system_error& thrown) {  // no thread to be had
      error = make_error(ErrorCode::kUnavailable, {}, thrown.what());
    } catch (const std::exception& thrown) {
      error = make_error(ErrorCode::kInternal, {}, thrown.what());
    }
    return new secequiv_result(failed(*error));
  } catch (...) {
    return nullptr;
  }
}

Result<Program> program_of(const sock_filter* insns, std::size_t length, const std::string& name) {
  constexpr std::size_t kMost = kMaxInputBytes / sizeof(Insn);
  if (length > kMost)
    return make_error(ErrorCode::kUsage, name,
                      fmt::format("expected at most {} instructions, found {}", kMost, length));
  if (insns == nullptr && length != 0)
    return make_error(ErrorCode::kUsage, name,
                      fmt::format("expected {}, found NULL", counted(length, "instruction")));
  Program out(length);
  if (length != 0) std::memcpy(static_cast<void*>(out.data()), insns, length * sizeof(Insn));
  return out;
}

struct Sides {
  Options options;
  SideReport before;
  SideReport after;
  Question question;
};

// Both programs and what is asked about them. The question looks at the programs, so `sides` stays
// where it is.
Status read_sides(const sock_filter* before, std::size_t before_length, const sock_filter* after,
                  std::size_t after_length, const secequiv_options* given, Sides& sides) {
  auto options = read_options(given);
  if (!options) return options.error();
  sides.options = std::move(*options);
  auto first = program_of(before, before_length, "before");
  if (!first) return first.error();
  auto second = program_of(after, after_length, "after");
  if (!second) return second.error();
  sides.before = {"before", std::move(*first), {}};
  sides.after = {"after", std::move(*second), {}};
  for (SideReport* side : {&sides.before, &sides.after}) side->refusal = check(side->program);
  sides.question.before = {sides.before.program};
  sides.question.after = {sides.after.program};
  sides.question.sameness = sides.options.sameness;
  if (sides.options.assume.empty()) return Ok{};
  auto assumption = parse_assumption(sides.options.assume, sides.options.oci.arch);
  if (!assumption) return assumption.error();
  sides.question.assumption = std::move(*assumption);
  sides.question.endian = arch_info(sides.options.oci.arch).endian;
  return Ok{};
}

// What the kernel would refuse for more than its length: not to be run or proven.
std::optional<Error> refused(const SideReport& side) {
  const auto refusal = check(side.program, LengthRule::kUnlimited);
  if (!refusal) return std::nullopt;
  return make_error(ErrorCode::kRejected, side.name, describe(*refusal, side.program));
}

Outcome prove(const Sides& sides) {
  ProveJob job;
  job.before = {Source{sides.before.name, sides.before.program, std::nullopt}};
  job.after = {Source{sides.after.name, sides.after.program, std::nullopt}};
  job.sameness = sides.options.sameness;
  job.refines = sides.options.refines;
  job.assumption = sides.options.assume;
  job.host = sides.options.oci.arch;
  job.engine = sides.options.engine;
  job.budget = budget_for(sides.options.seconds, sides.options.mib);
  const auto proven = secequiv::prove(job);
  if (!proven) return failed(proven.error());
  return {verdict_of(proven->verdict()), prove_text(*proven), render(to_json(*proven)),
          proven->proof.witness};
}

Source source_of(const SideReport& side) { return {side.name, side.program, std::nullopt}; }

dd::Limits limits_of(const Options& options) {
  dd::Limits out = limits_alone(options.mib);
  out.seconds = options.seconds;
  return out;
}

Outcome diff(const Sides& sides) {
  for (const SideReport* side : {&sides.before, &sides.after})
    if (const auto error = refused(*side)) return failed(*error);
  const DiffJob job{{"before", {source_of(sides.before)}},
                    {"after", {source_of(sides.after)}},
                    sides.options.sameness,
                    sides.question.assumption,
                    sides.options.oci.arch,
                    limits_of(sides.options),
                    sides.options.regions};
  const auto found = secequiv::diff(job);
  if (!found) return failed(found.error());
  Outcome out{verdict_of(found->verdict), diff_text(*found), render(to_json(*found))};
  // The caller may have asked for no regions.
  for (const Change& change : found->difference.changes)
    if (!out.witness && !change.where.regions.empty())
      out.witness = replay(sides.question, change.where.regions.front().example());
  return out;
}

// A filter of the caller's that the kernel would accept, its length aside.
Result<Source> accepted(const sock_filter* insns, std::size_t length, const std::string& name) {
  auto program = program_of(insns, length, name);
  if (!program) return program.error();
  const SideReport side{name, std::move(*program), {}};
  if (const auto error = refused(side)) return *error;
  return source_of(side);
}

Result<SeccompData> data_of(const void* bytes, std::size_t size) {
  SeccompData data;
  if (bytes == nullptr || size != sizeof data.words)
    return make_error(ErrorCode::kUsage, "seccomp_data",
                      fmt::format("expected {} bytes, found {}", sizeof data.words,
                                  bytes == nullptr ? "NULL" : std::to_string(size)));
  std::memcpy(data.words.data(), bytes, size);
  return data;
}

Outcome evaluate(const Source& filter, const SeccompData& data) {
  const auto found = run({data, {filter}});
  if (!found) return failed(found.error());
  Outcome out{SECEQUIV_PASS, run_text(*found), render(to_json(*found))};
  out.value = found->result;
  return out;
}

// A report of an analysis that always holds.
template <class Report, class Text>
Outcome analyzed(const Result<Report>& found, const Text& text) {
  if (!found) return failed(found.error());
  return {SECEQUIV_PASS, text(*found), render(to_json(*found))};
}

Outcome cost(std::vector<Source> filters, const char* text, const Options& options) {
  CostJob job;
  job.filters = std::move(filters);
  job.arch = options.oci.arch;
  auto profile = text == nullptr ? Result<Profile>(every_call_once(job.arch))
                                 : profile_for(job.arch, text, "profile");
  if (!profile) return failed(profile.error());
  job.profile = std::move(profile->counts);
  job.timeout = options.seconds;
  job.limits = limits_alone(options.mib);
  job.derive = [&job]() -> Result<std::vector<SeccompData>> {
    return derived_cases({}, job.filters.front(), job.filters.back(), CaseLimits{}.total).inputs;
  };
  return analyzed(secequiv::cost(job),
                  [](const CostReport& found) { return cost_text(found, SIZE_MAX); });
}

Outcome cache(std::vector<Source> filters, const Options& options) {
  CacheJob job{{}, options.oci.arch, false, limits_of(options)};
  for (Source& filter : filters) job.stacks.push_back({filter.name, {std::move(filter)}});
  const auto found = secequiv::cache(job);
  if (!found) return failed(found.error());
  return {verdict_of(found->verdict()), cache_text(*found), render(to_json(*found))};
}

Outcome reach(Source filter, std::size_t at, const Options& options) {
  ReachJob job{std::move(filter), std::nullopt, options.regions, options.oci.arch,
               limits_of(options)};
  if (at != SECEQUIV_ALL_INSTRUCTIONS) job.at = at;
  if (job.at && at >= job.source.program.size())
    return failed(make_error(ErrorCode::kUsage, "instruction",
                             fmt::format("expected an instruction from 0 to {}, found {}",
                                         job.source.program.size() - 1, at)));
  return analyzed(secequiv::reach(job), [](const ReachReport& found) { return reach_text(found); });
}

Outcome validate(const Program& program, bool any_length) {
  const Validated input{"program", program, nullptr,
                        check(program, any_length ? LengthRule::kUnlimited : LengthRule::kKernel)};
  return {input.refusal ? SECEQUIV_REJECTED : SECEQUIV_PASS, validated_text(input),
          render(validate_document(nlohmann::ordered_json::array({to_json(input)})))};
}

Outcome parsed(Program program, bool is_policy, const std::string& notes) {
  Outcome out{SECEQUIV_PASS,
              notes + fmt::format("{}, {}\n", is_policy ? "policy, compiled" : "program",
                                  counted(program.size(), "instruction"))};
  out.program = std::move(program);
  out.is_policy = is_policy;
  return out;
}

struct NotedPolicy {
  Policy policy;
  std::string notes;  // what was left out, a line each
};

Result<NotedPolicy> read_policy(std::string_view text, const std::string& name,
                                const Options& options) {
  // Memory has no folder from which something could be included.
  const ImportOptions host{options.oci, options.filter, {}};
  auto read = import_policy(text, name, options.policy_format, host);
  if (!read) return read.error();
  if (auto s = filter_fits(options.filter, read->format, name); !s) return s.error();
  NotedPolicy out{std::move(read->policy), {}};
  for (const std::string& note : read->notes)
    out.notes += fmt::format("{}: {}\n", name, printable(note, false));
  return out;
}

Outcome parse(std::string_view text, const std::string& name, const Options& options) {
  if (options.policy_format || (!options.form && is_policy(text))) {
    const auto read = read_policy(text, name, options);
    if (!read) return failed(read.error());
    return parsed(compile(read->policy), true, read->notes);
  }
  if (auto s = filter_fits(options.filter, std::nullopt, name); !s) return failed(s.error());
  auto program = read_program(text, name, options.form, c_names(options.oci.arch));
  if (!program) return failed(program.error());
  return parsed(std::move(*program), false, {});
}

Outcome lint(std::string_view text, const std::string& name, bool strict, const Options& options) {
  auto read = read_policy(text, name, options);
  if (!read) return failed(read.error());
  const auto found =
      secequiv::lint({std::move(read->policy), name, {}, strict, limits_of(options)});
  if (!found) return failed(found.error());
  return {verdict_of(found->verdict()), read->notes + lint_text(*found), render(to_json(*found))};
}

// What `question` answers about text in memory.
template <class Function>
secequiv_result* about_text(const Function& question, const void* bytes, std::size_t length,
                            const char* name, const secequiv_options* options) noexcept {
  return answered([&]() -> Outcome {
    const auto read = read_options(options);
    if (!read) return failed(read.error());
    const std::string shown = name == nullptr ? "<memory>" : name;
    if (const auto status = readable(bytes, length, shown); !status) return failed(status.error());
    const auto* text = static_cast<const char*>(bytes);
    return question(text == nullptr ? std::string_view() : std::string_view(text, length), shown,
                    *read);
  });
}

// What `question` answers about one filter.
template <class Function>
secequiv_result* about_filter(const Function& question, const sock_filter* program,
                              std::size_t length, const secequiv_options* options) noexcept {
  return answered([&]() -> Outcome {
    const auto read = read_options(options);
    if (!read) return failed(read.error());
    auto filter = accepted(program, length, "program");
    if (!filter) return failed(filter.error());
    return question(std::move(*filter), *read);
  });
}

// What `question` answers about one filter, or two: `after` may be NULL.
template <class Function>
secequiv_result* about_filters(const Function& question, const sock_filter* before,
                               std::size_t before_length, const sock_filter* after,
                               std::size_t after_length, const secequiv_options* options) noexcept {
  return answered([&]() -> Outcome {
    const auto read = read_options(options);
    if (!read) return failed(read.error());
    std::vector<Source> filters;
    auto first = accepted(before, before_length, "before");
    if (!first) return failed(first.error());
    filters.push_back(std::move(*first));
    if (after != nullptr || after_length != 0) {
      auto second = accepted(after, after_length, "after");
      if (!second) return failed(second.error());
      filters.push_back(std::move(*second));
    }
    return question(std::move(filters), *read);
  });
}

// What `question` answers about two programs.
template <class Function>
secequiv_result* compared(const Function& question, const sock_filter* before,
                          std::size_t before_length, const sock_filter* after,
                          std::size_t after_length, const secequiv_options* options) noexcept {
  return answered([&]() -> Outcome {
    Sides sides;
    const auto status = read_sides(before, before_length, after, after_length, options, sides);
    return status ? question(sides) : failed(status.error());
  });
}

}  // namespace
}  // namespace secequiv::api

namespace api = secequiv::api;
using secequiv::api::answered;
using secequiv::api::compared;
using secequiv::api::Outcome;

extern "C" {

std::uint32_t secequiv_abi_version(void) { return SECEQUIV_ABI_VERSION; }

const char* secequiv_version(void) { return SECEQUIV_VERSION; }

secequiv_result* secequiv_parse(const void* bytes, std::size_t length, const char* name,
                                const secequiv_options* options) {
  return api::about_text(api::parse, bytes, length, name, options);
}

secequiv_result* secequiv_prove(const sock_filter* before, std::size_t before_length,
                                const sock_filter* after, std::size_t after_length,
                                const secequiv_options* options) {
  return compared(secequiv::api::prove, before, before_length, after, after_length, options);
}

secequiv_result* secequiv_diff(const sock_filter* before, std::size_t before_length,
                               const sock_filter* after, std::size_t after_length,
                               const secequiv_options* options) {
  return compared(secequiv::api::diff, before, before_length, after, after_length, options);
}

secequiv_result* secequiv_evaluate(const sock_filter* program, std::size_t length,
                                   const void* seccomp_data, std::size_t data_size,
                                   const secequiv_options* options) {
  return api::about_filter(
      [&](secequiv::Source filter, const api::Options&) -> Outcome {
        const auto data = api::data_of(seccomp_data, data_size);
        return data ? api::evaluate(filter, *data) : api::failed(data.error());
      },
      program, length, options);
}

secequiv_result* secequiv_validate(const sock_filter* program, std::size_t length,
                                   const secequiv_options* options) {
  return answered([&]() -> Outcome {
    const auto read = secequiv::api::read_options(options);
    if (!read) return secequiv::api::failed(read.error());
    const auto insns = secequiv::api::program_of(program, length, "program");
    if (!insns) return secequiv::api::failed(insns.error());
    return secequiv::api::validate(*insns, read->any_length);
  });
}

secequiv_result* secequiv_why(const sock_filter* program, std::size_t length,
                              const void* seccomp_data, std::size_t data_size,
                              const secequiv_options* options) {
  return api::about_filter(
      [&](secequiv::Source filter, const api::Options& read) -> Outcome {
        const auto data = api::data_of(seccomp_data, data_size);
        if (!data) return api::failed(data.error());
        return api::analyzed(
            secequiv::why(
                {{"program", {std::move(filter)}}, *data, read.oci.arch, api::limits_of(read)}),
            secequiv::why_text);
      },
      program, length, options);
}

secequiv_result* secequiv_actions(const sock_filter* program, std::size_t length,
                                  const secequiv_options* options) {
  return api::about_filter(
      [](secequiv::Source filter, const api::Options& read) {
        return api::analyzed(secequiv::actions({{"program", {std::move(filter)}},
                                                read.sameness,
                                                read.oci.arch,
                                                api::limits_of(read)}),
                             secequiv::actions_text);
      },
      program, length, options);
}

secequiv_result* secequiv_reach(const sock_filter* program, std::size_t length,
                                std::size_t instruction, const secequiv_options* options) {
  return api::about_filter(
      [&](secequiv::Source filter, const api::Options& read) {
        return api::reach(std::move(filter), instruction, read);
      },
      program, length, options);
}

secequiv_result* secequiv_cost(const sock_filter* before, std::size_t before_length,
                               const sock_filter* after, std::size_t after_length,
                               const char* profile, const secequiv_options* options) {
  return api::about_filters(
      [&](std::vector<secequiv::Source> filters, const api::Options& read) {
        return api::cost(std::move(filters), profile, read);
      },
      before, before_length, after, after_length, options);
}

secequiv_result* secequiv_cache(const sock_filter* before, std::size_t before_length,
                                const sock_filter* after, std::size_t after_length,
                                const secequiv_options* options) {
  return api::about_filters(api::cache, before, before_length, after, after_length, options);
}

secequiv_result* secequiv_lint(const void* bytes, std::size_t length, const char* name, int strict,
                               const secequiv_options* options) {
  return api::about_text(
      [&](std::string_view text, const std::string& shown, const api::Options& read) {
        return api::lint(text, shown, strict != 0, read);
      },
      bytes, length, name, options);
}

int secequiv_result_verdict(const secequiv_result* result) {
  return result == nullptr ? SECEQUIV_ERROR : result->verdict;
}

int secequiv_result_holds(const secequiv_result* result) {
  const int verdict = secequiv_result_verdict(result);
  return verdict == SECEQUIV_EQUIVALENT || verdict == SECEQUIV_PASS ? 1 : 0;
}

const char* secequiv_result_message(const secequiv_result* result) {
  return result == nullptr ? "no result: memory ran out\n" : result->message.c_str();
}

const char* secequiv_result_json(const secequiv_result* result) {
  return result == nullptr || !result->json ? nullptr : result->json->c_str();
}

int secequiv_result_witness(const secequiv_result* result, void* seccomp_data,
                            std::uint32_t* before, std::uint32_t* after) {
  if (result == nullptr || !result->witness) return 0;
  const secequiv::Witness& witness = *result->witness;
  if (seccomp_data != nullptr)
    std::memcpy(seccomp_data, witness.data.words.data(), sizeof witness.data.words);
  if (before != nullptr) *before = witness.before;
  if (after != nullptr) *after = witness.after;
  return 1;
}

int secequiv_result_value(const secequiv_result* result, std::uint32_t* value) {
  if (result == nullptr || !result->value) return 0;
  if (value != nullptr) *value = *result->value;
  return 1;
}

const sock_filter* secequiv_result_program(const secequiv_result* result, std::size_t* length) {
  const bool there = result != nullptr && result->program;
  if (length != nullptr) *length = there ? result->program->size() : 0;
  return there ? reinterpret_cast<const sock_filter*>(result->program->data()) : nullptr;
}

int secequiv_result_is_policy(const secequiv_result* result) {
  return result != nullptr && result->is_policy ? 1 : 0;
}

void secequiv_result_free(secequiv_result* result) { delete result; }

}  // extern "C"
