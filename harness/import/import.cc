#include "harness/import/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>

#include "harness/base/text.h"
#include "harness/import/import_minijail.h"
#include "harness/import/import_pfc.h"
#include "harness/import/import_seccompiler.h"
#include "harness/policy/json.h"
#include "harness/policy/json_util.h"

namespace secequiv {
namespace {

struct FormatName {
  PolicyFormat format;
  std::string_view name;
};
constexpr FormatName kFormats[] = {
    {PolicyFormat::kOwn, "policy"},
    {PolicyFormat::kOci, "oci"},
    {PolicyFormat::kSeccompiler, "seccompiler"},
    {PolicyFormat::kMinijail, "minijail"},
    {PolicyFormat::kMinijailCompiler, "minijail-compiler"},
    {PolicyFormat::kPfc, "pfc"},
};

// Skips blanks and comments. JSON has no comments, but editors' dialects of JSON do.
std::size_t start_of(std::string_view text) {
  std::size_t at = text.find_first_not_of(" \t\r\n");
  while (at != text.npos) {
    const std::string_view rest = text.substr(at);
    const bool line = rest.starts_with("//");
    if (!line && !rest.starts_with("/*")) break;
    const std::size_t end = text.find(line ? "\n" : "*/", at + 2);
    at = end == text.npos ? end : text.find_first_not_of(" \t\r\n", end + (line ? 1 : 2));
  }
  return at;
}

// Returns whether `text` is a JSON document, perhaps with comments, and not C initializers.
bool looks_like_json(std::string_view text) {
  const std::size_t brace = start_of(text);
  if (brace == std::string_view::npos) return false;
  if (text[brace] != '{' && text[brace] != '[') return false;
  const std::string_view rest = text.substr(brace + 1);
  const std::size_t inside = start_of(rest);
  if (inside == rest.npos) return false;
  const char next = rest[inside];  // in C, "[0] = {...}" initializes one element
  return next == '"' || next == (text[brace] == '{' ? '}' : ']') ||
         (text[brace] == '[' && (next == '{' || next == '['));
}

// If the text has a JSON syntax error or is no object, the result is our own format, because its
// reader reports the error. Returns nothing for an object whose keys belong to no format.
std::optional<PolicyFormat> format_of(std::string_view text) {
  if (is_pfc(text)) return PolicyFormat::kPfc;
  if (is_minijail(text)) return PolicyFormat::kMinijail;
  const auto document = parse_json(text, "");
  if (!document || !document->is_object() || document->contains("rule_sets"))
    return PolicyFormat::kOwn;
  if (document->contains("defaultAction") || document->contains("syscalls") ||
      document->contains("linux") || document->contains("spec"))
    return PolicyFormat::kOci;
  if (is_seccompiler(*document)) return PolicyFormat::kSeccompiler;
  constexpr std::array kOwnKeys = {"version", "name", "arches", "default_action"};
  const bool own =
      std::ranges::any_of(kOwnKeys, [&](const char* key) { return document->contains(key); });
  return own ? std::optional(PolicyFormat::kOwn) : std::nullopt;
}

}  // namespace

bool is_policy(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) return false;
  text = without_bom(text);
  return looks_like_json(text) || is_pfc(text) || is_minijail(text);
}

std::string_view policy_format_name(PolicyFormat format) {
  return std::ranges::find(kFormats, format, &FormatName::format)->name;
}

std::optional<PolicyFormat> policy_format_from_name(std::string_view name) {
  const auto known = std::ranges::find(kFormats, name, &FormatName::name);
  if (known == std::end(kFormats)) return std::nullopt;
  return known->format;
}

std::vector<std::string> policy_format_names() {
  std::vector<std::string> out;
  for (const FormatName& each : kFormats) out.emplace_back(each.name);
  return out;
}

namespace {

Result<Import> import_as(PolicyFormat format, bool is_chosen, std::string_view text,
                         const std::string& name, const ImportOptions& options) {
  switch (format) {
    case PolicyFormat::kOwn: {
      ASSIGN_OR_RETURN(auto policy, read_policy(text, name));
      return Import{std::move(policy), {}, format};
    }
    case PolicyFormat::kOci: {
      ASSIGN_OR_RETURN(auto imported, import_oci(text, name, options.oci));
      Import out{std::move(imported.policy), {}, format};
      for (const std::string& note : imported.skipped) out.notes.push_back("skipped " + note);
      std::ranges::move(imported.unclear, std::back_inserter(out.notes));
      out.unknown = std::move(imported.unknown);
      out.capabilities = std::move(imported.capabilities);
      out.kernels = std::move(imported.kernels);
      out.parts = std::move(imported.parts);
      out.idle = std::move(imported.idle);
      out.mixed = std::move(imported.mixed);
      out.request = std::move(imported.request);
      out.failures = std::move(imported.failures);
      out.without = [whole = std::string(text), name, options](std::vector<OciName> names) {
        ImportOptions fewer = options;
        fewer.oci.without = std::move(names);
        return import_policy(whole, name, PolicyFormat::kOci, fewer);
      };
      return out;
    }
    case PolicyFormat::kSeccompiler:
      return import_seccompiler(text, name, options);
    case PolicyFormat::kMinijail:
      return import_minijail(
          text, name, is_chosen ? std::nullopt : std::optional(MinijailTool::kMinijail0), options);
    case PolicyFormat::kMinijailCompiler:
      return import_minijail(text, name, MinijailTool::kCompiler, options);
    case PolicyFormat::kPfc:
      return import_pfc(text, name);
  }
  return make_error(ErrorCode::kInternal, name, "no such format");
}

}  // namespace

Result<Import> import_policy(std::string_view text, const std::string& name,
                             std::optional<PolicyFormat> format, const ImportOptions& options) {
  text = without_bom(text);
  if (text.find_first_not_of(" \t\r\n") == text.npos)
    return make_error(ErrorCode::kParse, name, "expected a policy, found an empty file");
  const auto used = format ? format : format_of(text);
  if (!used) {
    Error error = read_policy(text, name).error();
    error.detail =
        "expected a policy: an OCI profile ('defaultAction', 'syscalls'), seccompiler's filters, "
        "or our own ('version', 'rule_sets'); found none of their keys";
    return error;
  }
  auto out = import_as(*used, !format, text, name, options);
  if (!out) return out;
  if (out->policy.has_arch(Arch::kX32) && !out->policy.has_arch(Arch::kX86_64))
    return make_error(ErrorCode::kPolicy, name, std::string(kLoneX32));
  out->format = *used;
  return out;
}

Status filter_fits(const std::string& filter, std::optional<PolicyFormat> format,
                   const std::string& name) {
  if (filter.empty() || format == PolicyFormat::kSeccompiler) return Ok{};
  return usage_error(
      Subject::kFilter,
      fmt::format("{} is not in seccompiler's format, the only one with several filters in a file",
                  name));
}

}  // namespace secequiv
