#include "harness/import/import_oci.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <ranges>
#include <set>
#include <span>
#include <utility>

#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/import/capabilities.h"
#include "harness/import/oci_entries.h"
#include "harness/import/oci_loading.h"
#include "harness/import/oci_names.h"
#include "harness/import/oci_rule.h"
#include "harness/import/oci_runtime.h"
#include "harness/policy/json.h"
#include "harness/policy/json_util.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kDefaultErrno = 1;  // EPERM, which runc returns if a profile has no errno

// All keys that runc, Docker or Podman know in each kind of object, including keys of comments.
constexpr std::array<std::string_view, 11> kProfileKeys = {
    "defaultAction", "defaultErrnoRet",  "defaultErrno", "architectures", "archMap", "flags",
    "listenerPath",  "listenerMetadata", "syscalls",     "comment",       "$schema"};
constexpr std::array<std::string_view, 3> kArchKeys = {"architecture", "subArchitectures",
                                                       "comment"};
constexpr std::array<std::string_view, 9> kEntryKeys = {
    "names", "name", "action", "errnoRet", "errno", "args", "comment", "includes", "excludes"};
constexpr std::array<std::string_view, 3> kFilterKeys = {"arches", "caps", "minKernel"};
constexpr std::array<std::string_view, 5> kArgKeys = {"index", "value", "valueTwo", "op",
                                                      "comment"};

// Folds a key as Go's encoding/json does for comparison: it ignores case, and two non-ASCII letters
// fold to ASCII.
std::string folded(std::string_view key) {
  std::string out;
  for (std::size_t i = 0; i < key.size(); ++i) {
    const std::string_view rest = key.substr(i);
    if (rest.starts_with("\u017f")) {  // long s
      out += 's';
      i += 1;
    } else if (rest.starts_with("\u212a")) {  // Kelvin
      out += 'k';
      i += 2;
    } else {
      out += rest[0] >= 'A' && rest[0] <= 'Z' ? static_cast<char>(rest[0] - 'A' + 'a') : rest[0];
    }
  }
  return out;
}

// Runtimes ignore the case of a key, but this importer does not. Keys in another case are therefore
// errors.
Status check_case(const JsonCursor& at, std::span<const std::string_view> known) {
  for (const auto& item : at.value().items())
    for (const std::string_view name : known)
      if (item.key() != name && folded(item.key()) == folded(name))
        return at.at(item.key())
            .fail(fmt::format(
                "expected the key '{}' in this spelling; runtimes ignore the case of keys", name));
  return Ok{};
}

// Returns the error about a text that is none of these names.
template <class Names>
Error misspelt(const JsonCursor& at, std::string_view text, std::string_view what,
               const Names& names) {
  Error out = at.expected(what);
  out.detail += did_you_mean(similar_names(text, names));
  return out;
}

class OciImporter {
 public:
  OciImporter(const JsonCursor& root, const OciOptions& options) : root_(root), options_(options) {}

  Result<OciImport> import() {
    if (!root_.value().is_object()) return root_.expected("a seccomp profile (an object)");
    RETURN_IF_ERROR(note_unknown_keys(root_, kProfileKeys));
    if (auto s = root_.required({"defaultAction"}); !s) {
      Error error = s.error();
      if (!out_.unknown.empty()) error.detail += "; found an " + out_.unknown.front().problem();
      return error;
    }
    ASSIGN_OR_RETURN(auto chosen, action(root_.at("defaultAction"), root_, "defaultErrnoRet"));
    checks_.check_default(root_, chosen);
    Policy& policy = out_.policy;
    policy.default_action = chosen;
    policy.default_position = root_.at("defaultAction").position("defaultAction");
    policy.bad_arch_action = kOciBadArchAction;
    policy.arches = {options_.arch};
    RETURN_IF_ERROR(flags());
    RETURN_IF_ERROR(architectures());
    refuse_x32(policy);
    if (root_.given("syscalls")) {
      const JsonCursor list = root_.at("syscalls");
      RETURN_IF_ERROR(list.array("an array of system call entries"));
      for (std::size_t i = 0; i < list.value().size(); ++i) RETURN_IF_ERROR(entry(list.at(i)));
    }
    entries_.finish();
    out_.request.default_action = policy.default_action;
    out_.request.arches = policy.arches;
    ASSIGN_OR_RETURN(out_.failures, std::move(checks_).failures(options_.runtimes));
    return std::move(out_);
  }

