// Generates programs so that no class of shape stays rare: now and then it changes an earlier
// program of a rare class, or one that the caller kept, instead of generating a new one. Owns the
// counts of classes, one program of each, and the kept ones. It must not know what is under test.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "harness/base/random.h"
#include "harness/generate/description.h"
#include "harness/generate/program.h"

namespace secequiv {

class SteeredPrograms {
 public:
  explicit SteeredPrograms(ProgramShape shape = {})
      : shape_(shape), counts_(shape_classes().size()), examples_(shape_classes().size()) {}

  // Returns a program that the kernel accepts. The sequence depends only on `random`.
  Program next(Random& random);
  // Half of the programs that follow are changed copies of the kept ones, mostly of recent ones.
  // Precondition: the kernel accepts the program, except that it may be too long.
  void keep(Program program) { kept_.push_back(std::move(program)); }

  // Returns how many programs had each of shape_classes(), and the classes of the last program.
  [[nodiscard]] const std::vector<std::uint64_t>& counts() const { return counts_; }
  [[nodiscard]] const std::vector<std::uint16_t>& last() const { return last_; }

 private:
  // Chooses a few classes at random, and returns the example of the rarest one. Returns an empty
  // program if none of these classes has an example.
  [[nodiscard]] const Program& rare(Random& random) const;

  [[nodiscard]] Program changed_kept(Random& random) const;

  ProgramShape shape_;
  std::vector<std::uint64_t> counts_;
  std::vector<std::uint16_t> last_;
  std::vector<Program> kept_;
  std::vector<Program> examples_;  // one short program of each class; empty if there is none
};

}  // namespace secequiv
