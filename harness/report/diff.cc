#include "harness/report/diff.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/policy/json.h"
#include "harness/report/json.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

constexpr std::uint32_t kAll = 0xffffffff;

// The set's only value, if it has one.
std::optional<std::uint32_t> only(const WordSet& set) {
  if (set.negated || !set.cubes.empty() || set.intervals.size() != 1) return std::nullopt;
  const WordSet::Interval& i = set.intervals.front();
  return i.first == i.last ? std::optional(i.first) : std::nullopt;
}

const WordSet* find(const Region& region, std::uint32_t word) {
  const auto at = std::ranges::find(region.words, word, &WordSet::word);
  return at == region.words.end() ? nullptr : &*at;
}

// One field's conditions. `high` stands above the word's 32 bits.
template <class Name>
std::string set_text(const std::string& field, const WordSet& set, std::uint64_t high,
                     std::uint64_t top, const Name& name) {
  std::vector<std::string> tests;
  if (set.base.mask != 0)
    tests.push_back(fmt::format("{} & {:#x} == {:#x}", field, set.base.mask, set.base.value));
  const bool single = set.intervals.size() == 1;
  if (single && set.intervals[0].first == set.intervals[0].last) {
    tests.push_back(fmt::format("{} {} {}", field,
                                set.negated ? "!=" : "==", name(high | set.intervals[0].first)));
  } else if (single && set.intervals[0].last == kAll && high == top) {
    tests.push_back(fmt::format("{} {} {}", field,
                                set.negated ? "<" : ">=", name(high | set.intervals[0].first)));
  } else if (single && set.intervals[0].first == 0 && high == 0) {
    tests.push_back(fmt::format("{} {} {}", field,
                                set.negated ? ">" : "<=", name(high | set.intervals[0].last)));
  } else if (!set.intervals.empty()) {
    std::string items;
    for (const WordSet::Interval& i : set.intervals) {
      if (!items.empty()) items += ", ";
      items += name(high | i.first);
      if (i.last != i.first) items += ".." + name(high | i.last);
    }
    tests.push_back(fmt::format("{} {}in {{{}}}", field, set.negated ? "not " : "", items));
  }
  for (const WordSet::Cube& cube : set.cubes)
    tests.push_back(fmt::format("{} & {:#x} {} {:#x}", field, cube.mask,
                                set.negated ? "!=" : "==", cube.value));
  if (tests.size() == 1) return tests[0];
  if (set.negated) return fmt::format("{}", fmt::join(tests, " && "));
  return fmt::format("({})", fmt::join(tests, " || "));
}

std::string hex(std::uint64_t value) { return fmt::format("{:#x}", value); }

// A system call's number.
std::string plain(std::uint32_t nr) { return nr < 4096 ? fmt::format("{}", nr) : hex(nr); }

// The architecture all inputs of the region have, if there is one.
std::optional<std::uint32_t> audit_of(const Region& region) {
  const WordSet* set = find(region, kArchWord);
  return set == nullptr ? std::nullopt : only(*set);
}

std::string arch_text(const WordSet& set) {
  return set_text("arch", set, 0, 0, [](std::uint64_t value) {
    const auto arch = arch_from_data(static_cast<std::uint32_t>(value), 0);
    return arch ? std::string(arch_info(*arch).name) : hex(value);
  });
}

std::string nr_text(const WordSet& set, std::optional<std::uint32_t> audit, Arch host) {
  return set_text("nr", set, 0, 0, [&](std::uint64_t value) {
    const auto nr = static_cast<std::uint32_t>(value);
    if (const auto arch = audit ? arch_from_data(*audit, nr) : std::nullopt) {
      const std::string name(syscall_name(*arch, nr));
      if (name.empty()) return plain(nr);
      return *arch == host ? name : fmt::format("{}:{}", arch_info(*arch).name, name);
    }
    return plain(nr);
  });
}