 private:
  // An unknown key may be a misspelt condition. Without that condition, an entry would match more
  // calls than its author intended.
  Status note_unknown_keys(const JsonCursor& at, std::span<const std::string_view> known) {
    RETURN_IF_ERROR(check_case(at, known));
    for (const auto& item : at.value().items())
      if (std::ranges::find(known, item.key()) == known.end())
        add_unknown(UnknownName::Kind::kKey, item.key(), at.at(item.key()),
                    did_you_mean(similar_names(item.key(), known)));
    return Ok{};
  }

  void add_unknown(UnknownName::Kind kind, const std::string& name, const JsonCursor& at,
                   std::string suggestion) {
    out_.unknown.push_back({kind, name, *at.position(at.path()).at, std::move(suggestion)});
  }

  Result<std::uint32_t> action(const JsonCursor& at, const JsonCursor& holder,
                               const std::string& errno_key) {
    ASSIGN_OR_RETURN(auto text, at.string("an action (SCMP_ACT_...)"));
    const auto* const known = entry_of(kOciActions, text, &OciAction::name);
    if (known == nullptr)
      return misspelt(at, text, "an action (SCMP_ACT_...)",
                      kOciActions | std::views::transform(&OciAction::name));
    if (!known->takes_errno) return known->action;
    std::uint32_t number = kDefaultErrno;
    if (holder.given(errno_key)) {
      ASSIGN_OR_RETURN(auto given, holder.at(errno_key).number32("an errno below 2^32"));
      // runc, crun and youki keep the bits for which an action has room.
      number = data_of(given);
      if (number != given)
        out_.unclear.push_back(fmt::format("the errno at {}: runtimes keep its lower 16 bits, {}",
                                           holder.at(errno_key).place(), number));
    }
    return known->action | number;
  }

