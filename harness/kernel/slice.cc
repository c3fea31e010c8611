#include "harness/kernel/slice.h"

#include <utility>
#include <vector>

namespace secequiv::kernel {
namespace {

struct Reached {
  const Insn* begin;
  std::vector<bool>* at_index;

  void at(const Insn* pc, const Machine<Concrete>&) {
    (*at_index)[static_cast<std::size_t>(pc - begin)] = true;
  }
  void outcome(const Insn*, bool) {}
};

}  // namespace

Program executed_part(ProgramView program, std::span<const SeccompData> inputs) {
  std::vector<bool> reached(program.size());
  for (const SeccompData& input : inputs) {
    Reached observer{program.data(), &reached};
    run_observed(program, input, observer);
  }
  std::vector<std::size_t> place(program.size());  // by instruction: its index in the result
  std::size_t size = 0;
  for (std::size_t i = 0; i < program.size(); ++i) {
    place[i] = size;
    if (reached[i]) ++size;
  }
  Program out;
  for (std::size_t i = 0; i < program.size(); ++i) {
    if (!reached[i]) continue;
    Insn in = program[i];
    // Removing code only shortens distances, so they still fit.
    const auto distance = [&](std::size_t old) { return place[i + 1 + old] - out.size() - 1; };
    if (in.code == kJa) {
      in.k = static_cast<std::uint32_t>(distance(in.k));
    } else if (is_conditional(in)) {
      // The two sides must have different targets, because the kernel would drop a comparison with
      // equal ones.
      const auto side = [&](std::size_t mine, std::size_t other) {
        if (reached[i + 1 + mine]) return distance(mine);
        return std::size_t{distance(other) == 1 ? 0U : 1U};
      };
      const auto [jt, jf] = std::pair(side(in.jt, in.jf), side(in.jf, in.jt));
      in.jt = static_cast<std::uint8_t>(jt);
      in.jf = static_cast<std::uint8_t>(jf);
    }
    out.push_back(in);
  }
  out.push_back({kRetK, 0, 0, 0});  // target of the sides that no input takes
  return out;
}

}  // namespace secequiv::kernel
