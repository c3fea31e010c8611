// Compares exact costs with counts made by hand, with running every input of programs that read few
// bits, and with derived inputs of real filters.
#include "verify/dd/cost.h"

#include <fmt/format.h>
#include <gmpxx.h>
#include <gtest/gtest.h>

#include <array>
#include <filesystem>

#include "harness/base/file.h"
#include "harness/base/random.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/inputs/cases.h"
#include "harness/seccomp/action.h"

namespace secequiv::dd::cost_test {
namespace {

constexpr std::uint32_t kAudit = AUDIT_ARCH_X86_64;
// The number of inputs with one given arch and nr.
const std::string kAllInputs = mpz_class(mpz_class(1) << 448).get_str();

ExactCost cost_of(FilterStack stack, std::uint32_t nr, std::uint32_t audit = kAudit) {
  auto cost = exact_cost(stack, audit, nr, {});
  if (cost) return std::move(*cost);
  ADD_FAILURE() << cost.error().text() << "\n" << asm_text(stack.front());
  return {};
}

ExactCost cost_of(ProgramView program, std::uint32_t nr, std::uint32_t audit = kAudit) {
  return cost_of(FilterStack(&program, 1), nr, audit);
}

WorstInput worst_of(FilterStack stack) {
  const auto found = exact_worst(stack, {});
  if (found) return *found;
  ADD_FAILURE() << found.error().text() << "\n" << asm_text(stack.front());
  return {};
}

WorstInput worst_of(ProgramView program) { return worst_of(FilterStack(&program, 1)); }

TEST(ExactCost, MatchesCountsByHand) {
  // The policy always allows read and write, and never allows open. It allows close if bit 31 of
  // arg0 is clear. For write, it executes two more instructions if the low half of arg0 is 5.
  const Program program = assemble(
      "ld [0]\njeq #0, allow, n1\nn1: jeq #1, write, n2\nn2: jeq #2, open, n3\nn3: jeq #3, close, "
      "deny\n"
      "write: ld [16]\njeq #5, more, allow\nmore: ld [16]\nja allow\n"
      "open: ret #0x50002\nclose: ld [16]\njset #0x80000000, deny, allow\n"
      "deny: ret #0x50001\nallow: ret #0x7fff0007");
  const ExactCost read = cost_of(program, 0);
  EXPECT_EQ(read.least.instructions, 3u);
  EXPECT_EQ(read.most.instructions, 3u);
  EXPECT_EQ(read.mean.exact, "3");
  EXPECT_EQ(read.jumps.exact, "1");
  EXPECT_EQ(read.inputs, kAllInputs);
  EXPECT_TRUE(read.allowed);

  const ExactCost write = cost_of(program, 1);
  EXPECT_EQ(write.least.instructions, 6u);
  EXPECT_EQ(write.most.instructions, 8u);
  SeccompData five;
  five.set_nr(1);
  five.set_arch(kAudit);
  five.set_field(0, 5, Endian::kLittle);
  EXPECT_EQ(write.most.data, five);
  // The mean is 6 + 2 * 2^-32.
  EXPECT_EQ(write.mean.exact, "12884901889/2147483648");
  EXPECT_DOUBLE_EQ(write.mean.value, 6 + 1 / 2147483648.0);
  // Each path contains one jump to `write` and one to `allow`.
  EXPECT_EQ(write.jumps.exact, "2");

  const ExactCost open = cost_of(program, 2);
  EXPECT_FALSE(open.allowed);
  EXPECT_EQ(open.inputs, kAllInputs);
  EXPECT_EQ(open.mean.exact, "5");

  const ExactCost close = cost_of(program, 3);
  EXPECT_TRUE(close.allowed);
  EXPECT_EQ(close.inputs, mpz_class(mpz_class(1) << 447).get_str());
  EXPECT_EQ(close.mean.exact, "8");

  // The filter does not read arch, so the result is the same for another architecture.
  EXPECT_EQ(cost_of(program, 1, 7).mean.exact, write.mean.exact);
  EXPECT_EQ(worst_of(program).instructions, 8u);
}

// Covers comparisons of two words, and computed results.
TEST(ExactCost, CountsComputedResults) {
  // The filter allows if the low halves of arg0 and arg1 are equal: one input in 2^32.
  const Program equal = assemble(
      "ld [16]\ntax\nld [24]\njeq x, y, n\ny: ld #0x7fff0000\nja e\nn: ld #0x50001\ne: ret a");
  const ExactCost cost = cost_of(equal, 0);
  EXPECT_EQ(cost.least.instructions, 6u);
  EXPECT_EQ(cost.most.instructions, 7u);
  EXPECT_TRUE(cost.allowed);
  EXPECT_EQ(cost.mean.exact, "7");
  EXPECT_EQ(cost.jumps.exact, "1");
  EXPECT_EQ(cost.inputs, mpz_class(mpz_class(1) << 416).get_str());
  // A division by zero ends the program, and the call is denied.
  const ExactCost division =
      cost_of(assemble("ldx #0\nld [16]\ntax\nld #9\ndiv x\nld #0x7fff0000\nret a"), 0);
  EXPECT_EQ(division.least.instructions, 5u);
  EXPECT_EQ(division.least.data.field(0, Endian::kLittle), 0u);
  EXPECT_EQ(division.most.instructions, 7u);
  EXPECT_EQ(division.mean.exact, "7");
}

TEST(ExactCost, IgnoresInfeasiblePaths) {
  // The longest path in the control-flow graph requires arg0 to be above 9 and below 4.
  const Program program = assemble(
      "ld [16]\njgt #9, c, d\nc: ld #1\nld #1\nld [16]\nd: jge #4, e, f\nf: ld #1\nld #1\ne: ret "
      "#0x7fff0000");
  const ExactCost cost = cost_of(program, 0);
  EXPECT_EQ(cost.most.instructions, 7u);
  EXPECT_EQ(cost.least.instructions, 4u);
  EXPECT_EQ(worst_of(program).instructions, 7u);
}

TEST(ExactCost, ExceededLimitsAreErrors) {
  const Program program = assemble(
      "ld [16]\ntax\nld [24]\nmul x\ntax\nld [32]\nmul x\njset #0x8000, y, n\ny: ret "
      "#0x7fff0000\nn: ret #0");
  const Limits few{.nodes = 2000, .steps = 20000};
  const auto cost = exact_cost(std::array{ProgramView(program)}, kAudit, 0, few);
  ASSERT_FALSE(cost);
  EXPECT_EQ(cost.error().code, ErrorCode::kBudget);
  const auto worst = exact_worst(std::array{ProgramView(program)}, few);
  ASSERT_FALSE(worst);
  EXPECT_EQ(worst.error().code, ErrorCode::kBudget);
  const auto late = exact_cost(std::array{ProgramView(program)}, kAudit, 0, {.seconds = 0});
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, ErrorCode::kBudget);
}

constexpr std::uint32_t kFirst = 4;
constexpr std::uint32_t kSecond = 6;

// Returns a legal program that sees only the two lowest bits of nr and arch and three bits of two
// arguments: a mask follows every load.
Program few_bits(Random& random) {
  constexpr std::array kTests = {kJeqK, kJgtK, kJgeK, kJsetK, kJeqX, kJgtX};
  constexpr std::array kOthers = {kTax,  kTxa,  kAddX, kXorX, kSubK, kAndX,
                                  kMulK, kDivX, kOrK,  kSt,   kLdMem};
  constexpr std::array<std::uint32_t, 4> kWords = {kNrWord, kArchWord, kFirst, kSecond};
  for (;;) {
    const std::size_t length = random.between(3, 30);
    Program program;
    while (program.size() < length) {
      const auto jump = [&] { return static_cast<std::uint8_t>(random.below(4)); };
      const auto k = static_cast<std::uint32_t>(random.below(8));
      switch (random.below(5)) {
        case 0: {
          const std::uint32_t word = random.pick(kWords);
          program.push_back({kLdWAbs, 0, 0, word * 4});
          program.push_back({kAndK, 0, 0, word < kFirst ? 3u : 7u});
          break;
        }
        case 1:
          program.push_back({random.pick(kOthers), 0, 0, random.one_in(4) ? SECCOMP_RET_ALLOW : k});
          if (program.back().code == kSt || program.back().code == kLdMem) program.back().k = 0;
          break;
        case 2:
          program.push_back({kJa, 0, 0, jump()});
          break;
        default:
          program.push_back({random.pick(kTests), jump(), jump(), k});
      }
    }
    program.push_back({kRetK, 0, 0, SECCOMP_RET_ALLOW | 1});
    program.push_back({kRetK, 0, 0, SECCOMP_RET_ERRNO | 1});
    program.push_back({kOrK, 0, 0, random.one_in(2) ? SECCOMP_RET_ALLOW : 1});
    program.push_back({kRetA, 0, 0, 0});
    if (!refusal_of(program)) return program;
  }
}

// Runs the program and counts instructions and jumps.
struct Walk {
  std::size_t instructions = 0;
  std::size_t jumps = 0;
  const Insn* last = nullptr;  // null at the start of each program

