#include "harness/generate/near_legal.h"

#include <algorithm>
#include <array>

#include "harness/bpf/refusal.h"
#include "harness/generate/mutate.h"
#include "harness/generate/program.h"

namespace secequiv {
namespace {

constexpr std::size_t kUsual = 24;  // the usual length of a program

// The limits of offsets, of indices of M[], of shifts and of distances, and the number after each.
constexpr std::array<std::uint32_t, 20> kLimits = {
    0,  1,  4,   15,  16,         31,         32,         56,         60,         61,
    63, 64, 255, 256, 0xffffefff, 0xfffff000, 0xfffff03c, 0xfffff03d, 0xfffff040, 0xffffffff};

std::uint16_t any_code(Random& random) {
  switch (random.below(8)) {
    case 0:
      return static_cast<std::uint16_t>(random.below(256));
    case 1:
      return static_cast<std::uint16_t>(random.word());
    default:
      return random.pick(insn_table()).code;
  }
}

// Returns a distance for a jump with `behind` instructions after it. The target is usually the last
// instruction or near it.
std::uint32_t any_distance(Random& random, std::size_t behind) {
  const auto near_end = static_cast<std::uint32_t>(behind + 1 - random.below(3));
  return random.one_in(3) ? static_cast<std::uint32_t>(random.below(behind + 2)) : near_end;
}

void change_one(Random& random, Program& program) {
  const std::size_t pc = random.below(program.size());
  Insn& in = program[pc];
  const std::size_t behind = program.size() - pc - 1;
  const auto place = program.begin() + static_cast<std::ptrdiff_t>(pc);
  constexpr std::array<std::uint16_t, 4> kMemory = {kLdMem, kLdxMem, kSt, kStx};
  switch (random.below(10)) {
    case 0:
      in.code = any_code(random);
      return;
    case 1:
      in.code = static_cast<std::uint16_t>(in.code ^ 1u << random.below(random.one_in(8) ? 16 : 8));
      return;
    case 2:
      in.k = random.pick(kLimits);
      return;
    case 3:
      in.k ^= 1u << random.below(32);
      return;
    case 4:
      in.jt = static_cast<std::uint8_t>(any_distance(random, behind));
      return;
    case 5:
      in.jf = static_cast<std::uint8_t>(any_distance(random, behind));
      return;
    case 6:
      in = Insn{kJa, 0, 0, any_distance(random, behind)};
      return;
    case 7:
      in = Insn{random.pick(kMemory), 0, 0,
                static_cast<std::uint32_t>(random.one_in(16) ? random.below(18) : random.below(3))};
      return;
    case 8:
      program.erase(place);
      return;
    default:
      program.insert(place, Insn{any_code(random), 0, 0, random.pick(kLimits)});
  }
}

}  // namespace

Program change_near_legal(Random& random, Program program, std::size_t room) {
  room = random.one_in(16) ? room : std::min(room, std::max(kUsual, program.size()));
  if (program.empty() || random.one_in(16))
    program = generate_program(random, {.length = random.between(1, kUsual)});
  if (random.one_in(4) && !refusal_of(program, LengthRule::kUnlimited))
    program = mutate_program(random, program);
  for (std::size_t i = random.between(1, 3); i > 0 && !program.empty(); --i)
    change_one(random, program);
  if (program.size() > room) program.resize(room);
  return program;
}

}  // namespace secequiv
