// Counts sets of inputs and divides them into disjoint regions. Owns counting and the division of a
// diagram into conditions on words.
#pragma once

#include <gmpxx.h>

#include <unordered_map>
#include <vector>

#include "harness/compare/difference.h"
#include "verify/dd/space.h"

namespace secequiv::dd {

class Regions {
 public:
  explicit Regions(Space& space) : space_(space) {}

  // Inputs in the set.
  mpz_class count(NodeId set);
  // At most `most` of its regions; `count` and `region_count` describe the whole set.
  RegionList list(NodeId set, std::size_t most);
  // The inputs that take the same path in `function` as `data` does: the conditions that decided.
  Region around(NodeId function, const SeccompData& data);

 private:
  // A condition on the word of one block of levels under which `child` is what is left of the
  // diagram.
  struct Branch {
    NodeId child;
    WordSet word;
  };
  // A path through the block of one word: what it fixes of the word.
  struct Path {
    NodeId child;
    WordSet::Cube cube;
  };

  using Cubes = std::array<WordSet::Cube, 16>;

  mpz_class below(NodeId id);
  [[nodiscard]] std::uint32_t block_end(NodeId id) const;
  double path_count(NodeId id, std::uint32_t end, std::unordered_map<NodeId, double>& known) const;
  // Whether the block's conditions are combined for each child. Otherwise each path is a branch of
  // its own: words that depend on each other, and a word cut into too many parts.
  bool grouped(NodeId id);
  std::vector<Branch> branches(NodeId id);
  template <class CubeOf, class Visit>
  void each_edge(Node run, const CubeOf& cube_of, const Visit& visit) const;
  void walk(NodeId id, std::uint32_t end, WordSet::Cube cube, std::vector<Path>& out) const;
  static void append(const Cubes& cubes, std::vector<WordSet>& words);
  mpz_class region_count(NodeId set);
  mpz_class paths_to_regions(NodeId id, std::uint32_t end);
  void enumerate(NodeId set, std::vector<WordSet>& words, std::size_t most, RegionList& out);
  void enumerate_paths(NodeId id, std::uint32_t end, Cubes cubes, std::vector<WordSet>& words,
                       std::size_t most, RegionList& out);
  [[nodiscard]] mpz_class size_of(const std::vector<WordSet>& words) const;

  Space& space_;
  std::unordered_map<NodeId, mpz_class> below_;
  std::unordered_map<NodeId, bool> grouped_;
  std::unordered_map<NodeId, mpz_class> region_counts_;
  std::unordered_map<NodeId, mpz_class> path_regions_;
};

}  // namespace secequiv::dd
