#include "harness/seccomp/cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/generate/random_program.h"
#include "harness/seccomp/action.h"

namespace secequiv::seccomp_cache_test {
namespace {

const std::set<std::uint16_t> kConstant = {kLdWAbs, kJa, kJeqK, kJgtK, kJgeK, kJsetK, kAndK, kRetK};

std::size_t count(const std::vector<bool>& bits) {
  return static_cast<std::size_t>(std::ranges::count(bits, true));
}

std::vector<std::size_t> numbers(const std::vector<bool>& bits) {
  std::vector<std::size_t> out;
  for (std::size_t nr = 0; nr < bits.size(); ++nr)
    if (bits[nr]) out.push_back(nr);
  return out;
}

TEST(Cache, BitmapSizeMatchesTheKernel) {
  EXPECT_EQ(cached_numbers(Arch::kX86_64), 472u);
  EXPECT_EQ(cached_numbers(Arch::kI386), 472u);
  EXPECT_EQ(cached_numbers(Arch::kArm), 472u) << "without ARM's private calls";
  EXPECT_EQ(cached_numbers(Arch::kX32), 0u);
  EXPECT_EQ(cached_numbers(Arch::kMips64), 0u);
  for (const ArchInfo& info : all_arches())
    EXPECT_EQ(count(cacheable(assemble("ret #0x7fff0000"), info.arch)), cached_numbers(info.arch));
}

TEST(Cache, BitsFollowNumberAndArchitecture) {
  const Program program = assemble(
      "ld [4]\njeq #0xc000003e, on, other\nother: jeq #0x40000003, i386, bad\n"
      "on: ld [0]\njgt #9, bad, low\nlow: jge #7, good, masked\nmasked: and #0x5\njset #0x4, good, "
      "bad\ni386: ld [0]\njeq #3, good, bad\nbad: ret #0\ngood: ret #0x7fff0000");
  EXPECT_EQ(numbers(cacheable(program, Arch::kX86_64)),
            (std::vector<std::size_t>{4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(numbers(cacheable(program, Arch::kI386)), std::vector<std::size_t>{3});
  EXPECT_TRUE(numbers(cacheable(program, Arch::kAarch64)).empty());
}

TEST(Cache, EmulationStartsWithZeroInA) {
  const auto all = cached_numbers(Arch::kX86_64);
  EXPECT_EQ(
      count(cacheable(assemble("jeq #0, y, n\ny: ret #0x7fff0000\nn: ret #0"), Arch::kX86_64)),
      all);
  EXPECT_EQ(
      count(cacheable(assemble("jeq #1, n, y\ny: ret #0x7fff0000\nn: ret #0"), Arch::kX86_64)),
      all);
}

TEST(Cache, OnlyAllowWithoutDataIsCached) {
  for (const std::uint32_t value : {0x7fff0001u, 0x7ffc0000u, 0x7fff8000u, 0u, 0x80000000u,
                                    0x50001u, 0x7ff00000u, 0x7fc00000u, 0x7ffe0000u, 0xffff0000u})
    EXPECT_EQ(count(cacheable(Program{{kRetK, 0, 0, value}}, Arch::kX86_64)), 0u) << value;
}

// Every other instruction ends the emulation, but only if the emulation reaches it.
TEST(Cache, OtherInstructionsPreventCaching) {
  const auto all = cached_numbers(Arch::kX86_64);
  const Insn allow{kRetK, 0, 0, SECCOMP_RET_ALLOW};
  int breaking = 0;
  for (const InsnInfo& info : insn_table()) {
    if (!info.seccomp) continue;
    const std::uint32_t k = info.code == kLdMem || info.code == kLdxMem ? 1 : 0;
    const Insn insn{info.code, 0, 0, info.operand == Operand::Imm ? 1 : k};
    const bool constant = kConstant.contains(info.code);
    if (!is_ret(insn)) {
      EXPECT_EQ(count(cacheable(Program{insn, allow}, Arch::kX86_64)), constant ? all : 0)
          << info.name;
      breaking += !constant;
    }
    EXPECT_EQ(count(cacheable(Program{{kJa, 0, 0, 1}, insn, allow}, Arch::kX86_64)), all)
        << info.name;
  }
  EXPECT_EQ(breaking, 32);
  EXPECT_EQ(count(cacheable(assemble("ret a"), Arch::kX86_64)), 0u);
  for (std::uint32_t offset = 0; offset < kSeccompDataSize; offset += 4)
    EXPECT_EQ(count(cacheable(Program{{kLdWAbs, 0, 0, offset}, allow}, Arch::kX86_64)),
              offset < 8 ? all : 0)
        << offset;
}

TEST(Cache, AllFiltersOfAStackMustAgree) {
  const Program low = assemble("ld [0]\njgt #5, n, y\ny: ret #0x7fff0000\nn: ret #0x50001");
  const Program odd = assemble("ld [0]\njset #1, y, n\ny: ret #0x7fff0000\nn: ret #0x50001");
  const Program none = assemble("ld [16]\nret #0x7fff0000");
  const std::vector<std::size_t> both = {1, 3, 5};
  EXPECT_EQ(numbers(cacheable(std::vector<ProgramView>{low, odd}, Arch::kX86_64)), both);
  EXPECT_EQ(numbers(cacheable(std::vector<ProgramView>{odd, low}, Arch::kX86_64)), both);
  EXPECT_EQ(count(cacheable(std::vector<ProgramView>{low, odd, none}, Arch::kX86_64)), 0u);
  EXPECT_EQ(cacheable(std::vector<ProgramView>{odd}, Arch::kX86_64), cacheable(odd, Arch::kX86_64));
}

TEST(Cache, RefusedProgramsAreNotCached) {
  for (const Program& program :
       {Program{}, Program{{kLdWAbs, 0, 0, 0}}, Program{{kJa, 0, 0, 0xffffffff}},
        Program{{kJeqK, 255, 255, 0}}, Program{{0xffff, 0, 0, 0}}})
    EXPECT_EQ(count(cacheable(program, Arch::kX86_64)), 0u);
}

// Returns a program that consists mostly of instructions that the emulation understands, so that
// both answers occur.
Program nearly_constant(Random& random) {
  Program program = random_program(random, random.between(2, 24));
  for (Insn& in : program) {
    if (in.code == kRetK && !random.one_in(3)) in.k = SECCOMP_RET_ALLOW;
    if (in.code == kRetA && !random.one_in(3)) in = {kRetK, 0, 0, SECCOMP_RET_ALLOW};
    if (in.code == kLdWAbs && !random.one_in(5)) in.k = random.one_in(2) ? 4 : 0;
    if (is_conditional(in) && !random.one_in(9))
      in = {random.pick(std::array{kJeqK, kJgtK, kJgeK, kJsetK}), in.jt, in.jf,
            random.word() % 480};
    if (!is_jump(in) && !is_ret(in) && in.code != kLdWAbs && !random.one_in(9))
      in = {kLdWAbs, 0, 0, 0};
  }
  return program;
}

struct Recorder {
  bool constant = true;
  void at(const Insn* pc, const Machine<Concrete>&) {
    constant &= kConstant.contains(pc->code) && (pc->code != kLdWAbs || pc->k < 8);
  }
  void outcome(const Insn*, bool) {}
};

// The interpreter must confirm each bit, whatever values the rest of the input has.
TEST(Cache, AgreesWithTheInterpreter) {
  Random random(17);
  std::size_t cached = 0;
  std::size_t other = 0;
  for (int i = 0; i < 150; ++i) {
    const Program program = nearly_constant(random);
    if (refusal_of(program)) continue;
    const Arch arch = random.pick(std::array{Arch::kX86_64, Arch::kI386, Arch::kS390x});
    const std::vector<bool> bits = cacheable(program, arch);
    for (std::uint32_t nr = 0; nr < bits.size(); ++nr) {
      for (SeccompData& input : random_inputs(random, program, 3)) {
        input.set_nr(nr);
        input.set_arch(arch_info(arch).audit);
        Recorder recorder;
        const std::uint32_t value = run_observed(program, input, recorder);
        if (bits[nr]) ASSERT_EQ(value, SECCOMP_RET_ALLOW) << nr << "\n" << asm_text(program);
        ASSERT_EQ(bits[nr], recorder.constant && value == SECCOMP_RET_ALLOW) << nr << "\n"
                                                                             << asm_text(program);
      }
      ++(bits[nr] ? cached : other);
    }
  }
  EXPECT_GE(cached, 5000u);
  EXPECT_GE(other, 5000u);
}

}  // namespace
}  // namespace secequiv::seccomp_cache_test
