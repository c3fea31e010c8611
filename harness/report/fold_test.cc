// Tests how conditions on the halves of 64-bit fields become conditions on whole fields.
#include "harness/report/fold.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>

#include "harness/report/regions.h"
#include "harness/seccomp/data.h"

namespace secequiv::report_fold_test {
namespace {

using Interval = WordSet::Interval;

WordSet set_of(std::uint32_t word, std::vector<Interval> intervals, bool negated = false) {
  WordSet out;
  out.word = word;
  out.example = intervals.front().first;
  out.negated = negated;
  out.intervals = std::move(intervals);
  return out;
}

WordSet high(std::vector<Interval> intervals, bool negated = false, int arg = 0) {
  return set_of(half_word(arg, true, Endian::kLittle), std::move(intervals), negated);
}
WordSet low(std::vector<Interval> intervals, bool negated = false, int arg = 0) {
  return set_of(half_word(arg, false, Endian::kLittle), std::move(intervals), negated);
}

std::string shown(std::vector<std::vector<WordSet>> regions, Values values = Values::kNamed) {
  RegionList list{{}, "", std::to_string(regions.size())};
  for (std::vector<WordSet>& words : regions) {
    std::ranges::sort(words, {}, &WordSet::word);
    list.regions.push_back({std::move(words), ""});
  }
  return condition_text(list, Arch::kX86_64, values);
}

constexpr std::uint32_t kMax = 0xffffffff;

TEST(Fold, JoinsTheHalvesOfOneField) {
  EXPECT_EQ(shown({{high({{0, 0}}), low({{5, 5}, {9, 9}}, true)}, {high({{1, kMax}})}}),
            "arg0 not in {0x5, 0x9}");
  EXPECT_EQ(shown({{high({{0, 0}}), low({{0, 0}}, true)}, {high({{1, kMax}})}}), "arg0 != 0x0");
  EXPECT_EQ(shown({{high({{0, 0}}), low({{6, kMax}})}, {high({{1, kMax}})}}), "arg0 >= 0x6");
  EXPECT_EQ(shown({{high({{0, 0}})}, {high({{1, 1}}), low({{0, 5}})}}), "arg0 <= 0x100000005");
  EXPECT_EQ(shown({{high({{0, 0}})}, {high({{0, 0}}, true)}}), "true");
}

TEST(Fold, JoinsSeveralFields) {
  const std::vector<WordSet> one = {high({{0, 0}}), low({{0, 0}}, true)};
  const std::vector<WordSet> other = {high({{1, kMax}})};
  std::vector<std::vector<WordSet>> regions;
  for (const auto& first : {one, other})
    for (const bool plain : {true, false}) {
      std::vector<WordSet> words = first;
      words.push_back(plain ? high({{0, 0}}, false, 1) : high({{1, kMax}}, false, 1));
      if (plain) words.push_back(low({{7, 7}}, true, 1));
      regions.push_back(std::move(words));
    }
  EXPECT_EQ(shown(regions), "arg0 != 0x0 && arg1 != 0x7");
}

TEST(Fold, OneRegionGetsTheShorterCondition) {
  const std::vector<WordSet> five = {
      high({{0, 0}}), low({{1, 7}, {9, 0x1ffff}, {0x20001, 0x20007}, {0x20009, 0xfffffffe}}, true)};
  EXPECT_EQ(shown({five}), "arg0 in {0x0, 0x8, 0x20000, 0x20008, 0xffffffff}");
  EXPECT_EQ(shown({{five[1]}}), "arg0.lo in {0x0, 0x8, 0x20000, 0x20008, 0xffffffff}");
  EXPECT_EQ(shown({{high({{0, 0}}), low({{5, 5}}, true)}}), "arg0.hi == 0x0 && arg0.lo != 0x5");
  EXPECT_EQ(shown({{high({{0, 0}}), low({{0, 0}, {8, 8}, {kMax, kMax}}, true)}}),
            "arg0 in {0x1..0x7, 0x9..0xfffffffe}");
  EXPECT_EQ(shown({{low({{1, 7}, {9, 9}, {12, kMax}})}}), "arg0.lo not in {0x0, 0x8, 0xa..0xb}")
      << "no list ends with a range up to the highest value";
  EXPECT_EQ(shown({{low({{0, 5}}, true)}}), "arg0.lo > 0x5") << "comparisons stay";
  EXPECT_EQ(condition_text(Region{{five[1]}, ""}, Arch::kX86_64),
            "arg0.lo not in {0x1..0x7, 0x9..0x1ffff, 0x20001..0x20007, 0x20009..0xfffffffe}")
      << "stored conditions keep their form";
}

TEST(Fold, SeveralRegionsGetOneConditionEachOrTogether) {
  const WordSet nr = set_of(kNrWord, {{41, 41}});
  const std::vector<Region> regions = {{{nr, low({{5, 5}}, true), high({{0, 0}})}, ""},
                                       {{nr, low({{7, 7}}, false, 1)}, ""},
                                       {{nr, high({{1, kMax}})}, ""}};
  EXPECT_EQ(condition_texts(regions, Arch::kX86_64),
            (std::vector<std::string>{"nr == 41 && arg0 != 0x5", "nr == 41 && arg1.lo == 0x7"}));
  const Change change{{0, 0}, {0x7fff0000, 0x7fff0000}, {}};
  EXPECT_EQ(summaries(change, regions, Arch::kX86_64).front(),
            "nr == 41: newly allowed (was KILL_THREAD) if arg0 != 0x5");
  SeccompData data;
  data.set_nr(41);
  data.set_field(0, std::uint64_t{9} << 32, Endian::kLittle);
  EXPECT_EQ(joined_around(regions, data, Arch::kX86_64),
            (std::vector<Region>{regions[0], regions[2]}));
  data.set_field(0, 5, Endian::kLittle);
  EXPECT_TRUE(joined_around(regions, data, Arch::kX86_64).empty());
}

TEST(Fold, KeepsConditionsThatCannotBeJoined) {
  EXPECT_EQ(shown({{high({{0, 0}}), low({{5, 5}})}, {high({{1, kMax}}, false, 1)}}),
            "arg0 == 0x5 || arg1.hi >= 0x1");
  WordSet masked = low({{1, 1}});
  masked.intervals.clear();
  masked.cubes = {{1, 1}};
  EXPECT_EQ(shown({{high({{0, 0}}), masked}, {high({{1, kMax}})}}),
            "arg0.hi == 0x0 && arg0.lo & 0x1 == 0x1 || arg0.hi >= 0x1");
}

TEST(Fold, NamesTheConstantsAndTheCallsOfX32) {
  const WordSet arch = set_of(kArchWord, {{AUDIT_ARCH_X86_64, AUDIT_ARCH_X86_64}});
  const WordSet socket = set_of(kNrWord, {{41, 41}});
  EXPECT_EQ(shown({{arch, socket, high({{0, 0}}), low({{38, 38}}, true)},
                   {arch, socket, high({{0, 0}}, true)}}),
            "arch == x86_64 && nr == socket && arg0 != AF_ALG");
  const auto nr = [&](std::vector<Interval> intervals) {
    return shown({{arch, set_of(kNrWord, std::move(intervals))}});
  };
  EXPECT_EQ(nr({{0, 1}, {kX32Bit, kX32Bit + 1}, {0x7fffffff, 0x7fffffff}}),
            "arch == x86_64 && nr in {read, write, x32:read, x32:write, 0x7fffffff}");
  EXPECT_EQ(nr({{0, 0}, {kX32Bit, kMax}}), "arch == x86_64 && nr in {read, 0x40000000..0xffffffff}")
      << "a range with very many calls stays";
}

// Chooses sets near a few values.
class Chooser {
 public:
  explicit Chooser(unsigned seed) : random_(seed) {}

