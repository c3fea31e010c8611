#include "analyze/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <map>
#include <utility>

#include "analyze/installed.h"
#include "harness/base/interrupt.h"
#include "harness/base/text.h"
#include "harness/bpf/refusal.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/seccomp/audit_record.h"
#include "harness/seccomp/c_names.h"

namespace secequiv {

Status expect_no_program(std::string_view text, const std::string& name) {
  if (is_policy(text) || text.empty()) return Ok{};
  const auto program = read_symbolic(text, name);
  if (!program) return Ok{};
  return make_error(
      ErrorCode::kParse, name,
      fmt::format("expected a policy, found a program of {} (form {})",
                  counted(program->program.size(), "instruction"), form_name(detect_form(text))),
      Subject::kNotAPolicy);
}

namespace {

// The limits of a command do not count the time and memory that reading its inputs takes.
struct LimitsStartAfter {
  LimitsStartAfter() = default;
  ~LimitsStartAfter() { start_limits(); }
  LimitsStartAfter(const LimitsStartAfter&) = delete;
  LimitsStartAfter& operator=(const LimitsStartAfter&) = delete;
};

}  // namespace

Result<Import> parse_import(std::string_view text, const std::string& name,
                            const Reading& reading) {
  const LimitsStartAfter reading_ends;
  if (!reading.policy_format) RETURN_IF_ERROR(expect_no_program(text, name));
  auto imported = import_policy(text, name, reading.policy_format, reading.import);
  if (!imported) return imported.error();
  if (reading.library_filters && imported->request)
    imported->mixed.clear();  // the library has chosen
  else
    imported->mixed = open_choices(std::move(imported->mixed), reading.limits);
  for (const MixedCall& mixed : imported->mixed)
    reading.choice(fmt::format("{}: {}; this command uses the first", name, mixed.text()));
  for (const std::string& note : imported->notes) reading.note(fmt::format("{}: {}", name, note));
  return imported;
}

Status check_names(const Import& imported, const Reading& reading) {
  for (const UnknownName& unknown : imported.unknown) RETURN_IF_ERROR(reading.unknown(unknown));
  for (const LoadFailure& failure : imported.failures) reading.failure(failure);
  return Ok{};
}

namespace {

Result<Import> import_checked(std::string_view text, const std::string& name,
                              const Reading& reading) {
  auto imported = parse_import(text, name, reading);
  if (!imported) return imported.error();
  RETURN_IF_ERROR(check_names(*imported, reading));
  return imported;
}

// Returns whether entries of the profile are for certain hosts or containers.
bool depends_on_container(const Import& imported) {
  return std::ranges::any_of(imported.parts,
                             [](const ProfilePart& part) { return !part.guard.always(); });
}

// Returns how to read a container profile for other capabilities and kernels, or std::nullopt if
// the policy does not depend on them.
std::optional<ContainerProfile> profile_of(const Import& imported, std::string_view text,
                                           const std::string& name, const Reading& reading) {
  if (!depends_on_container(imported)) return std::nullopt;
  const auto read = [whole = std::string(text), name,
                     asked = reading.import](const OciOptions& options) -> Result<Policy> {
    ImportOptions changed = asked;
    changed.oci = options;
    ASSIGN_OR_RETURN(auto again, import_policy(whole, name, PolicyFormat::kOci, changed));
    return std::move(again.policy);
  };
  return ContainerProfile{reading.import.oci, imported.capabilities, imported.kernels, read};
}

// Returns the filter that libseccomp makes of the profile.
Result<Source> library_source(const Import& imported, const std::string& name,
                              const std::string& path, const Reading& reading) {
  constexpr std::size_t kShown = 8;
  auto made = reading.library(*imported.request);
  if (!made && made.error().code == ErrorCode::kUnavailable)
    return make_error(ErrorCode::kIo, name,
                      "expected a libseccomp that can be loaded: " + made.error().text());
  if (!made) return make_error(made.error().code, name, made.error().text());
  if (!made->unknown.empty())
    reading.note(fmt::format(
        "{}: {} does not know {}: {}", name, made->library,
        counted(made->unknown.size(), "system call"),
        first_and_count(made->unknown, kShown, [](const std::string& call) { return call; })));
  Source out{name, std::move(made->program), std::nullopt, {}, {path, false, {}}};
  out.compilation = "compiled by " + made->library;
  return out;
}

}  // namespace

Result<Policy> parse_policy(std::string_view text, const std::string& name,
                            const Reading& reading) {
  ASSIGN_OR_RETURN(auto imported, import_checked(text, name, reading));
  return std::move(imported.policy);
}

Result<Source> read_source(std::string_view bytes, const std::string& name, const std::string& path,
                           const Reading& reading) {
  const LimitsStartAfter reading_ends;
  if (reading.policy_format || (!reading.form && is_policy(bytes))) {
    ASSIGN_OR_RETURN(auto imported, import_checked(bytes, name, reading));
    if (reading.for_names)
      return usage_error(Subject::kNameValues,
                         fmt::format("expected a program in asm form, found the policy {}", name));
    if (reading.library_filters && imported.request)
      return library_source(imported, name, path, reading);
    Program program = compile(imported.policy);
    std::function<std::vector<MixedCall>(const Assumption&)> contradicted;
    if (reading.library && imported.request)
      contradicted = [asked = imported, ask = reading.library](const Assumption& about) {
        return contradictions(asked, ask, about);
      };
    auto profile = profile_of(imported, bytes, name, reading);
    return Source{name,
                  std::move(program),
                  std::move(imported.policy),
                  {},
                  {path, false, {}},
                  std::move(profile),
                  kNotOptimized,
                  std::move(imported.parts),
                  imported.format,
                  std::move(imported.mixed),
                  std::move(contradicted),
                  std::move(imported.failures)};
  }
  auto form = reading.form;
  if (!form && reading.big_endian && bytes.find('\0') != std::string::npos)
    form = Form::kRawBigEndian;
  auto program = read_symbolic(bytes, name, form, c_names(reading.import.oci.arch));
  if (!program && read_audit_record(bytes, name))
    return make_error(ErrorCode::kParse, name,
                      "expected a program or a policy, found a record of the audit log",
                      Subject::kAuditRecord);
  if (!program) return program.error();
  RETURN_IF_ERROR(reading.names(*program, name));
  if (!form) form = detect_form(bytes);
  return Source{
      name,
      std::move(program->program),
      std::nullopt,
      std::move(program->uses),
      {path, *form == Form::kRaw || *form == Form::kRawBigEndian, std::move(program->lines)}};
}

void note_length(const std::string& name, ProgramView program, const Reading& reading) {
  if (program.size() > kMaxInsns)
    reading.note(
        fmt::format("note: {} has {} instructions, more than the {} that the kernel accepts; "
                    "secequiv examines it anyway",
                    name, program.size(), kMaxInsns));
}

void note_length(const Source& source, const Reading& reading) {
  if (!source.policy) note_length(source.title(), source.program, reading);
}

Status expect_legal(const Source& source) {
  if (const auto refusal = refusal_of(source.program, LengthRule::kUnlimited))
    return make_error(ErrorCode::kRejected, instruction_place(source, refusal->pc),
                      describe(*refusal, source.program));
  return Ok{};
}

Status expect_accepted(const Source& source, const Reading& reading) {
  RETURN_IF_ERROR(expect_legal(source));
  note_length(source, reading);
  return Ok{};
}

namespace {

// Returns whether replacing one whole word `late` in `first` by `early` gives `second`.
bool differs_in_word(std::string_view first, std::string_view second, std::string_view late,
                     std::string_view early) {
  const auto is_letter = [&](std::size_t at) {
    return at < first.size() && std::isalnum(static_cast<unsigned char>(first[at])) != 0;
  };
  for (std::size_t at = first.find(late); at != first.npos; at = first.find(late, at + 1)) {
    if (is_letter(at - 1) || is_letter(at + late.size())) continue;
    if (second == std::string(first).replace(at, late.size(), early)) return true;
  }
  return false;
}

// Prints a note if the names suggest that `before` was made from `after`, and the sizes do not
// contradict this. A shell's pattern can sort the names in this order. Stacks are not compared.
void note_swapped(std::span<const Source> befores, std::span<const Source> afters,
                  const Reading& reading) {
  if (befores.size() != 1 || afters.size() != 1) return;
  const Source& before = befores.front();
  const Source& after = afters.front();
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> kWords = {
      {{"after", "before"},
       {"new", "old"},
       {"optimized", "unoptimized"},
       {"optimized", "original"},
       {"opt", "orig"},
       {"opt", "unopt"}}};
  const bool policies = before.policy && after.policy;
  if (!policies && before.program.size() > after.program.size()) return;
  if (std::ranges::any_of(kWords, [&](const auto& words) {
        return differs_in_word(before.file.path, after.file.path, words.first, words.second);
      }))
    reading.note(fmt::format(
        "note: the first file should be the filter before the change, but it is called {} and the "
        "second is called {}: are they swapped?",
        before.title(), after.title()));
}

std::vector<ProfilePart> parts_of(std::span<const Source> sources) {
  std::vector<ProfilePart> out;
  for (const Source& source : sources)
    out.insert(out.end(), source.parts.begin(), source.parts.end());
  return out;
}

ReadFor read_for_host(const OciOptions& host) {
  return {std::string(arch_info(host.arch).name), host.kernel, host.capabilities};
}

void note_filters(std::span<const Source> filters, ReadNotes& out) {
  if (!out.read_for) out.read_for = read_for(filters);
  for (const Source& source : filters)
    out.failures.insert(out.failures.end(), source.failures.begin(), source.failures.end());
}

}  // namespace

std::optional<ReadFor> read_for(std::span<const Source> filters) {
  const auto found = std::ranges::find_if(
      filters, [](const Source& source) { return source.profile.has_value(); });
  if (found == filters.end()) return std::nullopt;
  return read_for_host(found->profile->options);
}

std::optional<ReadFor> read_for(const Import& imported, const Reading& reading) {
  if (!depends_on_container(imported)) return std::nullopt;
  return read_for_host(reading.import.oci);
}

ReadNotes notes_about(std::span<const Source> filters) {
  ReadNotes out;
  note_filters(filters, out);
  out.choices = choices_of({}, filters);
  return out;
}

ReadNotes notes_about(std::span<const Stack> stacks) {
  ReadNotes out;
  for (const Stack& stack : stacks) {
    note_filters(stack.filters, out);
    std::ranges::move(choices_of({}, stack.filters), std::back_inserter(out.choices));
  }
  return out;
}

PairNotes note_pair(std::span<const Source> before, std::span<const Source> after,
                    const Reading& reading) {
  note_swapped(before, after, reading);
  PairNotes out;
  out.require_whole = reading.require_whole;
  for (const auto& side : {before, after}) note_filters(side, out);
  const auto is_policy = [](const Source& source) { return source.policy.has_value(); };
  if (std::ranges::all_of(before, is_policy) && std::ranges::all_of(after, is_policy))
    out.not_compared = not_compared(parts_of(before), parts_of(after));
  out.choices = choices_of(before, after);
  if (!out.not_compared.empty()) reading.warning(out.short_warning());
  return out;
}

}  // namespace secequiv
