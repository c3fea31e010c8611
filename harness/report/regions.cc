#include "harness/report/regions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <concepts>

#include "harness/report/fold.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/data.h"

namespace secequiv {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;
constexpr std::uint64_t kAllBits = ~std::uint64_t{0};

// Returns the set's only value, if it has one.
std::optional<std::uint32_t> only(const WordSet& set) {
  if (set.negated || !set.cubes.empty() || set.base.mask != 0 || set.intervals.size() != 1)
    return std::nullopt;
  const WordSet::Interval& i = set.intervals.front();
  return i.first == i.last ? std::optional(i.first) : std::nullopt;
}

// Formats the condition that a field with values up to `top` lies in the ranges or, with `outside`,
// that it does not. There is at least one range.
template <class Name>
std::string ranges_text(const std::string& field, const Ranges& ranges, bool outside,
                        std::uint64_t top, const Name& name) {
  const auto& [first, last] = ranges.front();
  const auto comparison = [&](const char* inside_sign, const char* outside_sign,
                              std::uint64_t value) {
    return fmt::format("{} {} {}", field, outside ? outside_sign : inside_sign, name(value));
  };
  if (ranges.size() == 1 && first == last) return comparison("==", "!=", first);
  if (ranges.size() == 1 && last == top) return comparison(">=", "<", first);
  if (ranges.size() == 1 && first == 0) return comparison("<=", ">", last);
  std::string items;
  for (const Assumption::Range& range : ranges) {
    if (!items.empty()) items += ", ";
    items += name(range.first);
    if (range.last != range.first) items += ".." + name(range.last);
  }
  return fmt::format("{} {}in {{{}}}", field, outside ? "not " : "", items);
}

// One of two conditions that say the same: a field lies in the ranges, or outside.
struct RangesForm {
  Ranges ranges;
  bool outside;
};

// Returns the shorter form. If both are equally long, `negated` selects the second. Avoids a list
// that ends with a range up to `top`, because such a list is hard to read.
RangesForm form_of(Ranges ranges, bool negated, std::uint64_t top) {
  Ranges others = complement(ranges, top);
  if (ranges.empty() || others.empty()) return {ranges.empty() ? others : ranges, ranges.empty()};
  const auto up_to_top = [&](const Ranges& list) {
    return list.size() > 1 && list.back().last == top && list.back().first != top;
  };
  const bool shorter = number_count(others) < number_count(ranges) + (negated ? 1 : 0);
  if (up_to_top(ranges) || (shorter && !up_to_top(others))) return {std::move(others), true};
  return {std::move(ranges), false};
}

template <class Name>
std::string shorter_text(const std::string& field, const Ranges& ranges, bool negated,
                         std::uint64_t top, const Name& name) {
  const RangesForm form = form_of(ranges, negated, top);
  return ranges_text(field, form.ranges, form.outside, top, name);
}

// Counts the numbers in the text of a set. With bit masks, this text is not a list of ranges.
std::size_t shown_numbers(const WordSet& set) {
  const auto values = values_of(set);
  return values ? number_count(form_of(*values, set.negated, kAll).ranges) : number_count(set);
}

// Formats the conditions on one word. `high` contains the bits above the word's 32 bits, and `top`
// is the highest value of the field.
template <class Name>
std::string set_text(const std::string& field, const WordSet& set, std::uint64_t high,
                     std::uint64_t top, const Name& name) {
  std::vector<std::string> tests;
  const auto masked = [&](const WordSet::Cube& cube, bool negated) {
    if constexpr (std::same_as<Name, ArgumentValues>)
      return mask_text(field, cube.mask, negated, cube.value, name);
    else
      return mask_text(field, cube.mask, negated, cube.value, {std::nullopt, 0});
  };
  if (set.base.mask != 0) tests.push_back(masked(set.base, false));
  Ranges ranges;
  ranges.reserve(set.intervals.size());
  for (const WordSet::Interval& i : set.intervals)
    ranges.push_back({high | i.first, high | i.last});
  if (!ranges.empty()) tests.push_back(ranges_text(field, ranges, set.negated, top, name));
  for (const WordSet::Cube& cube : set.cubes) tests.push_back(masked(cube, set.negated));
  if (tests.size() == 1) return tests[0];
  if (set.negated) return fmt::format("{}", fmt::join(tests, " && "));
  return fmt::format("({})", fmt::join(tests, " || "));
}

// Formats the number of a system call.
std::string plain(std::uint32_t nr) { return nr < 4096 ? fmt::format("{}", nr) : hex_text(nr); }

// Returns the architecture that all inputs of the region have, if there is one.
std::optional<std::uint32_t> audit_of(const Region& region) {
  const WordSet* set = region.condition_on(kArchWord);
  return set == nullptr ? std::nullopt : only(*set);
}

// Returns the architecture whose names and byte order the region's conditions use.
Arch own_arch(const Region& region, Arch host) {
  const auto audit = audit_of(region);
  return (audit ? arch_from_data(*audit, 0) : std::nullopt).value_or(host);
}

std::string arch_name(std::uint32_t audit) {
  const auto arch = arch_from_data(audit, 0);
  return arch ? std::string(arch_info(*arch).name) : hex_text(audit);
}

std::string arch_text(const WordSet& set) {
  return set_text("arch", set, 0, kAll,
                  [](std::uint64_t value) { return arch_name(static_cast<std::uint32_t>(value)); });
}

// Returns "openat", or "x32:openat" for a call that is not the host's.
std::string call_name(Arch arch, std::string_view name, Arch host) {
  return arch == host ? std::string(name) : fmt::format("{}:{}", arch_info(arch).name, name);
}

std::string nr_name(std::uint32_t nr, std::optional<std::uint32_t> audit, Arch host) {
  const auto arch = audit ? arch_from_data(*audit, nr) : std::nullopt;
  const std::string name(arch ? syscall_name(*arch, nr) : std::string_view());
  if (name.empty()) return plain(nr);
  return call_name(*arch, name, host);
}

std::string nr_text(const WordSet& set, std::optional<std::uint32_t> audit, Arch host) {
  return set_text("nr", set, 0, kAll, [&](std::uint64_t value) {
    return nr_name(static_cast<std::uint32_t>(value), audit, host);
  });
}

// Splits the numbers of a set into the calls of all architectures with this audit value and ranges
// of numbers without a call. Does not split a range into many calls if they are not the host's.
struct Numbers {
  std::vector<std::string> names;
  std::vector<WordSet::Interval> unnamed;
};
constexpr std::size_t kMostOfRange = 40;
Numbers numbers_of(const WordSet& set, std::uint32_t audit, Arch host) {
  Numbers out;
  for (const WordSet::Interval& i : set.intervals) {
    const auto inside = [&](const SyscallEntry& call) {
      return call.nr >= i.first && call.nr <= i.last;
    };
    std::uint64_t from = i.first;
    for (const ArchInfo& info : all_arches()) {  // x32 follows x86_64, as its numbers do
      if (info.audit != audit) continue;
      const auto count = std::ranges::count_if(info.syscalls, inside);
      if (info.arch != host && static_cast<std::size_t>(count) > kMostOfRange) continue;
      for (const SyscallEntry& call : info.syscalls) {
        if (!inside(call)) continue;
        if (call.nr > from) out.unnamed.push_back({static_cast<std::uint32_t>(from), call.nr - 1});
        out.names.push_back(call_name(info.arch, call.name, host));
        from = std::uint64_t{call.nr} + 1;
      }
    }
    if (from <= i.last) out.unnamed.push_back({static_cast<std::uint32_t>(from), i.last});
  }
  return out;
}

// Returns a condition on the number: `asked` first, then the other names in alphabetical order,
// then ranges of the other numbers without a name. Returns nothing if the set is not a list of
// several numbers, or if a comparison is shorter.
std::optional<std::string> sorted_names(const WordSet& set, std::uint32_t audit, Arch host,
                                        std::optional<AskedCall> asked) {
  const bool one = set.intervals.size() == 1;
  if (set.intervals.empty() || !set.cubes.empty() || set.base.mask != 0) return std::nullopt;
  if (one && set.intervals[0].first == set.intervals[0].last) return std::nullopt;
  auto [names, unnamed] = numbers_of(set, audit, host);
  const bool comparison = one && (set.intervals[0].first == 0 || set.intervals[0].last == kAll);
  if (names.empty() || (comparison && names.size() > kMostOfRange)) return std::nullopt;
  const std::string first =
      asked ? call_name(asked->arch, syscall_name(asked->arch, asked->nr), host) : "";
  std::ranges::sort(names, {},
                    [&](const std::string& name) { return std::pair(name != first, name); });
  const auto add = [&](std::uint32_t from, std::uint32_t to) {
    names.push_back(plain(from) + (from == to ? "" : ".." + plain(to)));
  };
  for (const WordSet::Interval& i : unnamed) {
    const bool has_asked = asked && arch_info(asked->arch).audit == audit && i.first <= asked->nr &&
                           asked->nr <= i.last;
    if (has_asked) names.insert(names.begin(), fmt::format("{}", asked->nr));
    if (!has_asked) add(i.first, i.last);
    if (has_asked && i.first < asked->nr) add(i.first, asked->nr - 1);
    if (has_asked && i.last > asked->nr) add(asked->nr + 1, i.last);
  }
  return fmt::format("nr {}in {{{}}}", set.negated ? "not " : "", fmt::join(names, ", "));
}

// Returns the first call of a region whose calls all have one name, such as clone on x86_64 and
// x32.
std::optional<AskedCall> namesake_of(const Region& region) {
  const auto audit = audit_of(region);
  const WordSet* set = region.condition_on(kNrWord);
  if (!audit || set == nullptr || set->negated || !set->cubes.empty() || set->base.mask != 0)
    return std::nullopt;
  std::optional<AskedCall> first;
  for (const WordSet::Interval& i : set->intervals) {
    const auto arch = arch_from_data(*audit, i.first);
    if (!arch || i.first != i.last) return std::nullopt;
    if (!first) first = AskedCall{*arch, i.first};
    if (syscall_name(*arch, i.first) != syscall_name(first->arch, first->nr)) return std::nullopt;
  }
  return first;
}

// Returns the values of a field, unless one condition on the field is longer than the conditions on
// its halves.
std::optional<Ranges> whole_field(const FoldedRegion& region, int field) {
  if (const auto known = region.fields.find(field); known != region.fields.end())
    return known->second;
  const WordSet* high = region.region.condition_on(half_word(field, true, region.endian));
  const WordSet* low = region.region.condition_on(half_word(field, false, region.endian));
  if (high == nullptr || low == nullptr) return std::nullopt;
  const auto values = values_of(high, low);
  const bool longer = values && number_count(form_of(*values, false, kAllBits).ranges) >
                                    shown_numbers(*high) + shown_numbers(*low);
  return longer ? std::nullopt : values;
}

// Formats the conditions on one 64-bit field. Formats one condition if the high half has only one
// value or, for people, wherever that is shorter.
void field_text(const FoldedRegion& region, int field, Values values,
                const std::optional<AskedCall>& call, std::vector<std::string>& out) {
  const ArgumentValues value_text{field < kArgCount ? call : std::nullopt, field};
  const std::string name = field == kIpField ? "ip" : fmt::format("arg{}", field);
  const bool folded = values == Values::kNamed || region.fields.contains(field);
  if (const auto whole = folded ? whole_field(region, field) : std::nullopt) {
    out.push_back(shorter_text(name, *whole, false, kAllBits, value_text));
    return;
  }
  const WordSet* high = region.region.condition_on(half_word(field, true, region.endian));
  const WordSet* low = region.region.condition_on(half_word(field, false, region.endian));
  const auto fixed = high != nullptr ? only(*high) : std::nullopt;
  if (low != nullptr && fixed && !low->negated && low->cubes.empty()) {
    const std::uint64_t above = std::uint64_t{*fixed} << 32;
    out.push_back(set_text(name, *low, above, kAllBits, value_text));
    return;
  }
  const auto half = [&](const char* suffix, const WordSet& set, const auto& shown) {
    const bool list = values == Values::kNamed && set.intervals.size() > 1;
    const auto in_set = list ? values_of(set) : std::nullopt;
    out.push_back(in_set ? shorter_text(name + suffix, *in_set, set.negated, kAll, shown)
                         : set_text(name + suffix, set, 0, kAll, shown));
  };
  if (high != nullptr) half(".hi", *high, hex_text);
  if (low != nullptr) half(".lo", *low, value_text);
}

// Appends the conditions on the instruction pointer and the arguments, with the names of constants
// for `call`.
void argument_tests(const FoldedRegion& region, Values values, const std::optional<AskedCall>& call,
                    std::vector<std::string>& out) {
  field_text(region, kIpField, values, call, out);
  for (int field = 0; field < kArgCount; ++field) field_text(region, field, values, call, out);
}

// Formats all conditions of a region.
std::string folded_text(const FoldedRegion& folded, Arch host, Values values,
                        std::optional<AskedCall> asked) {
  const Region& region = folded.region;
  const auto audit = audit_of(region);
  host = own_arch(region, host);
  std::vector<std::string> out;
  if (const WordSet* arch = region.condition_on(kArchWord)) out.push_back(arch_text(*arch));
  const bool named = values == Values::kNamed;
  if (const WordSet* nr = region.condition_on(kNrWord)) {
    const bool known = named && audit == arch_info(host).audit;
    const auto names = known ? sorted_names(*nr, *audit, host, asked) : std::nullopt;
    out.push_back(names ? *names : nr_text(*nr, audit, host));
  }
  const auto call = namesake_of(region);
  argument_tests(folded, values, !named ? std::nullopt : call ? call : asked, out);
  return out.empty() ? "true" : fmt::format("{}", fmt::join(out, " && "));
}

// Returns the region with the byte order of its conditions.
FoldedRegion unfolded(const Region& region, Arch host) {
  return {region, arch_info(own_arch(region, host)).endian};
}

// Returns the regions, joined where possible.
std::vector<FoldedRegion> folded(std::span<const Region> regions, Arch host) {
  std::vector<FoldedRegion> out;
  out.reserve(regions.size());
  for (const Region& region : regions) {
    out.push_back(unfolded(region, host));
    out.back().parts = {out.size() - 1};
  }
  return fold(std::move(out));
}

// Returns the conditions of a region on the instruction pointer and the arguments.
std::vector<std::string> own_tests(const FoldedRegion& folded) {
  std::vector<std::string> out;
  argument_tests(folded, Values::kNamed, namesake_of(folded.region), out);
  return out;
}

// Returns "x86_64 socket", "i386 nr in {mount, read}" or "every system call".
std::string calls_text(const Region& region, Arch host) {
  if (auto every = every_call_text(region)) return *std::move(every);
  const auto audit = audit_of(region);
  const WordSet* arch = region.condition_on(kArchWord);
  const WordSet* nr = region.condition_on(kNrWord);
  const Arch own = own_arch(region, host);
  std::string out = audit ? arch_name(*audit) : arch != nullptr ? arch_text(*arch) : "";
  if (!out.empty()) out += " ";
  if (const auto number = only(*nr)) {
    const std::string name = nr_name(*number, audit, own);
    return out + (name == plain(*number) ? "nr == " : "") + name;
  }
  const auto names =
      audit == arch_info(own).audit ? sorted_names(*nr, *audit, own, {}) : std::nullopt;
  return out + (names ? *names : nr_text(*nr, audit, own));
}

// Returns how many values a set has, if this is easy to count.
std::optional<std::uint64_t> size_of(const WordSet* set) {
  if (set == nullptr || set->negated || !set->cubes.empty() || set->base.mask != 0)
    return std::nullopt;
  std::uint64_t out = 0;
  for (const WordSet::Interval& i : set->intervals) out += std::uint64_t{i.last} - i.first + 1;
  return out;
}

WordSet one_value(std::uint32_t word, std::uint32_t value) {
  WordSet out;
  out.word = word;
  out.example = value;
  out.intervals = {{value, value}};
  return out;
}

// Divides a decimal number by two, and returns whether it was odd.
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

std::string action_text(const ReturnValue& value) {
  if (value.value) return describe_action(*value.value);
  if (value.action) return action_name(*value.action) + "(computed from the input)";
  return "computed from the input";
}

std::string condition_text(const Region& region, Arch host, Values values,
                           std::optional<AskedCall> asked) {
  return folded_text(unfolded(region, host), host, values, asked);
}

std::vector<std::string> condition_texts(std::span<const Region> regions, Arch host, Values values,
                                         std::optional<AskedCall> asked) {
  std::vector<std::string> out;
  for (const FoldedRegion& region : folded(regions, host))
    out.push_back(folded_text(region, host, values, asked));
  return out;
}

bool contains(const Region& region, const SeccompData& data) {
  return std::ranges::all_of(
      region.words, [&](const WordSet& set) { return set.contains(data.words[set.word]); });
}

std::vector<Region> joined_around(std::span<const Region> regions, const SeccompData& data,
                                  Arch host) {
  std::vector<Region> out;
  for (const FoldedRegion& joined : folded(regions, host)) {
    out.clear();
    for (const std::size_t part : joined.parts) out.push_back(regions[part]);
    if (std::ranges::any_of(out, [&](const Region& region) { return contains(region, data); }))
      break;
    out.clear();
  }
  return out;
}

std::string condition_text(const RegionList& where, Arch host, Values values,
                           std::optional<AskedCall> asked) {
  return fmt::format("{}{}", fmt::join(condition_texts(where.regions, host, values, asked), " || "),
                     where.is_all(where.regions.size()) ? "" : " || ...");
}

std::string short_condition(const std::string& condition) {
  constexpr std::size_t kShown = 8;
  std::string out;
  std::size_t items = 0;  // number of items in the current list, minus one
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

namespace {

// Returns "if arg0 == 0x5 && arg1 == 0x0", or "whatever the arguments".
std::string tests_text(const std::vector<std::string>& tests) {
  return tests.empty() ? "whatever the arguments" : fmt::format("if {}", fmt::join(tests, " && "));
}

// Returns "newly allowed (was ERRNO(1 EPERM))" or "no longer allowed (now KILL_THREAD)", for
// example. LOG also lets a call run, so the text names it.
std::string effect_text(const Change& change) {
  const auto allowed = [](const ReturnValue& value) {
    return value.action && lets_run(*value.action);
  };
  const auto logged = [](const ReturnValue& value) {
    return value.action && action_of(*value.action) == SECCOMP_RET_LOG;
  };
  const std::string now = action_text(change.after);
  const std::string was = action_text(change.before);
  if (change.before.action && !allowed(change.before) && allowed(change.after))
    return fmt::format("newly allowed{} (was {})", logged(change.after) ? " and logged" : "", was);
  if (change.after.action && allowed(change.before) && !allowed(change.after))
    return fmt::format("no longer allowed (now {}{})", now,
                       logged(change.before) ? fmt::format(", was {}", was) : "");
  return fmt::format("now {} instead of {}", now, was);
}

}  // namespace

std::string summary(const Change& change, const Region& region, Arch host) {
  return summaries(change, {&region, 1}, host).front();
}

std::vector<std::string> summaries(const Change& change, std::span<const Region> regions,
                                   Arch host) {
  std::vector<std::string> out;
  for (const FoldedRegion& joined : folded(regions, host)) {
    const std::vector<std::string> tests = own_tests(joined);
    out.push_back(fmt::format("{}: {}{}{}", calls_text(joined.region, host), effect_text(change),
                              tests.empty() ? ", " : " ", tests_text(tests)));
  }
  return out;
}

std::string arguments_text(const Region& region, Arch host) {
  return tests_text(own_tests(unfolded(region, host)));
}

std::vector<NamedCall> named_calls(const Region& region) {
  std::vector<NamedCall> out;
  for (const ArchInfo& info : all_arches()) {
    if (!region.allows(kArchWord, info.audit)) continue;
    for (const SyscallEntry& entry : info.syscalls)
      if (region.allows(kNrWord, entry.nr)) out.push_back({&info, &entry});
  }
  return out;
}

std::optional<std::string> every_call_text(const Region& region) {
  if (region.condition_on(kNrWord) != nullptr) return std::nullopt;
  const auto audit = audit_of(region);
  const WordSet* arch = region.condition_on(kArchWord);
  if (arch == nullptr) return "every system call";
  return "every system call " + (audit ? "on " + arch_name(*audit) : "if " + arch_text(*arch));
}

bool is_one_call(const Region& region) {
  const WordSet* nr = region.condition_on(kNrWord);
  return region.words.size() == 2 && nr != nullptr && only(*nr) && namesake_of(region);
}

std::vector<Region> by_call(const Region& region, std::size_t most) {
  const auto arches = size_of(region.condition_on(kArchWord));
  const auto numbers = size_of(region.condition_on(kNrWord));
  const std::vector<NamedCall> calls = named_calls(region);
  if (calls.size() > most || !arches || !numbers || *arches * *numbers != calls.size())
    return {region};
  std::vector<Region> out;
  for (const NamedCall& call : calls) {
    Region& one = out.emplace_back(region);
    for (WordSet& set : one.words) {
      if (set.word == kArchWord) set = one_value(kArchWord, call.arch->audit);
      if (set.word == kNrWord) set = one_value(kNrWord, call.entry->nr);
    }
    if (calls.size() > 1) one.count.clear();
  }
  return out;
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

std::string not_shown_text(std::size_t shown, const std::string& all, int indent,
                           std::string_view how) {
  if (std::to_string(shown) == all) return "";
  return fmt::format("{:{}}... {} of {} regions shown{}\n", "", indent, shown, all,
                     how.empty() ? "" : fmt::format(" ({})", how));
}

}  // namespace secequiv
