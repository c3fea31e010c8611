#include "harness/report/expectation.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "harness/policy/json.h"
#include "harness/report/regions.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::optional<std::uint32_t> word32(const ordered_json& value) {
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > UINT32_MAX) return std::nullopt;
  return value.get<std::uint32_t>();
}

std::optional<WordSet::Cube> cube_of(const ordered_json& value) {
  if (!value.is_object() || !value.contains("mask") || !value.contains("value"))
    return std::nullopt;
  const auto mask = word32(value["mask"]);
  const auto bits = word32(value["value"]);
  if (!mask || !bits) return std::nullopt;
  return WordSet::Cube{*mask, *bits};
}

// Reads the condition on one word that word_json (diff.cc) wrote.
std::optional<WordSet> word_set_of(const ordered_json& row) {
  if (!row.is_object()) return std::nullopt;
  for (const char* key : {"word", "negated", "intervals", "cubes"})
    if (!row.contains(key)) return std::nullopt;
  const auto word = word32(row["word"]);
  if (!word || !row["negated"].is_boolean() || !row["intervals"].is_array() ||
      !row["cubes"].is_array())
    return std::nullopt;
  WordSet out;
  out.word = *word;
  out.negated = row["negated"].get<bool>();
  for (const ordered_json& pair : row["intervals"]) {
    if (!pair.is_array() || pair.size() != 2) return std::nullopt;
    const auto first = word32(pair[0]);
    const auto last = word32(pair[1]);
    if (!first || !last || *first > *last) return std::nullopt;
    out.intervals.push_back({*first, *last});
  }
  for (const ordered_json& one : row["cubes"]) {
    const auto cube = cube_of(one);
    if (!cube) return std::nullopt;
    out.cubes.push_back(*cube);
  }
  if (const auto base = row.contains("base") ? cube_of(row["base"]) : std::nullopt)
    out.base = *base;
  // The example serves only to distinguish x32 numbers from x86_64 numbers, which share one value
  // of arch.
  out.example = !out.intervals.empty() ? out.intervals[0].first : out.base.value;
  return out;
}

// Reads the words of a stored region.
std::optional<Region> region_of(const ordered_json& region) {
  if (!region.contains("words") || !region["words"].is_array()) return std::nullopt;
  Region out;
  for (const ordered_json& row : region["words"]) {
    auto set = word_set_of(row);
    if (!set) return std::nullopt;
    out.words.push_back(std::move(*set));
  }
  return out;
}

struct StoredRegion {
  std::string change;  // "ALLOW -> ERRNO(1 EPERM)"
  std::string condition;
  std::optional<Region> region;

  [[nodiscard]] std::string line() const { return fmt::format("{}: {}", change, condition); }
};
using StoredRegions = std::map<std::string, StoredRegion>;  // by the region's JSON

// Returns the regions of a document. Conditions have names in place of numbers, if possible.
Result<StoredRegions> regions_of(const ordered_json& document, const std::string& file, Arch host) {
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
  StoredRegions out;
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
      auto words = region_of((*regions)[k]);
      out.emplace(nlohmann::json({change["before"], change["after"], (*regions)[k]}).dump(),
                  StoredRegion{fmt::format("{} -> {}", sides[0], sides[1]),
                               words ? condition_text(*words, host, Values::kNamed)
                                     : condition->get<std::string>(),
                               std::move(words)});
    }
  }
  return out;
}

// Replaces the regions of each change by the inputs that only one of the two differences has. If
// there are none, the documents differ only in form, and the regions stay.
void only_new_inputs(std::vector<UnexpectedRegion>& lines, const StoredRegions& old_regions,
                     const StoredRegions& new_regions, Arch host, const Subtract& subtract) {
  const auto select = [](const StoredRegions& all, const StoredRegions* without,
                         const std::string& change) -> std::optional<std::vector<Region>> {
    std::vector<Region> out;
    for (const auto& [key, one] : all) {
      if (one.change != change || (without != nullptr && without->contains(key))) continue;
      if (!one.region) return std::nullopt;
      out.push_back(*one.region);
    }
    return out;
  };
  std::set<std::string> changes;
  for (const auto& [key, one] : old_regions) changes.insert(one.change);
  for (const auto& [key, one] : new_regions) changes.insert(one.change);
  for (const std::string& change : changes) {
    std::vector<UnexpectedRegion> rest;
    bool known = true;
    for (const bool added : {true, false}) {
      const StoredRegions& mine = added ? new_regions : old_regions;
      const StoredRegions& others = added ? old_regions : new_regions;
      const auto from = select(mine, &others, change);
      const auto what = select(others, nullptr, change);
      known = known && from && what;
      if (!known) break;
      for (const Region& region : subtract(*from, *what))
        rest.push_back(
            {added, fmt::format("{}: {}", change, condition_text(region, host, Values::kNamed))});
    }
    if (!known || rest.empty()) continue;
    std::erase_if(lines, [&](const UnexpectedRegion& line) {
      return line.region.starts_with(change + ": ");
    });
    std::ranges::move(rest, std::back_inserter(lines));
  }
}

}  // namespace

Result<ordered_json> read_expectation(std::string_view text, const std::string& name) {
  auto parsed = parse_json(text, name);
  if (!parsed)
    return make_error(ErrorCode::kParse, parsed.error().where,
                      "expected a stored difference, found no JSON: " + parsed.error().detail);
  const bool ours =
      parsed->is_object() && parsed->contains("schema") && (*parsed)["schema"] == "secequiv.diff/1";
  if (!ours)
    return make_error(ErrorCode::kParse, name,
                      "expected a stored difference (schema secequiv.diff/1)");
  return ordered_json(*parsed);
}

Result<std::vector<UnexpectedRegion>> unexpected(const ordered_json& expected,
                                                 const std::string& file, const ordered_json& found,
                                                 Arch host, const Subtract& subtract) {
  ASSIGN_OR_RETURN(const auto old_lines, regions_of(expected, file, host));
  ASSIGN_OR_RETURN(const auto new_lines, regions_of(found, "found", host));
  // The order of keys in a file has no meaning.
  using Unordered = nlohmann::json;
  if (!expected.contains("question") ||
      Unordered(expected["question"]) != Unordered(found["question"]))
    return make_error(
        ErrorCode::kUsage, file,
        fmt::format("expected a difference that was stored with the same options, {}; found {}",
                    found["question"].dump(),
                    expected.contains("question") ? expected["question"].dump() : "none"));
  std::vector<UnexpectedRegion> out;
  for (const auto& [key, one] : new_lines)
    if (!old_lines.contains(key)) out.push_back({true, one.line()});
  for (const auto& [key, one] : old_lines)
    if (!new_lines.contains(key)) out.push_back({false, one.line()});
  if (subtract && !out.empty()) only_new_inputs(out, old_lines, new_lines, host, subtract);
  // If all regions are equal, the totals must be equal too, because they are sums of the regions'
  // counts.
  if (out.empty() && Unordered(expected) != Unordered(found))
    return make_error(ErrorCode::kParse, file,
                      "expected totals that equal the sums of the regions' counts");
  std::ranges::sort(out, [](const UnexpectedRegion& a, const UnexpectedRegion& b) {
    return std::pair(b.added, a.region) < std::pair(a.added, b.region);
  });
  return out;
}

}  // namespace secequiv
