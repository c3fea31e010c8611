// Sets of inputs taken apart: how many inputs, and which, as disjoint regions. Owns counting and
// the division of a diagram into conditions on words.
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
  // At most `most` of its regions; `count` and `region_count` are always of the whole set.
  RegionList list(NodeId set, std::size_t most);
  // Inputs that lead to the same leaf of `function` as `data` and pass the same tests of every word
  // on the way: the conditions that decided.
  Region around(NodeId function, const SeccompData& data);

 private:
  // Conditions on the words of one block of levels (one word, or words that alternate) under which
  // `child` is what is left of the diagram.
  struct Branch {
    NodeId child;
    std::vector<WordSet> words;
  };
  // A path through a block: what it fixes of each word.
  struct Path {
    NodeId child;
    std::array<WordSet::Cube, 16> words;
  };

  mpz_class below(NodeId id);
  [[nodiscard]] std::uint32_t block_end(NodeId id) const;
  std::vector<Branch> branches(NodeId id);
  void walk(NodeId id, std::uint32_t end, const Path& path, std::vector<Path>& out);
  const mpz_class& region_count(NodeId set);
  void enumerate(NodeId set, std::vector<WordSet>& words, std::size_t most, RegionList& out);
  [[nodiscard]] mpz_class size_of(const std::vector<WordSet>& words) const;

  Space& space_;
  std::unordered_map<NodeId, mpz_class> below_;
  std::unordered_map<NodeId, mpz_class> region_counts_;
};

}  // namespace secequiv::dd