// The conditions on one 64-bit field, as one where the high half has one value only.
void field_text(const Region& region, int field, Endian endian, std::vector<std::string>& out) {
  const WordSet* high = find(region, half_word(field, true, endian));
  const WordSet* low = find(region, half_word(field, false, endian));
  const std::string name = field == kIpField ? "ip" : fmt::format("arg{}", field);
  const auto fixed = high != nullptr ? only(*high) : std::nullopt;
  if (low != nullptr && fixed && !low->negated && low->cubes.empty()) {
    const std::uint64_t above = std::uint64_t{*fixed} << 32;
    out.push_back(set_text(name, *low, above, std::uint64_t{kAll} << 32, hex));
    return;
  }
  if (high != nullptr) out.push_back(set_text(name + ".hi", *high, 0, 0, hex));
  if (low != nullptr) out.push_back(set_text(name + ".lo", *low, 0, 0, hex));
}

std::string action_text(const ReturnValue& value) {
  if (value.value) return describe_action(*value.value);
  // The name alone: "ERRNO" of "ERRNO(1 EPERM)".
  if (value.action) {
    const std::string name = describe_action(*value.action);
    return name.substr(0, name.find('(')) + "(computed from the input)";
  }
  return "computed from the input";
}

ordered_json action_json(const ReturnValue& value) {
  if (!value.value && !value.action) return nullptr;
  if (!value.value) return {{"action", action_text(value)}};
  return value_json(*value.value);
}

ordered_json word_json(const WordSet& set) {
  ordered_json out{{"word", set.word}, {"negated", set.negated}};
  if (set.negated) out["base"] = {{"mask", set.base.mask}, {"value", set.base.value}};
  out["intervals"] = ordered_json::array();
  for (const WordSet::Interval& i : set.intervals) out["intervals"].push_back({i.first, i.last});
  out["cubes"] = ordered_json::array();
  for (const WordSet::Cube& c : set.cubes)
    out["cubes"].push_back({{"mask", c.mask}, {"value", c.value}});
  return out;
}

// The regions of a document, by all that it says of them.
Result<std::map<std::string, std::string>> lines_of(const ordered_json& document,
                                                    const std::string& file) {
  using Json = ordered_json;
  std::string pointer;
  const auto member = [&](const Json& object, const char* key) -> const Json* {
    pointer += fmt::format("/{}", key);
    return object.is_object() && object.contains(key) ? &object[key] : nullptr;
  };
  const auto wrong = [&](const char* what, const Json* found) {
    return make_error(ErrorCode::kParse, fmt::format("{}#{}", file, pointer),
                      fmt::format("expected {}, found {}", what,
                                  found == nullptr ? "nothing" : found->type_name()));
  };
  const auto action = [](const Json& value) -> std::optional<std::string> {
    if (!value.is_object() || !value.contains("value") || !value.contains("action") ||
        !value["action"].is_string())
      return std::nullopt;
    return value["action"].get<std::string>();
  };
  std::map<std::string, std::string> out;
  const Json* changes = member(document, "changes");
  if (changes == nullptr || !changes->is_array()) return wrong("a list of changes", changes);
  for (std::size_t i = 0; i < changes->size(); ++i) {
    const Json& change = (*changes)[i];
    const std::string here = fmt::format("/changes/{}", i);
    std::string sides[2];
    for (const int side : {0, 1}) {
      pointer = here;
      const Json* value = member(change, side == 0 ? "before" : "after");
      const auto text = value == nullptr ? std::nullopt : action(*value);
      if (!text) return wrong("an action", value);
      sides[side] = *text;
    }
    pointer = here;
    const Json* regions = member(change, "regions");
    if (regions == nullptr || !regions->is_array()) return wrong("a list of regions", regions);
    for (std::size_t k = 0; k < regions->size(); ++k) {
      const std::string region = fmt::format("{}/regions/{}", here, k);
      pointer = region;
      const Json* condition = member((*regions)[k], "condition");
      if (condition == nullptr || !condition->is_string()) return wrong("a condition", condition);
      out.emplace(nlohmann::json({change["before"], change["after"], (*regions)[k]}).dump(),
                  fmt::format("{} -> {}: {}", sides[0], sides[1], condition->get<std::string>()));
    }
  }
  return out;
}