  void at(const Insn* pc, const Machine<Concrete>&) {
    ++instructions;
    if (last != nullptr && pc != last + 1) ++jumps;
    last = pc;
  }
  void outcome(const Insn*, bool) {}
};

struct Counts {
  std::size_t inputs = 0;
  std::size_t instructions = 0;
  std::size_t jumps = 0;
};

std::string ratio(std::size_t a, std::size_t b) {
  mpq_class out(static_cast<unsigned long>(a), static_cast<unsigned long>(b));
  out.canonicalize();
  return out.get_str();
}

TEST(ExactCost, AgreesWithRunningEveryInput) {
  Random random(77);
  int partly = 0;
  int spread = 0;
  for (int i = 0; i < of_cases(3000); ++i) {
    const Program programs[] = {few_bits(random), few_bits(random), few_bits(random)};
    const ProgramView views[] = {programs[0], programs[1], programs[2]};
    const FilterStack stack(views, random.one_in(2) ? 1 : random.between(2, 3));
    const std::string text =
        fmt::format("{} filters:\n{}\n{}\n{}", stack.size(), asm_text(views[0]), asm_text(views[1]),
                    asm_text(views[2]));
    std::size_t worst = 0;
    for (std::uint32_t call = 0; call < 16; ++call) {
      const std::uint32_t nr = call;  // nr % 4 is all that the program sees
      const std::uint32_t audit = call / 4;
      Counts all;
      Counts allowed;
      std::size_t least = ~std::size_t{0};
      std::size_t most = 0;
      for (std::uint32_t words = 0; words < 64; ++words) {
        SeccompData data;
        data.set_nr(nr);
        data.set_arch(audit);
        data.words[kFirst] = words % 8;
        data.words[kSecond] = words / 8;
        Walk walk;
        for (const ProgramView program : stack) {
          walk.last = nullptr;
          run_observed(program, data, walk);
        }
        const bool allows = action_of(run_stack(stack, data)) == SECCOMP_RET_ALLOW;
        for (Counts* counts : {&all, &allowed}) {
          if (counts == &allowed && !allows) continue;
          ++counts->inputs;
          counts->instructions += walk.instructions;
          counts->jumps += walk.jumps;
        }
        least = std::min(least, walk.instructions);
        most = std::max(most, walk.instructions);
      }
      worst = std::max(worst, most);
      if (!random.one_in(2)) continue;
      const ExactCost cost = cost_of(stack, nr, audit);
      const Counts& counts = allowed.inputs > 0 ? allowed : all;
      ASSERT_EQ(cost.least.instructions, least) << text;
      ASSERT_EQ(cost.most.instructions, most) << text;
      ASSERT_EQ(cost.allowed, allowed.inputs > 0) << text;
      ASSERT_EQ(cost.mean.exact, ratio(counts.instructions, counts.inputs)) << text;
      ASSERT_EQ(cost.jumps.exact, ratio(counts.jumps, counts.inputs)) << text;
      ASSERT_EQ(mpz_class(cost.inputs), mpz_class(static_cast<unsigned long>(counts.inputs))
                                            << (448 - 6));
      for (const WorstInput& end : {cost.least, cost.most}) {
        ASSERT_EQ(executed(stack, end.data), end.instructions) << text;
        ASSERT_EQ(end.data.nr(), nr);
        ASSERT_EQ(end.data.arch(), audit);
      }
      partly += allowed.inputs > 0 && allowed.inputs < all.inputs ? 1 : 0;
      spread += least != most ? 1 : 0;
    }
    const WorstInput found = worst_of(stack);
    ASSERT_EQ(found.instructions, worst) << text;
    ASSERT_EQ(executed(stack, found.data), worst) << text;
  }
  EXPECT_GE(partly, of_cases(1000)) << "some calls are allowed for some inputs only";
  EXPECT_GE(spread, of_cases(1000))
      << "inputs of one call execute different numbers of instructions";
}

TEST(ExactCost, DerivedInputsLieWithinExactCosts) {
  const std::filesystem::path corpus = std::filesystem::path(SECEQUIV_SOURCE_DIR) / "corpus";
  std::vector<SyscallCount> every;
  for (const SyscallEntry& call : arch_info(Arch::kX86_64).syscalls)
    every.push_back({std::string(call.name), 1});
  for (const char* name : {"gvisor/systrap.after.bpf", "libseccomp/docker-x86_64.tree.bpf"}) {
    const auto bytes = read_file(corpus / "programs" / name);
    ASSERT_TRUE(bytes) << name;
    const auto program = read_program(*bytes, name, Form::kRaw);
    ASSERT_TRUE(program) << name;
    const auto inputs = derive_cases(*program).inputs;
    const WorstInput overall = worst_of(*program);
    EXPECT_GE(overall.instructions, worst(std::array{ProgramView(*program)}, inputs).instructions)
        << name;
    int spread = 0;
    for (const CallCost& derived : profile_cost(*program, Arch::kX86_64, every, inputs)) {
      const std::uint32_t nr = profile_nr(Arch::kX86_64, derived.name).value_or(0);
      const ExactCost cost = cost_of(*program, nr);
      EXPECT_LE(cost.least.instructions, derived.least) << name << " " << derived.name;
      EXPECT_GE(cost.most.instructions, derived.most) << name << " " << derived.name;
      EXPECT_GE(overall.instructions, cost.most.instructions) << name << " " << derived.name;
      EXPECT_GE(cost.mean.value, static_cast<double>(cost.least.instructions)) << derived.name;
      EXPECT_LE(cost.mean.value, static_cast<double>(cost.most.instructions)) << derived.name;
      spread += cost.least.instructions != cost.most.instructions ? 1 : 0;
    }
    EXPECT_GE(spread, 1) << name;
  }
}

}  // namespace
}  // namespace secequiv::dd::cost_test
