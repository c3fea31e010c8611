#include "verify/dd/regions.h"

#include <algorithm>
#include <bit>

#include "harness/compare/intervals.h"

namespace secequiv::dd {
namespace {

constexpr std::uint32_t kAll = 0xffffffff;

// Estimates of the memory that a listed change or region occupies until the command ends, with its
// JSON, its text and its copy for a stored difference. They are measured and rounded up.
constexpr std::size_t kChangeBytes = 4096;
constexpr std::size_t kRegionBytes = 2048;
constexpr std::size_t kWordBytes = 1536;
constexpr std::size_t kPartBytes = 256;

Count power(std::uint32_t exponent) { return Count(1) << exponent; }

void add(const WordSet::Cube& cube, WordSet& out) {
  const auto take = [&](std::uint32_t first, std::uint32_t last) {
    out.intervals.push_back({first, last});
  };
  if (!each_interval(cube.mask, cube.value, kAll, take)) out.cubes.push_back(cube);
}

// Returns one word's paths as a readable condition.
WordSet merged(std::uint32_t word, const std::vector<WordSet::Cube>& paths) {
  WordSet out;
  out.word = word;
  for (const WordSet::Cube& path : paths) add(path, out);
  join_adjacent(out.intervals);
  std::ranges::sort(out.cubes, [](const WordSet::Cube& a, const WordSet::Cube& b) {
    return std::pair(a.mask, a.value) < std::pair(b.mask, b.value);
  });
  out.example = kAll;
  for (const WordSet::Cube& path : paths) out.example = std::min(out.example, path.value);
  return out;
}

// Returns the bits on which all paths agree.
WordSet::Cube common(const std::vector<WordSet::Cube>& paths) {
  WordSet::Cube out = paths.front();
  for (const WordSet::Cube& path : paths) out.mask &= path.mask & ~(path.value ^ out.value);
  out.value &= out.mask;
  return out;
}

std::size_t parts(const WordSet& set) { return set.intervals.size() + set.cubes.size(); }

// Returns `direct`, the condition of `paths`, or a shorter equivalent one. The shorter one requires
// the bits that all paths have in common, and excludes those values of `others` (the remaining
// paths) that also have these bits.
WordSet shorter(WordSet direct, const std::vector<WordSet::Cube>& paths,
                const std::vector<WordSet::Cube>& others) {
  const WordSet::Cube base = common(paths);
  std::vector<WordSet::Cube> left_out;
  for (const WordSet::Cube& other : others)
    if ((other.mask & base.mask & (other.value ^ base.value)) == 0)
      left_out.push_back({other.mask | base.mask, other.value | base.value});
  WordSet out = merged(direct.word, left_out);
  // A list of two values is easier to read than their common bits.
  const bool interval = std::countl_one(base.mask) + std::countr_zero(base.mask) == 32;
  if (parts(out) + (base.mask == 0 ? 0 : interval ? 1 : 2) >= parts(direct)) return direct;
  out.negated = true;
  out.base = base;
  out.example = direct.example;
  return out;
}

Count size_of(const WordSet& set) {
  Count out = 0;
  for (const WordSet::Interval& i : set.intervals) out += Count(i.last) - i.first + 1;
  for (const WordSet::Cube& c : set.cubes)
    out += power(32 - static_cast<std::uint32_t>(std::popcount(c.mask)));
  if (!set.negated) return out;
  return power(32 - static_cast<std::uint32_t>(std::popcount(set.base.mask))) - out;
}

}  // namespace

// Returns the number of inputs, counting only the bits from this node's level on.
Count Regions::below(NodeId id) {
  const Diagrams& diagrams = space_.diagrams();
  if (diagrams.is_leaf(id)) return id == Diagrams::kZero ? 0 : 1;
  if (const auto known = below_.find(id); known != below_.end()) return known->second;
  const Node run = diagrams.node(id);
  const std::uint32_t end = run.level + run.length;
  // All other patterns of the run miss, and `miss` tests none of the run's bits.
  Count out = (below(run.hit) << (diagrams.bits_above(run.hit) - end)) +
              (below(run.miss) << (diagrams.bits_above(run.miss) - end)) * (power(run.length) - 1);
  below_.emplace(id, out);
  return out;
}

Count Regions::count(NodeId set) { return below(set) << space_.diagrams().bits_above(set); }

std::uint32_t Regions::block_end(NodeId id) const {
  const std::uint32_t word = space_.order().word(space_.diagrams().level(id));
  std::uint32_t end = 0;
  for (std::uint32_t w = 0; w < 16; ++w)
    if ((space_.order().group(word) >> w & 1) != 0)
      end = std::max(end, space_.order().level(w, 0) + 1);
  return end;
}

double Regions::path_count(NodeId id, std::uint32_t end,
                           std::unordered_map<NodeId, double>& known) const {
  if (space_.diagrams().level(id) >= end) return 1;
  if (const auto at = known.find(id); at != known.end()) return at->second;
  const Node run = space_.diagrams().node(id);
  const double out =
      path_count(run.hit, end, known) + run.length * path_count(run.miss, end, known);
  known.emplace(id, out);
  return out;
}

bool Regions::grouped(NodeId id) {
  constexpr double kMostPaths = 4096;
  if (!space_.order().whole(space_.order().word(space_.diagrams().level(id)))) return false;
  if (const auto known = grouped_.find(id); known != grouped_.end()) return known->second;
  std::unordered_map<NodeId, double> counts;
  const bool out = path_count(id, block_end(id), counts) <= kMostPaths;
  grouped_.emplace(id, out);
  return out;
}

// Calls visit(child) for each edge out of the run, after adding the edge's bits to the cube that
// cube_of(word) returns.
template <class CubeOf, class Visit>
void Regions::each_edge(Node run, const CubeOf& cube_of, const Visit& visit) const {
  for (std::uint32_t i = 0; i < run.length; ++i) {
    const std::uint32_t level = run.level + i;
    const std::uint32_t bit = 1u << space_.order().bit(level);
    const bool wanted = (run.pattern >> (run.length - 1 - i) & 1) != 0;
    WordSet::Cube& cube = cube_of(space_.order().word(level));
    cube.mask |= bit;
    if (!wanted) cube.value |= bit;
    visit(run.miss);
    cube.value ^= bit;
  }
  visit(run.hit);
}

void Regions::walk(NodeId id, std::uint32_t end, WordSet::Cube cube, std::vector<Path>& out) const {
  if (space_.diagrams().level(id) >= end) {
    out.push_back({id, cube});
    return;
  }
  each_edge(
      space_.diagrams().node(id), [&](std::uint32_t) -> WordSet::Cube& { return cube; },
      [&](NodeId child) { walk(child, end, cube, out); });
}

// Appends the conditions of a path on the words of a block.
void Regions::append(const Cubes& cubes, std::vector<WordSet>& words) {
  for (std::uint32_t w = 0; w < 16; ++w)
    if (cubes[w].mask != 0) words.push_back(merged(w, {cubes[w]}));
}

std::optional<std::vector<Regions::Path>> Regions::paths(NodeId id, std::uint32_t word,
                                                         std::size_t most) const {
  const std::uint32_t end = space_.order().level(word, 0) + 1;
  std::unordered_map<NodeId, double> counts;
  if (path_count(id, end, counts) > static_cast<double>(most)) return std::nullopt;
  std::vector<Path> out;
  walk(id, end, {0, 0}, out);
  return out;
}

std::vector<Regions::Branch> Regions::branches(NodeId id) {
  std::vector<Path> paths;
  walk(id, block_end(id), {0, 0}, paths);
  std::vector<Branch> out;
  const std::uint32_t word = space_.order().word(space_.diagrams().level(id));
  std::unordered_map<NodeId, std::vector<WordSet::Cube>> by_child;
  for (const Path& path : paths) by_child[path.child].push_back(path.cube);
  for (const auto& [child, cubes] : by_child) {
    std::vector<WordSet::Cube> others;
    for (const Path& path : paths)
      if (path.child != child) others.push_back(path.cube);
    out.push_back({child, shorter(merged(word, cubes), cubes, others)});
  }
  std::ranges::sort(out, {}, [](const Branch& b) { return b.word.example; });
  return out;
}

Count Regions::region_count(NodeId set) {
  if (space_.diagrams().is_leaf(set)) return set == Diagrams::kOne ? 1 : 0;
  if (!grouped(set)) return paths_to_regions(set, block_end(set));
  if (const auto known = region_counts_.find(set); known != region_counts_.end())
    return known->second;
  Count out = 0;
  for (const Branch& branch : branches(set)) out += region_count(branch.child);
  region_counts_.emplace(set, out);
  return out;
}

Count Regions::paths_to_regions(NodeId id, std::uint32_t end) {
  if (space_.diagrams().level(id) >= end) return region_count(id);
  if (const auto known = path_regions_.find(id); known != path_regions_.end()) return known->second;
  const Node run = space_.diagrams().node(id);
  const Count hit = paths_to_regions(run.hit, end);
  const Count out = hit + run.length * paths_to_regions(run.miss, end);
  path_regions_.emplace(id, out);
  return out;
}

Count Regions::size_of(const std::vector<WordSet>& words) const {
  Count out = 1;
  for (const WordSet& set : words) out *= dd::size_of(set);
  return out << 32 * (16 - words.size());
}

void Regions::enumerate(NodeId set, std::vector<WordSet>& words, std::size_t most,
                        RegionList& out) {
  if (set == Diagrams::kZero || out.regions.size() >= most || full() || !space_.diagrams().step())
    return;
  if (set == Diagrams::kOne) {
    bytes_ += kRegionBytes;
    for (const WordSet& word : words) bytes_ += kWordBytes + kPartBytes * parts(word);
    Region region{words, text_of(size_of(words))};
    std::ranges::sort(region.words, {}, &WordSet::word);
    out.regions.push_back(std::move(region));
    return;
  }
  if (!grouped(set)) {
    enumerate_paths(set, block_end(set), Cubes{}, words, most, out);
    return;
  }
  for (const Branch& branch : branches(set)) {
    words.push_back(branch.word);
    enumerate(branch.child, words, most, out);
    words.pop_back();
  }
}

void Regions::enumerate_paths(NodeId id, std::uint32_t end, Cubes cubes,
                              std::vector<WordSet>& words, std::size_t most, RegionList& out) {
  if (id == Diagrams::kZero || out.regions.size() >= most || full() || !space_.diagrams().step())
    return;
  if (space_.diagrams().level(id) >= end) {
    const std::size_t before = words.size();
    append(cubes, words);
    enumerate(id, words, most, out);
    words.resize(before);
    return;
  }
  each_edge(
      space_.diagrams().node(id), [&](std::uint32_t word) -> WordSet::Cube& { return cubes[word]; },
      [&](NodeId child) { enumerate_paths(child, end, cubes, words, most, out); });
}

RegionList Regions::list(NodeId set, std::size_t most) {
  RegionList out;
  out.count = text_of(count(set));
  const Count regions = region_count(set);
  out.region_count = text_of(regions);
  bytes_ += kChangeBytes;
  const std::size_t listed = regions < most ? number_of(regions) : most;
  if (listed > (most_bytes_ - std::min(most_bytes_, bytes_)) / kRegionBytes) {
    bytes_ = SIZE_MAX;  // too many regions, so none is made
    return out;
  }
  std::vector<WordSet> words;
  enumerate(set, words, most, out);
  return out;
}

Region Regions::around(NodeId function, const SeccompData& data) {
  const Diagrams& diagrams = space_.diagrams();
  Region out;
  while (!diagrams.is_leaf(function)) {
    if (grouped(function)) {
      const auto all = branches(function);
      const auto here = std::ranges::find_if(
          all, [&](const Branch& b) { return b.word.contains(data.words[b.word.word]); });
      out.words.push_back(here->word);
      function = here->child;
      continue;
    }
    Cubes cubes{};
    for (const std::uint32_t end = block_end(function); diagrams.level(function) < end;) {
      const Node run = diagrams.node(function);
      function = run.hit;
      for (std::uint32_t i = 0; i < run.length; ++i) {
        const std::uint32_t level = run.level + i;
        const std::uint32_t word = space_.order().word(level);
        const std::uint32_t bit = data.words[word] & 1u << space_.order().bit(level);
        cubes[word].mask |= 1u << space_.order().bit(level);
        cubes[word].value |= bit;
        if ((bit != 0) == ((run.pattern >> (run.length - 1 - i) & 1) != 0)) continue;
        function = run.miss;
        break;
      }
    }
    append(cubes, out.words);
  }
  out.count = text_of(size_of(out.words));
  std::ranges::sort(out.words, {}, &WordSet::word);
  return out;
}

NodeId Regions::set_of(const Region& region) {
  Words& words = space_.words();
  Condition out = words.truth(true);
  for (const WordSet& set : region.words) {
    const Word word = words.load(set.word);
    const auto lies_in = [&](const WordSet::Cube& cube) {
      return words.eq(words.bit_and(word, words.constant(cube.mask)), words.constant(cube.value));
    };
    Condition inside = words.truth(false);
    for (const WordSet::Interval& interval : set.intervals)
      inside = words.either(
          inside, words.both(words.uge(word, words.constant(interval.first)),
                             words.negate(words.ugt(word, words.constant(interval.last)))));
    for (const WordSet::Cube& cube : set.cubes) inside = words.either(inside, lies_in(cube));
    out = words.both(out, set.negated ? words.negate(inside) : inside);
    if (set.base.mask != 0) out = words.both(out, lies_in(set.base));
  }
  return words.set(out);
}

}  // namespace secequiv::dd