  // Returns the strings in the list at `key`. A missing or null list is empty.
  static Result<std::vector<std::string>> strings(const JsonCursor& at, const char* key,
                                                  const char* all = "an array of strings",
                                                  const char* one = "a string") {
    std::vector<std::string> out;
    if (!at.given(key)) return out;
    const JsonCursor list = at.at(key);
    RETURN_IF_ERROR(list.array(all));
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto text, list.at(i).string(one));
      out.push_back(text);
    }
    return out;
  }

  // Notes a name that libseccomp does not know.
  void note_arch(const JsonCursor& at, const std::string& name) {
    const auto names = libseccomp_arches();
    if (!arch_from_name(name) && std::ranges::find(names, name) == names.end())
      add_unknown(UnknownName::Kind::kArchitecture, name, at,
                  did_you_mean(similar_names(name, names)));
  }

  static Result<std::vector<std::string>> arch_names(const JsonCursor& at, const char* key) {
    return strings(at, key, "an array of architectures", "an architecture (SCMP_ARCH_...)");
  }

  Status add_arches(const JsonCursor& at, const char* key) {
    ASSIGN_OR_RETURN(const auto listed, arch_names(at, key));
    const auto names = libseccomp_arches();
    for (std::size_t i = 0; i < listed.size(); ++i) {
      const std::string& name = listed[i];
      const auto arch = arch_from_name(name);
      checks_.check_arch(at.at(key).at(i), name);
      if (name == "SCMP_ARCH_NATIVE") continue;  // the host's, which libseccomp adds first
      if (!arch && std::ranges::find(names, name) != names.end()) {
        out_.skipped.push_back(fmt::format("architecture {}: secequiv does not know it", name));
        leave_out(at.at(key).at(i), name);
      } else if (arch && !out_.policy.has_arch(*arch)) {
        out_.policy.arches.push_back(*arch);
      }
    }
    return Ok{};
  }

  // Adds an architecture that is not for this host.
  void leave_out(const JsonCursor& at, const std::string& arch) {
    ProfilePart& out = out_.parts.emplace_back();
    out.content = content_of(at);
    out.position = *at.position(at.path()).at;
    out.position.condition = arch;
  }

  // Returns what a part does, apart from its calls and its guard.
  static std::string content_of(const JsonCursor& at) {
    nlohmann::json part = at.value();
    if (part.is_object())
      for (const char* key : {"comment", "name", "names", "includes", "excludes"}) part.erase(key);
    return part.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  // Flags change how a filter is installed, not what it decides.
  Status flags() {
    ASSIGN_OR_RETURN(const auto given,
                     strings(root_, "flags", "an array of flags", "a flag (SECCOMP_FILTER_...)"));
    for (std::size_t i = 0; i < given.size(); ++i)
      checks_.check_flag(root_.at("flags").at(i), given[i]);
    if (!given.empty())
      out_.skipped.push_back(
          fmt::format("the flags at {}: they change how the filter is "
                      "installed, not what it decides",
                      root_.at("flags").place()));
    return Ok{};
  }

  Status architectures() {
    RETURN_IF_ERROR(add_arches(root_, "architectures"));
    if (!root_.given("archMap")) return Ok{};
    const JsonCursor map = root_.at("archMap");
    RETURN_IF_ERROR(map.array("an array of architecture entries"));
    if (!map.value().empty() && root_.has("architectures") &&
        !root_.at("architectures").value().empty())
      return map.fail(
          "expected only one of 'architectures' and 'archMap', because runtimes refuse both "
          "together");
    for (std::size_t i = 0; i < map.value().size(); ++i) {
      const JsonCursor row = map.at(i);
      if (!row.value().is_object()) return row.expected("an architecture entry (an object)");
      RETURN_IF_ERROR(note_unknown_keys(row, kArchKeys));
      RETURN_IF_ERROR(row.required({"architecture"}));
      ASSIGN_OR_RETURN(auto name, row.at("architecture").string("an architecture (SCMP_ARCH_...)"));
      note_arch(row.at("architecture"), name);
      if (arch_from_name(name) != options_.arch) {
        ASSIGN_OR_RETURN(const auto names, arch_names(row, "subArchitectures"));
        for (std::size_t k = 0; k < names.size(); ++k)
          note_arch(row.at("subArchitectures").at(k), names[k]);
        leave_out(row, name);
        continue;
      }
      RETURN_IF_ERROR(add_arches(row, "subArchitectures"));
    }
    return Ok{};
  }

  bool is_host_arch(const std::string& name) const { return name == runtime_arch(options_.arch); }
  bool has_cap(const std::string& name) const {
    return std::ranges::find(options_.capabilities, name) != options_.capabilities.end();
  }

  // Reads the filter at `key` ("includes" or "excludes"), if the entry has it.
  Result<Guard::Filter> filter(const JsonCursor& at, const char* key) {
    Guard::Filter out;
    if (!at.given(key)) return out;
    const JsonCursor inner = at.at(key);
    if (!inner.value().is_object()) return inner.expected("an object of arches, caps, minKernel");
    RETURN_IF_ERROR(note_unknown_keys(inner, kFilterKeys));
    ASSIGN_OR_RETURN(auto caps, strings(inner, "caps"));
    out.caps = std::move(caps);
    for (std::size_t i = 0; i < out.caps.size(); ++i)
      add_capability(out.caps[i], inner.at("caps").at(i));
    ASSIGN_OR_RETURN(auto arches, strings(inner, "arches"));
    out.arches = std::move(arches);
    for (std::size_t i = 0; i < out.arches.size(); ++i)
      check_runtime_arch(out.arches[i], inner.at("arches").at(i));
    RETURN_IF_ERROR(read_min_kernel(inner, out));
    return out;
  }

  void add_capability(const std::string& name, const JsonCursor& at) {
    if (!is_capability(name))
      add_unknown(UnknownName::Kind::kCapability, name, at,
                  did_you_mean(similar_names(name, capability_names())));
    else if (std::ranges::find(out_.capabilities, name) == out_.capabilities.end())
      out_.capabilities.push_back(name);
  }

  void check_runtime_arch(const std::string& name, const JsonCursor& at) {
    if (std::ranges::find(runtime_arches(), name) != runtime_arches().end()) return;
    const auto meant = arch_from_name(name);
    add_unknown(UnknownName::Kind::kArchitecture, name, at,
                meant ? fmt::format("; runtimes expect the name {} here", runtime_arch(*meant))
                      : did_you_mean(similar_names(name, runtime_arches())));
  }

  Status read_min_kernel(const JsonCursor& at, Guard::Filter& out) {
    if (!at.given("minKernel")) return Ok{};
    ASSIGN_OR_RETURN(auto text, at.at("minKernel").string("a kernel version like \"4.8\""));
    if (text.empty()) return Ok{};
    out.min_kernel = kernel_version(text);
    if (!out.min_kernel) return at.at("minKernel").expected("a kernel version like \"4.8\"");
    if (std::ranges::find(out_.kernels, *out.min_kernel) == out_.kernels.end())
      out_.kernels.push_back(*out.min_kernel);
    if (!kernel_version(options_.kernel))
      return usage_error(Subject::kKernelVersion, kernel_version_problem(options_.kernel));
    out.kernel_text = text;
    return Ok{};
  }

  // Follows moby's rules. Any excluded architecture or capability drops the entry. A list of
  // included architectures must contain the host's, and all included capabilities must be granted.
  bool applies(const Guard& guard) const {
    const auto is_host = [&](const std::string& name) { return is_host_arch(name); };
    const auto has = [&](const std::string& name) { return has_cap(name); };
    const auto has_kernel = [&](const Guard::Filter& filter) {
      return *kernel_version(options_.kernel) >= *filter.min_kernel;
    };
    const auto& [includes, excludes] = guard;
    if (std::ranges::any_of(excludes.arches, is_host) || std::ranges::any_of(excludes.caps, has))
      return false;
    if (excludes.min_kernel && has_kernel(excludes)) return false;
    if (!includes.arches.empty() && std::ranges::none_of(includes.arches, is_host)) return false;
    return std::ranges::all_of(includes.caps, has) &&
           (!includes.min_kernel || has_kernel(includes));
  }

  Result<Guard> guard_of(const JsonCursor& at) {
    ASSIGN_OR_RETURN(auto excludes, filter(at, "excludes"));
    ASSIGN_OR_RETURN(auto includes, filter(at, "includes"));
    return Guard{std::move(includes), std::move(excludes)};
  }

  // Returns the names of an entry's system calls.
  Result<std::vector<std::string>> call_names(const JsonCursor& at) {
    auto names = strings(at, "names");
    if (!names) return names.error();
    if (!at.has("name") && !at.has("names")) return at.fail("the entry names no system call");
    if (at.given("name")) {
      ASSIGN_OR_RETURN(auto name, at.at("name").string("a system call name"));
      if (!name.empty() && !names->empty())
        return at.fail(
            "expected only one of 'name' and 'names', because runtimes refuse both together");
      if (!name.empty()) names->push_back(name);
    }
    if (names->empty())
      out_.skipped.push_back(fmt::format("the entry at {}: it names no system call", at.place()));
    return names;
  }

  [[nodiscard]] bool is_left_out(const std::string& entry, const std::vector<std::string>& names,
                                 std::size_t i) const {
    const auto here = std::ranges::count_if(options_.without, [&](const OciName& one) {
      return one.entry == entry && one.name == names[i];
    });
    return std::count(names.begin() + static_cast<std::ptrdiff_t>(i), names.end(), names[i]) <=
           here;
  }

  Status entry(const JsonCursor& at) {
    if (!at.value().is_object()) return at.expected("a system call entry (an object)");
    RETURN_IF_ERROR(note_unknown_keys(at, kEntryKeys));
    ASSIGN_OR_RETURN(auto guard, guard_of(at));
    const bool wanted = applies(guard);
    ASSIGN_OR_RETURN(auto names, call_names(at));
    RETURN_IF_ERROR(at.required({"action"}));
    ASSIGN_OR_RETURN(auto chosen, action(at.at("action"), at, "errnoRet"));
    ASSIGN_OR_RETURN(auto rule, conditions(at));
    if (wanted) checks_.check_entry(at, names, chosen);
    const std::string why = guard.text();
    add_parts(at, names, {"", content_of(at), std::move(guard), wanted});
    const bool skipped = chosen == out_.policy.default_action;
    if (wanted && !skipped) entries_.choose(chosen);
    const bool listed = at.given("names") && !at.value()["names"].empty();
    for (std::size_t i = 0; i < names.size(); ++i) {
      const PositionRef found =
          listed ? at.at("names").at(i).position(at.path()) : at.at("name").position(at.path());
      RulePosition position = *found.at;
      position.condition = why;
      entries_.note_unknown(names[i], position);
      if (!wanted || is_left_out(at.path(), names, i)) continue;
      if (skipped)
        entries_.skip(names[i], rule, position);
      else
        entries_.add(names[i], rule, position);
    }
    return Ok{};
  }

  void add_parts(const JsonCursor& at, const std::vector<std::string>& names, ProfilePart part) {
    part.position = *at.position(at.path()).at;
    part.position.condition = part.guard.text();
    for (const std::string& name : names) {
      part.name = name;
      out_.parts.push_back(part);
    }
  }

  Result<Rule> conditions(const JsonCursor& at) {
    Rule all;
    if (!at.given("args")) return all;
    const JsonCursor list = at.at("args");
    RETURN_IF_ERROR(list.array("an array of conditions"));
    if (list.value().empty()) return all;
    std::vector<Rule> conditions;
    std::set<std::uint32_t> fields;
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      ASSIGN_OR_RETURN(auto one, condition(list.at(i), fields));
      conditions.push_back(std::move(one));
    }
    if (conditions.size() == 1) return std::move(conditions[0]);
    all.kind = fields.size() == conditions.size() ? Rule::Kind::kAllOf : Rule::Kind::kAnyOf;
    all.children = std::move(conditions);
    return all;
  }

  Result<Rule> condition(const JsonCursor& at, std::set<std::uint32_t>& fields) {
    if (!at.value().is_object()) return at.expected("a condition (an object)");
    RETURN_IF_ERROR(note_unknown_keys(at, kArgKeys));
    RETURN_IF_ERROR(at.required({"index", "value", "op"}));
    ASSIGN_OR_RETURN(auto index, at.at("index").number32("an argument index from 0 to 5"));
    if (index >= static_cast<std::uint32_t>(kArgCount))
      return at.at("index").expected("an argument index from 0 to 5");
    ASSIGN_OR_RETURN(auto value, at.at("value").number64());
    ASSIGN_OR_RETURN(auto second, at.given("valueTwo") ? at.at("valueTwo").number64()
                                                       : Result<std::uint64_t>(std::uint64_t{0}));
    ASSIGN_OR_RETURN(auto op, at.at("op").string("an operator (SCMP_CMP_...)"));
    const auto* const known = entry_of(kOciOperators, op, &OciOperator::name);
    if (known == nullptr)
      return misspelt(at.at("op"), op, "an operator (SCMP_CMP_...)",
                      kOciOperators | std::views::transform(&OciOperator::name));
    Rule rule;
    rule.kind = Rule::Kind::kArgs;
    Matcher& m = rule.fields[index];
    m.op = known->op;
    m.value = value;
    if (m.op == Matcher::Op::kMaskedEq) {
      m.mask = value;
      m.value = second & m.mask;  // libseccomp also masks the value
    }
    fields.insert(index);
    return rule;
  }

  JsonCursor root_;
  const OciOptions& options_;
  OciImport out_;
  LoadChecks checks_{options_.arch, out_.unclear};
  OciEntries entries_{options_.arch, out_, checks_};
};

}  // namespace