  std::uint32_t value() { return kPool[below(kPool.size())]; }
  std::size_t below(std::size_t limit) { return random_() % limit; }

  std::vector<Interval> intervals() {
    std::vector<std::uint32_t> ends(kPool.begin(), kPool.end());
    std::ranges::shuffle(ends, random_);
    ends.resize(2 * (1 + below(3)));
    std::ranges::sort(ends);
    std::vector<Interval> out;
    for (std::size_t i = 0; i < ends.size(); i += 2)
      out.push_back({ends[i], below(2) == 0 ? ends[i] : ends[i + 1]});
    return out;
  }

  WordSet set(std::uint32_t word) {
    WordSet out = set_of(word, intervals(), below(2) == 0);
    if (below(8) == 0) out.cubes = {{0x10, 0x10}};
    if (out.negated && below(8) == 0) out.base = {1, 1};
    return out;
  }

  // Splits the regions by the high half of a field, as a decision diagram does.
  std::vector<Region> split(const std::vector<Region>& regions, int field, Endian endian) {
    const std::vector<Interval> highs = {{value(), 0}};
    const std::uint32_t at = half_word(field, true, endian);
    std::vector<Region> out;
    for (const Region& region : regions)
      for (const bool negated : {false, true}) {
        if (below(6) == 0) continue;
        Region one = region;
        one.words.push_back(set_of(at, {{highs[0].first, highs[0].first}}, negated));
        if (!negated || below(4) == 0) one.words.push_back(set(half_word(field, false, endian)));
        std::ranges::sort(one.words, {}, &WordSet::word);
        out.push_back(std::move(one));
      }
    return out;
  }