// The decimal number divided by two, and whether it was odd.
bool halve(std::string& decimal) {
  int carry = 0;
  for (char& digit : decimal) {
    const int value = carry * 10 + (digit - '0');
    digit = static_cast<char>('0' + value / 2);
    carry = value % 2;
  }
  if (decimal.size() > 1 && decimal[0] == '0') decimal.erase(0, 1);
  return carry != 0;
}

}  // namespace

std::string condition_text(const Region& region, Arch host) {
  const auto audit = audit_of(region);
  if (audit && *audit != arch_info(host).audit) host = arch_from_data(*audit, 0).value_or(host);
  const Endian endian = arch_info(host).endian;
  std::vector<std::string> out;
  if (const WordSet* arch = find(region, kArchWord)) out.push_back(arch_text(*arch));
  if (const WordSet* nr = find(region, kNrWord)) out.push_back(nr_text(*nr, audit, host));
  field_text(region, kIpField, endian, out);
  for (int field = 0; field < kArgCount; ++field) field_text(region, field, endian, out);
  return out.empty() ? "true" : fmt::format("{}", fmt::join(out, " && "));
}

std::string short_condition(const std::string& condition) {
  constexpr std::size_t kShown = 8;
  std::string out;
  std::size_t items = 0;  // in the list at hand, less one
  bool in_list = false;
  for (const char c : condition) {
    if (c == '{') {
      in_list = true;
      items = 0;
    }
    if (c == ',' && in_list) ++items;
    if (c == '}') {
      if (items >= kShown) out += fmt::format(", ... {} more", items + 1 - kShown);
      in_list = false;
    }
    if (!in_list || items < kShown) out += c;
  }
  return out;
}

std::string summary(const Change& change, const Region& region, Arch host) {
  const auto allowed = [](const ReturnValue& value) {
    return value.action == SECCOMP_RET_ALLOW || value.action == SECCOMP_RET_LOG;
  };
  Region others = region;
  std::erase_if(others.words,
                [](const WordSet& set) { return set.word == kArchWord || set.word == kNrWord; });
  const auto audit = audit_of(region);
  std::string calls;
  if (const WordSet* arch = find(region, kArchWord))
    calls = audit ? arch_text(*arch).substr(std::string_view("arch == ").size()) : arch_text(*arch);
  const WordSet* nr = find(region, kNrWord);
  const Arch own = (audit ? arch_from_data(*audit, 0) : std::nullopt).value_or(host);
  std::string numbers = nr == nullptr ? "every system call" : nr_text(*nr, audit, own);
  if (nr != nullptr && only(*nr)) numbers = numbers.substr(std::string_view("nr == ").size());
  calls += (calls.empty() ? "" : " ") + numbers;
  const std::string now = action_text(change.after);
  const std::string was = action_text(change.before);
  const std::string what = change.before.action && !allowed(change.before) && allowed(change.after)
                               ? fmt::format("newly allowed (was {})", was)
                           : change.after.action && allowed(change.before) && !allowed(change.after)
                               ? fmt::format("no longer allowed (now {})", now)
                               : fmt::format("now {} instead of {}", now, was);
  return fmt::format(
      "{}: {}{}", calls, what,
      others.words.empty() ? ", whatever the arguments" : " if " + condition_text(others, own));
}

std::string count_text(const std::string& decimal) {
  constexpr std::size_t kShort = 9;
  std::string odd = decimal;
  int twos = 0;
  if (decimal != "0")
    for (std::string half = odd; !halve(half); odd = half) ++twos;
  if (decimal.size() <= kShort) return decimal;
  if (odd == "1") return fmt::format("2^{}", twos);
  if (odd.size() <= kShort) return fmt::format("{} * 2^{}", odd, twos);
  return fmt::format("about {}.{}e+{}", decimal[0], decimal.substr(1, 2), decimal.size() - 1);
}