bool is_kernel_version(std::string_view text) { return kernel_version(text).has_value(); }

std::string kernel_version_problem(std::string_view text) {
  if (is_kernel_version(text)) return {};
  return fmt::format("expected a version like 6.1, found '{}'", text);
}

std::string UnknownName::problem() const {
  switch (kind) {
    case Kind::kCall:
      return fmt::format("no architecture has a system call '{}'{}", name, suggestion);
    case Kind::kKey:
      return fmt::format("unknown key '{}', which runtimes ignore{}", name, suggestion);
    case Kind::kArchitecture:
      return fmt::format("unknown architecture '{}'{}", name, suggestion);
    case Kind::kCapability:
      return fmt::format("unknown capability '{}'{}", name, suggestion);
  }
  return {};
}

std::vector<RulePosition> MixedCall::matching() const {
  std::vector<RulePosition> out;
  for (const RuleSet& set : entries) {
    const SyscallRule& entry = set.rules.front();
    if (!input || entry.rule.matches(*input, arch_info(entry.arch).endian))
      out.push_back(*entry.rule.position.at);
  }
  // libseccomp may also decide an input that no entry of the call matches.
  if (out.empty())
    for (const RuleSet& set : entries) out.push_back(*set.rules.front().rule.position.at);
  return out;
}

