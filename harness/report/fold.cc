#include "harness/report/fold.h"

#include <algorithm>
#include <limits>

namespace secequiv {
namespace {

constexpr std::uint64_t kWord = 0xffffffff;
constexpr std::uint64_t kField = std::numeric_limits<std::uint64_t>::max();
constexpr std::size_t kMostRanges = 64;
constexpr std::size_t kMostRegions = 64;  // joining takes quadratic time

Ranges intervals_of(const WordSet& set) {
  Ranges out;
  out.reserve(set.intervals.size());
  for (const WordSet::Interval& i : set.intervals) out.push_back({i.first, i.last});
  return out;
}

// Sorts the ranges and joins those that overlap or are adjacent.
Ranges joined(Ranges ranges) {
  std::ranges::sort(ranges, {}, &Assumption::Range::first);
  Ranges out;
  for (const Assumption::Range& range : ranges) {
    if (!out.empty() && (out.back().last == kField || range.first <= out.back().last + 1))
      out.back().last = std::max(out.back().last, range.last);
    else
      out.push_back(range);
  }
  return out;
}

bool is_half_of(const FoldedRegion& region, int field, std::uint32_t word) {
  return word == half_word(field, true, region.endian) ||
         word == half_word(field, false, region.endian);
}

std::optional<Ranges> values_of(const FoldedRegion& region, int field) {
  if (const auto known = region.fields.find(field); known != region.fields.end())
    return known->second;
  return values_of(region.region.condition_on(half_word(field, true, region.endian)),
                   region.region.condition_on(half_word(field, false, region.endian)));
}

// The examples of two sets may differ, although the sets are the same.
bool same_set(const WordSet& a, const WordSet& b) {
  return a.word == b.word && a.negated == b.negated && a.base == b.base &&
         a.intervals == b.intervals && a.cubes == b.cubes;
}

// Returns the region without its conditions on the field.
FoldedRegion without(FoldedRegion region, int field) {
  std::erase_if(region.region.words,
                [&](const WordSet& set) { return is_half_of(region, field, set.word); });
  region.fields.erase(field);
  return region;
}

bool same_beside(const FoldedRegion& a, const FoldedRegion& b, int field) {
  if (a.endian != b.endian) return false;
  const FoldedRegion rest_a = without(a, field);
  const FoldedRegion rest_b = without(b, field);
  return rest_a.fields == rest_b.fields &&
         std::ranges::equal(rest_a.region.words, rest_b.region.words, same_set);
}

// Joins `more` into `region` if both differ only in the field.
bool join(FoldedRegion& region, const FoldedRegion& more, int field) {
  if (!same_beside(region, more, field)) return false;
  const auto one = values_of(region, field);
  const auto other = values_of(more, field);
  if (!one || !other) return false;
  Ranges all = *one;
  all.insert(all.end(), other->begin(), other->end());
  all = joined(std::move(all));
  if (all.size() > kMostRanges) return false;
  region = without(std::move(region), field);
  region.parts.insert(region.parts.end(), more.parts.begin(), more.parts.end());
  if (all != Ranges{Assumption::Range{0, kField}}) region.fields[field] = std::move(all);
  return true;
}

}  // namespace

Ranges complement(const Ranges& ranges, std::uint64_t top) {
  Ranges out;
  std::uint64_t from = 0;
  for (const Assumption::Range& range : ranges) {
    if (range.first > from) out.push_back({from, range.first - 1});
    if (range.last >= top) return out;
    from = range.last + 1;
  }
  out.push_back({from, top});
  return out;
}

std::size_t number_count(const Ranges& ranges) {
  std::size_t out = 0;
  for (const Assumption::Range& range : ranges) out += range.first == range.last ? 1 : 2;
  return out;
}

std::size_t number_count(const WordSet& set) { return number_count(intervals_of(set)); }

std::optional<Ranges> values_of(const WordSet& set) {
  if (!set.cubes.empty() || set.base.mask != 0) return std::nullopt;
  if (set.negated) return complement(joined(intervals_of(set)), kWord);
  return joined(intervals_of(set));
}

std::optional<Ranges> values_of(const WordSet* high, const WordSet* low) {
  const Ranges whole = {{0, kWord}};
  const auto highs = high == nullptr ? std::optional(whole) : values_of(*high);
  const auto lows = low == nullptr ? std::optional(whole) : values_of(*low);
  if (!highs || !lows) return std::nullopt;
  Ranges out;
  for (const Assumption::Range& range : *highs) {
    if (*lows == whole) {
      out.push_back({range.first << 32, range.last << 32 | kWord});
      continue;
    }
    if ((range.last - range.first + 1) * lows->size() > kMostRanges - out.size())
      return std::nullopt;
    for (std::uint64_t above = range.first; above <= range.last; ++above)
      for (const Assumption::Range& part : *lows)
        out.push_back({above << 32 | part.first, above << 32 | part.last});
  }
  if (out.size() > kMostRanges) return std::nullopt;
  return joined(std::move(out));
}

std::vector<FoldedRegion> fold(std::vector<FoldedRegion> regions) {
  if (regions.size() > kMostRegions) return regions;
  for (bool changed = true; changed;) {
    changed = false;
    for (int field = 0; field <= kIpField; ++field)
      for (std::size_t i = 0; i < regions.size(); ++i)
        for (std::size_t k = i + 1; k < regions.size();) {
          if (!join(regions[i], regions[k], field)) {
            ++k;
            continue;
          }
          regions.erase(regions.begin() + static_cast<std::ptrdiff_t>(k));
          changed = true;
        }
  }
  return regions;
}

}  // namespace secequiv
