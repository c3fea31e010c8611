#include "harness/optimize/pass.h"

#include <array>

#include "harness/optimize/bytecode/passes.h"

namespace secequiv {
namespace {

constexpr std::array kPasses = {
    Pass{"thread-conditional-jumps",
         "A conditional jump to an unconditional one may go straight to where that one goes, if 8 "
         "bits reach it.",
         "ld [0]\njeq #1, z, b\nz: ja c\nb: ret #0\nc: ret #1\n",
         "ld [0]\njeq #1, c, b\nz: ja c\nb: ret #0\nc: ret #1\n", detail::thread_conditional_jumps},
    Pass{"thread-jumps",
         "An unconditional jump to another may go straight to the end of the chain.",
         "ja z\nret #0\nz: ja b\nret #1\nb: ret #2\n", "ja b\nret #0\nz: ja b\nret #1\nb: ret #2\n",
         detail::thread_jumps},
    Pass{"merge-equal-targets",
         "A conditional jump with both targets equal decides nothing: it is an unconditional one.",
         "ld [0]\njeq #1, z, z\nz: ret #0\n", "ld [0]\nja z\nz: ret #0\n",
         detail::merge_equal_targets},
    Pass{"replace-jumps-to-returns", "A jump to a return may be that return.",
         "ja z\nret #0\nz: ret #1\n", "ret #1\nret #0\nz: ret #1\n",
         detail::replace_jumps_to_returns},
    Pass{"remove-null-jumps", "An unconditional jump to the next instruction does nothing.",
         "ld [0]\nja z\nz: ret a\n", "ld [0]\nret a\n", detail::remove_null_jumps},
    Pass{"remove-unreachable", "What no path of jumps reaches never runs.",
         "ret #1\nld [0]\nret a\n", "ret #1\n", detail::remove_unreachable},
    Pass{"remove-redundant-loads",
         "Loading the input word that A holds already on every path changes nothing.",
         "ld [0]\njeq #1, z, b\nz: ld [0]\nb: ret a\n", "ld [0]\njeq #1, b, b\nb: ret a\n",
         detail::remove_redundant_loads},
    Pass{"merge-returns",
         "Equal returns are interchangeable, so the fewest that every jump can reach will do.",
         "ld [0]\njeq #1, z, b\nb: jeq #2, c, d\nz: ret #1\nc: ret #1\nd: ret #0\n",
         "ld [0]\njeq #1, c, b\nb: jeq #2, c, d\nz: ret #1\nc: ret #1\nd: ret #0\n",
         detail::merge_returns},
};

}  // namespace

std::span<const Pass> bytecode_passes() { return kPasses; }

const Pass* find_pass(std::string_view name) {
  for (const Pass& pass : kPasses)
    if (pass.name == name) return &pass;
  return nullptr;
}

Optimized optimize(ProgramView program, std::span<const Pass* const> passes) {
  Optimized out{Program(program.begin(), program.end()), {}, true};
  bool changed = true;
  for (std::size_t round = 1; changed; ++round) {
    if (round > kMaxRounds) {
      out.fixpoint = false;
      break;
    }
    changed = false;
    for (const Pass* pass : passes) {
      Program next = pass->run(out.program);
      const bool differs = next != out.program;
      out.steps.push_back(PassStep{pass->name, round, out.program.size(), next.size(), differs});
      changed = changed || differs;
      out.program = std::move(next);
    }
  }
  return out;
}

Optimized optimize(ProgramView program) {
  std::vector<const Pass*> all;
  all.reserve(std::size(kPasses));
  for (const Pass& pass : kPasses) all.push_back(&pass);
  return optimize(program, all);
}

}  // namespace secequiv
