#include "verify/rules/whole.h"

namespace secequiv::rules {
namespace {

constexpr std::uint32_t kFirstWord = 4;  // registers are filled from this word on

std::uint32_t offset_of(std::uint32_t word) { return (word + kFirstWord) % 16 * 4; }

// Returns the words of M[] that code uses, one bit each.
std::uint32_t memory_of(ProgramView code) {
  std::uint32_t out = 0;
  for (const Insn& in : code)
    if (in.code == kLdMem || in.code == kLdxMem || in.code == kSt || in.code == kStx)
      out |= 1u << in.k;
  return out;
}

Program whole(const Program& code, std::size_t size, std::uint32_t memory, const Rewrite& rule) {
  Program out;
  for (std::uint32_t k = 0; k < kMemWords; ++k) {
    if ((memory >> k & 1) == 0) continue;
    out.push_back({kLdWAbs, 0, 0, offset_of(k + 2)});
    out.push_back({kSt, 0, 0, k});
  }
  out.push_back({kLdWAbs, 0, 0, offset_of(0)});
  out.push_back({kTax, 0, 0, 0});
  out.push_back({kLdWAbs, 0, 0, offset_of(1)});
  out.insert(out.end(), code.begin(), code.begin() + static_cast<std::ptrdiff_t>(size));
  // Each stub becomes a jump; the code of the exits follows.
  const std::size_t stubs = out.size();
  for (std::size_t exit = 0; exit < rule.live.size(); ++exit) out.push_back({kJa, 0, 0, 0});
  for (std::size_t exit = 0; exit < rule.live.size(); ++exit) {
    out[stubs + exit].k = static_cast<std::uint32_t>(out.size() - (stubs + exit) - 1);
    if ((rule.live[exit] & kLiveA) == 0) out.push_back({kLdImm, 0, 0, 0});
    // Multiplication by 3 loses no bit, and proofs handle it easily.
    if ((rule.live[exit] & kLiveX) != 0) {
      out.push_back({kMulK, 0, 0, 3});
      out.push_back({kXorX, 0, 0, 0});
    }
    for (std::uint32_t k = 0; k < kMemWords; ++k) {
      if ((memory >> k & 1) == 0 || (rule.live[exit] & kLiveM << k) == 0) continue;
      out.push_back({kMulK, 0, 0, 3});
      out.push_back({kLdxMem, 0, 0, k});
      out.push_back({kXorX, 0, 0, 0});
    }
    out.push_back({kXorK, 0, 0, static_cast<std::uint32_t>(exit) * 0x9e3779b1});
    out.push_back({kRetA, 0, 0, 0});
  }
  return out;
}

}  // namespace

std::string_view no_programs(const Instance& instance) {
  if (!std::holds_alternative<Fragment>(instance.before) ||
      !std::holds_alternative<Fragment>(instance.after))
    return "one side is a condition, not code";
  if (!of_symbols(instance.condition))
    return "its condition depends on registers or the input, which a program cannot guarantee";
  return "";
}

std::pair<Program, Program> whole_programs(const Instance& instance, const Assignment& assignment) {
  const auto& before = std::get<Fragment>(instance.before);
  const auto& after = std::get<Fragment>(instance.after);
  const Program first = instantiate(before, instance, assignment);
  const Program second = instantiate(after, instance, assignment);
  const std::uint32_t memory = memory_of(first) | memory_of(second);
  return {whole(first, before.size, memory, *instance.rule),
          whole(second, after.size, memory, *instance.rule)};
}

}  // namespace secequiv::rules
