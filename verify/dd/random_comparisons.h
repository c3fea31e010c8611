// Owns random programs that diagrams handle well, for tests of this engine and for tests that
// compare engines. Only tests include it. It must not know engines.
#pragma once

#include <algorithm>
#include <array>

#include "harness/base/random.h"
#include "harness/bpf/insn.h"

namespace secequiv::dd {

// Returns a legal program of loads, masks, comparisons with constants and constant returns. It uses
// few words and clustered constants, so that tests overlap, repeat and contradict each other.
inline Program comparing_program(Random& random, std::size_t length) {
  constexpr std::array kTests = {kJeqK, kJgtK, kJgeK, kJsetK};
  Program program = {Insn{kLdWAbs, 0, 0, 4 * static_cast<std::uint32_t>(random.below(4))}};
  while (program.size() < length) {
    const std::size_t left = length - program.size();
    const std::uint32_t small = static_cast<std::uint32_t>(random.below(8));
    const std::uint32_t k = random.one_in(4)   ? random.word()
                            : random.one_in(3) ? 0u - small
                                               : small << random.below(30);
    switch (random.below(6)) {
      case 0:
        program.push_back({kLdWAbs, 0, 0, 4 * static_cast<std::uint32_t>(random.below(4))});
        break;
      case 1:
        // A load precedes each mask, so that the mask applies to one word even where paths join.
        if (left < 2) break;
        program.push_back({kLdWAbs, 0, 0, 4 * static_cast<std::uint32_t>(random.below(4))});
        program.push_back({kAndK, 0, 0, random.one_in(2) ? ~k : random.word()});
        break;
      case 2:
        program.push_back({kRetK, 0, 0, small});
        break;
      default: {
        const auto reach = [&] {
          return static_cast<std::uint8_t>(random.below(std::min<std::size_t>(left + 1, 12)));
        };
        const std::uint8_t jt = reach();
        const std::uint8_t jf = reach();
        program.push_back({random.pick(kTests), jt, jf, k});
        break;
      }
    }
  }
  // Jumps reach at most 12 instructions ahead, so all targets past the end fall into this block of
  // returns.
  for (std::uint32_t i = 0; i < 14; ++i) program.push_back({kRetK, 0, 0, i % 5});
  return program;
}

}  // namespace secequiv::dd