 private:
  static constexpr std::array<std::uint32_t, 12> kPool = {
      0, 1, 2, 5, 6, 16, 38, 0x7fffffff, 0x80000000, 0xffff0000, 0xfffffffe, 0xffffffff};
  std::mt19937 random_;
};

TEST(Fold, RandomConditionsKeepTheirInputs) {
  Chooser choose(7);
  std::size_t regions = 0;
  std::size_t shown_regions = 0;
  for (int trial = 0; trial < 2000; ++trial) {
    const Arch arch = trial % 3 == 0 ? Arch::kS390x : Arch::kX86_64;
    const ArchInfo& info = arch_info(arch);
    Region start{{set_of(kArchWord, {{info.audit, info.audit}})}, ""};
    if (trial % 2 == 0) start.words.push_back(set_of(kNrWord, {{41, 41}}));
    std::ranges::sort(start.words, {}, &WordSet::word);
    RegionList list{{std::move(start)}, "", ""};
    for (const int field : {0, kIpField, 2})
      if (choose.below(2) == 0) list.regions = choose.split(list.regions, field, info.endian);
    if (list.regions.empty()) continue;
    list.region_count = std::to_string(list.regions.size());
    for (const Values values : {Values::kNumbers, Values::kNamed}) {
      const std::string text = condition_text(list, Arch::kX86_64, values);
      const auto read = parse_assumption(text, Arch::kX86_64);
      ASSERT_TRUE(read) << read.error().text() << "\n" << text;
      for (int i = 0; i < 60; ++i) {
        SeccompData data;
        for (std::uint32_t& word : data.words)
          word = choose.value() ^ (choose.below(4) == 0 ? 1 : 0);
        data.set_arch(info.audit);
        data.set_nr(choose.below(8) == 0 ? 40 : 41);
        const bool wanted = std::ranges::any_of(
            list.regions, [&](const Region& region) { return contains(region, data); });
        ASSERT_EQ(holds(*read, data, Endian::kLittle), wanted) << text << "\n" << describe(data);
      }
      regions += list.regions.size();
      for (std::size_t at = 0; at != text.npos; at = text.find("||", at + 1)) ++shown_regions;
    }
  }
  EXPECT_LT(shown_regions, regions) << "nothing was folded";
}

}  // namespace
}  // namespace secequiv::report_fold_test