std::string MixedCall::text() const {
  const SyscallRule& entry = entries.front().rules.front();
  constexpr std::size_t kShown = 8;
  const std::string places =
      first_and_count(matching(), kShown, [](const auto& one) { return place_in_file(one); });
  if (contradiction)
    return input ? fmt::format("{} on {}: {}; see {}, for inputs such as {}",
                               syscall_name(entry.arch, entry.nr), arch_info(entry.arch).name,
                               contradiction->text, places, describe(*input))
                 : contradiction->text;
  return fmt::format(
      "{} on {}: libseccomp chooses one of the entries at {}, regardless of their order, {}",
      syscall_name(entry.arch, entry.nr), arch_info(entry.arch).name, places,
      input ? "for inputs such as " + describe(*input)
            : std::string("unless they never match the same input, which is undecided"));
}

std::string UnknownName::text() const { return fmt::format("{}: {}", position.text(), problem()); }

Result<OciImport> import_oci(std::string_view text, const std::string& name,
                             const OciOptions& options) {
  ASSIGN_OR_RETURN(auto document, parse_json_lines(text, name));
  const JsonCursor root(document, name);
  // A runtime-spec config.json has the profile at /linux/seccomp, and a Kubernetes object of kind
  // SeccompProfile has it at /spec.
  if (!root.has("defaultAction") && root.has("linux")) {
    constexpr std::array<std::string_view, 1> kOuter = {"linux"};
    constexpr std::array<std::string_view, 1> kInner = {"seccomp"};
    RETURN_IF_ERROR(check_case(root, kOuter));
    RETURN_IF_ERROR(check_case(root.at("linux"), kInner));
    if (!root.at("linux").has("seccomp"))
      return root.fail("expected a seccomp profile at /linux/seccomp, found none");
    return OciImporter(root.at("linux").at("seccomp"), options).import();
  }
  if (!root.has("defaultAction") && root.has("spec")) {
    const JsonCursor spec = root.at("spec");
    if (spec.has("baseProfileName"))
      return spec.at("baseProfileName")
          .fail("expected a complete profile, found one that extends a profile in another file");
    return OciImporter(spec, options).import();
  }
  return OciImporter(root, options).import();
}

}  // namespace secequiv
