#include "harness/generate/program.h"

#include <algorithm>
#include <array>

#include "harness/bpf/refusal.h"
#include "harness/generate/edit.h"
#include "harness/generate/pieces.h"
#include "harness/generate/random_program.h"

namespace secequiv {
namespace {

constexpr std::array<std::string_view, kShapes> kShapeNames = {
    "noise",         "linear-search",  "tree-search",    "wide-comparison", "masks",
    "decided-tests", "repeated-loads", "similar-blocks", "similar-returns", "computed-returns",
    "dead-code",     "jump-chains",    "dispatch",       "scratch",         "registers",
    "arithmetic",    "nested-joins",   "far-jumps",      "long-lists",      "compiled"};

std::size_t usual_length(Random& random) {
  const std::size_t kind = random.below(1000);
  if (kind == 0) return kMaxInsns;
  if (kind < 16) return random.between(200, 1300);
  return random.between(5, 60);
}

Program any_program(Random& random, const ProgramShape& shape) {
  const std::size_t length = shape.length == 0 ? usual_length(random) : shape.length;
  const bool noise = (shape.shapes >> static_cast<unsigned>(BlockShape::kNoise) & 1) != 0;
  if (noise && random.one_in(8)) return random_program(random, std::min(length, kMaxInsns));
  // Intermediate jumps and the last piece can make a program longer than requested.
  for (std::size_t wanted = std::min(length, kMaxInsns);; wanted -= wanted / 4) {
    Program out = detail::Pieces(random, wanted, shape).generate();
    if (out.size() <= kMaxInsns) return out;
  }
}

}  // namespace

std::string_view shape_name(BlockShape shape) {
  return kShapeNames[static_cast<std::size_t>(shape)];
}

Program generate_program(Random& random, const ProgramShape& shape) {
  for (;;) {
    Program out = any_program(random, shape);
    if (shape.dead_code) return out;
    // A word of M[] may count as stored only because of a jump that is now gone.
    out = without_dead_code(out);
    if (!refusal_of(out)) return out;
  }
}

Program without_dead_code(ProgramView program) {
  detail::Code code = detail::lines_of(program);
  detail::erase_unreached(code, {});
  Program out;
  detail::write_lines(code, out);
  return out;
}

}  // namespace secequiv
