// Owns the exact count of a set of inputs, and the division of its diagram into disjoint regions,
// each a conjunction of conditions on words. It must not know how regions are shown.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "harness/compare/difference.h"
#include "verify/dd/count.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

class Regions {
 public:
  // Lists regions until the memory for them and for reports about them exceeds `most_bytes`.
  explicit Regions(Space& space, std::size_t most_bytes = SIZE_MAX)
      : space_(space), most_bytes_(most_bytes) {}

  // Returns whether regions were left out because of `most_bytes`.
  [[nodiscard]] bool full() const { return bytes_ > most_bytes_; }

  // Returns the number of inputs in the set.
  Count count(NodeId set);
  // Returns at most `most` of the set's regions; `count` and `region_count` describe the whole set.
  RegionList list(NodeId set, std::size_t most);
  // Returns the inputs that take the same path in `function` as `data`, described by the conditions
  // that decide.
  Region around(NodeId function, const SeccompData& data);
  // Returns the inputs of a region.
  NodeId set_of(const Region& region);

  // A path through the block of one word. `cube` is its condition on the word.
  struct Path {
    NodeId child;
    WordSet::Cube cube;
  };
  // Returns all paths through the block of `word`, or nothing if there are more than `most`.
  // Preconditions: the word has its own block (Order::whole), and `id` tests nothing above it.
  [[nodiscard]] std::optional<std::vector<Path>> paths(NodeId id, std::uint32_t word,
                                                       std::size_t most) const;

 private:
  // A condition on the word of one block. `child` is the rest of the diagram if the condition
  // holds.
  struct Branch {
    NodeId child;
    WordSet word;
  };
  using Cubes = std::array<WordSet::Cube, 16>;

  Count below(NodeId id);
  [[nodiscard]] std::uint32_t block_end(NodeId id) const;
  double path_count(NodeId id, std::uint32_t end, std::unordered_map<NodeId, double>& known) const;
  // Returns whether the block's conditions are combined for each child. Otherwise each path becomes
  // its own branch, because the word shares its block with others or has too many paths.
  bool grouped(NodeId id);
  std::vector<Branch> branches(NodeId id);
  template <class CubeOf, class Visit>
  void each_edge(Node run, const CubeOf& cube_of, const Visit& visit) const;
  void walk(NodeId id, std::uint32_t end, WordSet::Cube cube, std::vector<Path>& out) const;
  static void append(const Cubes& cubes, std::vector<WordSet>& words);
  Count region_count(NodeId set);
  Count paths_to_regions(NodeId id, std::uint32_t end);
  void enumerate(NodeId set, std::vector<WordSet>& words, std::size_t most, RegionList& out);
  void enumerate_paths(NodeId id, std::uint32_t end, Cubes cubes, std::vector<WordSet>& words,
                       std::size_t most, RegionList& out);
  [[nodiscard]] Count size_of(const std::vector<WordSet>& words) const;

  Space& space_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;  // estimated, of all regions listed
  std::unordered_map<NodeId, Count> below_;
  std::unordered_map<NodeId, bool> grouped_;
  std::unordered_map<NodeId, Count> region_counts_;
  std::unordered_map<NodeId, Count> path_regions_;
};

}  // namespace secequiv::dd