std::string not_shown_text(const RegionList& list, std::size_t shown, int indent) {
  if (list.is_all(shown)) return "";
  return fmt::format("{:{}}... {} of {} regions shown (--max-regions)\n", "", indent, shown,
                     list.region_count);
}

std::string diff_text(const Difference& difference, std::size_t most, Arch host) {
  std::string out;
  for (const Change& change : difference.changes) {
    out += fmt::format("{} -> {}: {} input{} in {} region{}\n", action_text(change.before),
                       action_text(change.after), count_text(change.where.count),
                       change.where.count == "1" ? "" : "s", change.where.region_count,
                       change.where.region_count == "1" ? "" : "s");
    const auto shown = std::min(most, change.where.regions.size());
    for (const Region& region : std::span(change.where.regions).first(shown))
      out += fmt::format("  {}\n", condition_text(region, host));
    out += not_shown_text(change.where, shown, 2);
  }
  return out;
}

ordered_json to_json(const Difference& difference, const Question& question, std::size_t most,
                     Arch host) {
  ordered_json out{{"schema", "secequiv.diff/1"},
                   {"verdict", verdict_name(difference.changes.empty() ? Verdict::kEquivalent
                                                                       : Verdict::kDifferent)},
                   {"question", to_json(question)},
                   {"count", difference.count}};
  out["changes"] = ordered_json::array();
  for (const Change& change : difference.changes) {
    ordered_json row{{"before", action_json(change.before)},
                     {"after", action_json(change.after)},
                     {"count", change.where.count},
                     {"region_count", change.where.region_count}};
    row["regions"] = ordered_json::array();
    const auto shown = std::min(most, change.where.regions.size());
    for (const Region& region : std::span(change.where.regions).first(shown)) {
      ordered_json one{{"condition", condition_text(region, host)}, {"count", region.count}};
      one["words"] = ordered_json::array();
      for (const WordSet& set : region.words) one["words"].push_back(word_json(set));
      row["regions"].push_back(std::move(one));
    }
    out["changes"].push_back(std::move(row));
  }
  return out;
}

Result<ordered_json> read_expectation(std::string_view text, const std::string& name) {
  auto parsed = parse_json(text, name);
  if (!parsed) return parsed.error();
  const bool ours =
      parsed->is_object() && parsed->contains("schema") && (*parsed)["schema"] == "secequiv.diff/1";
  if (!ours)
    return make_error(ErrorCode::kParse, name,
                      "expected a document of --write-expect (schema secequiv.diff/1)");
  return ordered_json(*parsed);
}

Result<std::vector<std::string>> unexpected(const ordered_json& expected, const std::string& file,
                                            const ordered_json& found) {
  const auto old_lines = lines_of(expected, file);
  if (!old_lines) return old_lines.error();
  const auto new_lines = lines_of(found, "found");
  if (!new_lines) return new_lines.error();
  // The order of keys in a file means nothing.
  using Unordered = nlohmann::json;
  if (!expected.contains("question") ||
      Unordered(expected["question"]) != Unordered(found["question"]))
    return make_error(
        ErrorCode::kUsage, file,
        fmt::format("expected the answer to this question, {}; found {}", found["question"].dump(),
                    expected.contains("question") ? expected["question"].dump() : "none"));
  std::vector<std::string> out;
  for (const auto& [key, line] : *new_lines)
    if (!old_lines->contains(key)) out.push_back("+ " + line);
  for (const auto& [key, line] : *old_lines)
    if (!new_lines->contains(key)) out.push_back("- " + line);
  // Counts above those of regions follow from them.
  if (out.empty() && Unordered(expected) != Unordered(found))
    return make_error(ErrorCode::kParse, file,
                      "expected counts that are the sums of those of the regions");
  std::ranges::sort(out);
  return out;
}

}  // namespace secequiv
