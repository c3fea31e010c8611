// Tests the table of passes: the law and the example of each pass, its effect on known programs,
// and the fixpoint loop.
#include <gtest/gtest.h>

#include <set>
#include <utility>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/optimize/optimizer.h"
#include "harness/policy/compile.h"
#include "harness/policy/testing.h"

namespace secequiv::optimize_pass_test {
namespace {

Program apply(std::string_view pass, std::string_view text) {
  const Pass* found = find_pass(pass);
  if (found != nullptr) return std::get<BytecodePass>(found->run)(assemble(text));
  ADD_FAILURE() << "no pass " << pass;
  return {};
}

Program run_pass(std::string_view pass, const Program& program) {
  return std::get<BytecodePass>(find_pass(pass)->run)(program);
}

TEST(Passes, TableHasALawAndAnExampleForEachPass) {
  std::set<std::string_view> names;
  std::size_t kinds[3] = {};
  for (const Pass& pass : all_passes()) {
    EXPECT_TRUE(names.insert(pass.name).second) << pass.name << " twice";
    EXPECT_EQ(find_pass(pass.name), &pass);
    EXPECT_EQ(pass.name.find_first_not_of("abcdefghijklmnopqrstuvwxyz-"), std::string_view::npos)
        << pass.name;
    EXPECT_TRUE(pass.law.ends_with('.')) << pass.name << ": the law is a sentence";
    ++kinds[pass.run.index()];
  }
  EXPECT_EQ(rule_passes().size(), kinds[0]);
  EXPECT_EQ(layout_passes().size(), kinds[1]);
  EXPECT_EQ(bytecode_passes().size(), kinds[2]);
  for (const std::size_t count : kinds) EXPECT_GT(count, 1u);
  EXPECT_EQ(find_pass(""), nullptr);
  EXPECT_EQ(find_pass("no-such-pass"), nullptr);
}

TEST(Passes, RuleExamplesAreCorrect) {
  for (const Pass& pass : rule_passes()) {
    const auto before = read_rule(pass.example_before, "before");
    const auto after = read_rule(pass.example_after, "after");
    ASSERT_TRUE(before && after) << pass.name;
    EXPECT_NE(write_rule(*before), write_rule(*after)) << pass.name;
    EXPECT_EQ(write_rule(std::get<RulePass>(pass.run)(*before)), write_rule(*after)) << pass.name;
  }
}

// Runs the standard passes before this one on the example's plan, and then this pass.
TEST(Passes, LayoutExamplesAreCorrect) {
  for (const Pass& pass : layout_passes()) {
    const Policy policy =
        policy_from(R"j({"version": 1, "arches": ["x86_64"], "default_action": "kill_process",
            "hot": ["futex"], "rule_sets": )j" +
                    std::string(pass.example_before) + "}");
    Plan plan = make_plan(policy);
    const auto standard = standard_passes();
    for (const Pass& earlier : layout_passes()) {
      if (&earlier == &pass) break;
      if (std::ranges::find(standard, &earlier) != standard.end())
        plan = std::get<LayoutPass>(earlier.run)(plan);
    }
    const Plan after = std::get<LayoutPass>(pass.run)(plan);
    EXPECT_NE(plan_text(plan), plan_text(after)) << pass.name;
    EXPECT_EQ(plan_text(after), pass.example_after) << pass.name;
    EXPECT_EQ(std::get<LayoutPass>(pass.run)(after), after) << pass.name << " twice";
  }
}

TEST(Passes, BytecodeExamplesAreCorrect) {
  for (const Pass& pass : bytecode_passes()) {
    const Program before = assemble(pass.example_before);
    const Program after = assemble(pass.example_after);
    EXPECT_NE(asm_text(before), asm_text(after))
        << pass.name << ": the pass does not change its example";
    EXPECT_EQ(asm_text(std::get<BytecodePass>(pass.run)(before)), asm_text(after)) << pass.name;
    EXPECT_FALSE(refusal_of(before)) << pass.name;
    EXPECT_FALSE(refusal_of(after)) << pass.name;
  }
}

struct Case {
  const char* pass;
  const char* before;
  const char* after;
};

TEST(Passes, PassesHaveTheListedEffects) {
  const Case cases[] = {
      // The jump is redirected to the end of the chain, on both sides.
      {"thread-conditional-jumps",
       "ld [0]\njeq #1, z, b\nz: ja c\nb: ja c\nc: ja d\nret #0\nd: ret #1",
       "ld [0]\njeq #1, d, d\nz: ja c\nb: ja c\nc: ja d\nret #0\nd: ret #1"},
      {"thread-jumps", "ja z\nret #0\nz: ja b\nret #1\nb: ja c\nret #2\nc: ret #3",
       "ja c\nret #0\nz: ja c\nret #1\nb: ja c\nret #2\nc: ret #3"},
      {"merge-equal-targets", "ldx #1\njset x, z, z\nret #0\nz: ret #1",
       "ldx #1\nja z\nret #0\nz: ret #1"},
      {"replace-jumps-to-returns", "ld [0]\njeq #1, z, b\nz: ja c\nb: ja d\nc: ja d\nd: ret a",
       "ld [0]\njeq #1, z, b\nz: ret a\nb: ret a\nc: ret a\nd: ret a"},
      {"remove-null-jumps", "ld [0]\njeq #1, z, c\nz: ja b\nb: ja c\nc: ja d\nd: ret a",
       "ld [0]\njeq #1, d, d\nd: ret a"},
      {"remove-unreachable",
       "ld [0]\njeq #1, z, b\nret #7\nz: ja c\nret #8\nb: ret #9\nld [4]\nc: ret a\nret #5",
       "ld [0]\njeq #1, z, b\nz: ja c\nb: ret #9\nc: ret a"},
      {"remove-redundant-loads",
       "ld [0]\nld [0]\nst M[0]\nldx M[0]\njeq #1, z, b\nz: jeq #2, c, d\nb: ld [0]\nret a\nc: ld "
       "[4]\nret a\nd: ld [0]\nret #3",
       "ld [0]\nst M[0]\nldx M[0]\njeq #1, z, b\nz: jeq #2, c, d\nb: ret a\nc: ld [4]\nret a\nd: "
       "ret #3"},
      {"merge-returns", "ld [0]\njeq #1, z, b\nz: ret a\nb: jeq #2, c, d\nc: ret a\nd: ret #5",
       "ld [0]\njeq #1, c, b\nret a\nb: jeq #2, c, d\nc: ret a\nd: ret #5"},
  };
  for (const Case& c : cases)
    EXPECT_EQ(asm_text(apply(c.pass, c.before)), asm_text(assemble(c.after))) << c.pass;
}

TEST(Passes, PassesLeaveOtherProgramsUnchanged) {
  const Case cases[] = {
      {"merge-equal-targets", "ld [0]\njeq #1, z, b\nz: ret #0\nb: ret #0", nullptr},
      {"remove-null-jumps", "ja z\nret #0\nz: ret #1", nullptr},
      {"remove-unreachable", "ld [0]\ntax\ndiv x\nret a", nullptr},
      // In these programs A does not hold exactly the loaded word: it is masked or changed, it is
      // another word, or it is the word on one path only.
      {"remove-redundant-loads", "ld [0]\nand #1\nld [0]\nret a", nullptr},
      {"remove-redundant-loads", "ld [0]\nadd #0\nld [0]\nret a", nullptr},
      {"remove-redundant-loads", "ld [0]\ntxa\nld [0]\nret a", nullptr},
      {"remove-redundant-loads", "ld [0]\njeq #1, z, b\nz: ld [4]\nb: ld [0]\nret a", nullptr},
      {"remove-redundant-loads", "ld [0]\nld [4]\nret a", nullptr},
      {"replace-jumps-to-returns", "ja z\nret #0\nz: ld [0]\nret a", nullptr},
      // RET|K differs from RET|A, and different values differ.
      {"merge-returns", "ld [0]\njeq #1, z, b\nz: ret a\nb: jeq #2, c, d\nc: ret #0\nd: ret #1",
       nullptr},
  };
  for (const Case& c : cases)
    EXPECT_EQ(asm_text(apply(c.pass, c.before)), asm_text(assemble(c.before))) << c.pass;
}

// A conditional jump reaches 255 instructions, not 256.
TEST(Passes, JumpsStayWithinReach) {
  for (const std::size_t distance : {255u, 256u}) {
    Program program = {Insn{kJeqK, 1, 0, 7}, Insn{kRetK, 0, 0, 3}, Insn{kJa, 0, 0, 0}};
    while (program.size() < distance + 1) program.push_back(Insn{kRetK, 0, 0, 1});
    program.push_back(Insn{kRetK, 0, 0, 2});
    program[2].k = static_cast<std::uint32_t>(program.size() - 1 - 3);
    const Program after = run_pass("thread-conditional-jumps", program);
    EXPECT_EQ(after[0].jt, distance == 255 ? 255 : 1);
    // Jumps to equal returns go to the farthest such return in reach.
    Program returns = {Insn{kJeqK, 0, 1, 7}, Insn{kRetK, 0, 0, 1}, Insn{kLdImm, 0, 0, 0}};
    while (returns.size() < distance + 1) returns.push_back(Insn{kLdImm, 0, 0, 0});
    returns.push_back(Insn{kRetK, 0, 0, 1});
    const Program merged = run_pass("merge-returns", returns);
    EXPECT_EQ(merged[0].jt, distance == 255 ? 255 : 0);
  }
}

// If the end of a chain is out of reach, the pass redirects the jump to the last jump of the chain
// that its offset can reach.
TEST(Passes, ThreadingGoesAsFarAsTheOffsetAllows) {
  Program program = {Insn{kJeqK, 1, 0, 7}, Insn{kRetK, 0, 0, 3}, Insn{kJa, 0, 0, 9}};
  while (program.size() < 400) program.push_back(Insn{kRetK, 0, 0, 1});
  program[12] = Insn{kJa, 0, 0, 300};
  const Program after = run_pass("thread-conditional-jumps", program);
  EXPECT_EQ(after[0].jt, 11) << "to the second jump, whose target is too far";
}

bool holds(std::uint16_t code, std::uint32_t a, std::uint32_t k) {
  switch (code) {
    case kJeqK:
      return a == k;
    case kJgtK:
      return a > k;
    case kJgeK:
      return a >= k;
    default:
      return (a & k) != 0;
  }
}

// Places a second test on an outcome of a first one. The pass may skip the second test only if the
// first decides it. If neither test is a JSET, the pass must then skip the second.
TEST(Passes, SkipsATestThatThePreviousOneDecides) {
  const std::uint32_t bounds[] = {0, 1, 2, 3, 6, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
  std::set<std::uint32_t> values;
  for (const std::uint32_t k : bounds)
    for (const std::uint32_t v : {k - 1, k, k + 1, ~k, k ^ 0x80000000, k & (~k + 1)})
      values.insert(v);
  const std::uint16_t codes[] = {kJeqK, kJgtK, kJgeK, kJsetK};
  std::size_t skipped = 0;
  for (const std::uint16_t first : codes)
    for (const std::uint16_t second : codes)
      for (const std::uint32_t k : bounds)
        for (const std::uint32_t l : bounds)
          for (const bool taken : {true, false}) {
            bool can_hold = false;
            bool can_fail = false;
            for (const std::uint32_t a : values) {
              if (holds(first, a, k) != taken) continue;
              (holds(second, a, l) ? can_hold : can_fail) = true;
            }
            const Program program = {
                Insn{kLdWAbs, 0, 0, 0},
                Insn{first, static_cast<std::uint8_t>(taken), static_cast<std::uint8_t>(!taken), k},
                Insn{kRetK, 0, 0, 9},
                Insn{second, 0, 1, l},
                Insn{kRetK, 0, 0, 1},
                Insn{kRetK, 0, 0, 2}};
            const Program after = run_pass("skip-decided-tests", program);
            const std::size_t to = jump_target(1, after[1], taken);
            skipped += to == 3 ? 0 : 1;
            const bool bits = first == kJsetK || second == kJsetK;
            if (can_hold && can_fail) {
              EXPECT_EQ(to, 3u) << asm_text(program);
            } else if (can_hold != can_fail && (!bits || to != 3)) {
              EXPECT_EQ(to, can_hold ? 4u : 5u) << asm_text(program);
            }
          }
  EXPECT_GT(skipped, 500u);
}

// The pass may choose other tests, but each value must lead to the same place by no more tests.
TEST(Passes, FewerTestsLeadEveryValueToTheSamePlace) {
  constexpr std::uint32_t kTop = 0xffffffff;
  const std::uint32_t bounds[] = {0, 1, 2, kTop - 1, kTop};
  const std::uint32_t values[] = {0, 1, 2, 3, kTop - 2, kTop - 1, kTop};
  const std::uint16_t codes[] = {kJeqK, kJgtK, kJgeK};
  const auto ending = [](ProgramView program, std::uint32_t a) {
    std::size_t pc = 1;
    std::size_t tests = 0;
    for (; !is_ret(program[pc]); ++tests)
      pc = jump_target(pc, program[pc],
                       program[pc].code == kJa || holds(program[pc].code, a, program[pc].k));
    return std::pair(program[pc].k, tests);
  };
  std::size_t shorter = 0;
  for (std::uint32_t number = 0; number < 3 * 3 * 5 * 5 * 16; ++number) {
    std::uint32_t rest = number;
    const auto below = [&](std::uint32_t n) { return std::exchange(rest, rest / n) % n; };
    const Insn first{codes[below(3)], 0, 1, bounds[below(5)]};
    Insn second{codes[below(3)], 0, 0, bounds[below(5)]};
    second.jt = static_cast<std::uint8_t>(below(4));
    second.jf = static_cast<std::uint8_t>(below(4));
    // The first test leads to the second, or to the second of four returns.
    const Program program = {Insn{kLdWAbs, 0, 0, 0},
                             first,
                             second,
                             Insn{kRetK, 0, 0, 0},
                             Insn{kRetK, 0, 0, 1},
                             Insn{kRetK, 0, 0, 2},
                             Insn{kRetK, 0, 0, 3}};
    Program other = program;
    other[1].jf = 2;
    for (const Program& before : {program, other}) {
      const Program after = run_pass("fewer-tests", before);
      shorter += after.size() < before.size() ? 1 : 0;
      for (const std::uint32_t a : values) {
        EXPECT_EQ(ending(after, a).first, ending(before, a).first) << asm_text(before);
        EXPECT_LE(ending(after, a).second, ending(before, a).second) << asm_text(before);
      }
    }
  }
  EXPECT_GT(shorter, 1000u);
}

// In check_load_and_stores, a RET passes the set of written words on to the next instruction, and
// only a jump resets it. So the kernel may refuse a correct rewrite. These programs must stay
// accepted.
TEST(Passes, PassesKeepTheScratchMemoryCheckSatisfied) {
  struct Trap {
    const char* pass;
    const char* program;
    const char* naive;  // the result of a pass that ignores the check; the kernel refuses it
  };
  const Trap traps[] = {
      // A RET replaces a jump and stands before a load of M[] that another path reaches.
      {"replace-jumps-to-returns",
       "ld [0]\njeq #1, j, s\ns: st M[0]\nja r\nj: ja end\nr: ld M[0]\nret a\nend: ret #0",
       "ld [0]\njeq #1, j, s\ns: st M[0]\nja r\nj: ret #0\nr: ld M[0]\nret a\nend: ret #0"},
      {"replace-jumps-to-returns", "ja end\nld M[0]\nend: ret #0", "ret #0\nld M[0]\nend: ret #0"},
      // A dead jump stands between a RET and a load of M[] that another path reaches.
      {"remove-unreachable",
       "ld [0]\njeq #1, q, s\ns: st M[0]\nja r\nq: ret #0\nja end\nr: ld M[0]\nret a\nend: ret #1",
       "ld [0]\njeq #1, q, s\ns: st M[0]\nja r\nq: ret #0\nr: ld M[0]\nret a"},
      // A path without the store of M[0] leads to a RET that stands before the load of M[0].
      {"merge-returns",
       "ld [0]\njeq #1, far, s\ns: st M[0]\njeq #2, r, n\nn: add #1\nret #1\nr: ld M[0]\nret "
       "a\nfar: ret #1",
       "ld [0]\njeq #1, m, s\ns: st M[0]\njeq #2, r, n\nn: add #1\nm: ret #1\nr: ld M[0]\nret "
       "a\nfar: ret #1"},
  };
  for (const Trap& trap : traps) {
    const Program program = assemble(trap.program);
    ASSERT_FALSE(refusal_of(program)) << trap.program;
    const auto refusal = refusal_of(assemble(trap.naive));
    ASSERT_TRUE(refusal) << "the kernel accepts the naive result: " << trap.naive;
    EXPECT_EQ(refusal->rule, RefusalRule::kMemUnset);
    const Program after = apply(trap.pass, trap.program);
    EXPECT_FALSE(refusal_of(after)) << trap.pass << "\n" << asm_text(after);
    EXPECT_FALSE(refusal_of(optimize(program).program)) << trap.program;
  }
}

// If not all dead code can be removed, one application removes as much as possible.
TEST(Passes, KeepsOnlyTheDeadCodeThatTheKernelsCheckNeeds) {
  std::string text = "ld [0]\njeq #1, q, s\ns: st M[0]\nja r\nq: ret #0\nja end\n";
  for (int i = 0; i < 2000; ++i) text += "add #1\n";
  const Program program = assemble(text + "r: ld M[0]\nret a\nend: ret #1");
  ASSERT_FALSE(refusal_of(program));
  const Program after = run_pass("remove-unreachable", program);
  EXPECT_EQ(asm_text(after), asm_text(assemble("ld [0]\njeq #1, q, s\ns: st M[0]\nja r\nq: ret "
                                               "#0\nja end\nr: ld M[0]\nret a\nend: ret #1")));
  EXPECT_TRUE(optimize(program).fixpoint);
}

// The unoptimized program of a policy becomes exactly this text.
TEST(Optimize, OptimizesAWholePolicy) {
  const Policy policy =
      x86_64_policy(R"j({"action": "errno(13)", "rules": {"write": {"args": {"0": {"gt": 2}}}}},
    {"action": "allow", "rules": {"read": true, "write": true, "futex": {"any_of": [{"args": {"1": {"eq": 128}}}, {"args": {"1": {"eq": 129}}}]}}})j");
  const Program before = compile(policy);
  const Optimized result = optimize(before);
  EXPECT_TRUE(result.fixpoint);
  EXPECT_EQ(before.size(), 75u);
  EXPECT_EQ(asm_text(result.program),
            "        ld [4]\n"
            "        jeq #0xc000003e, L2, L22\n"
            "L2:     ld [0]\n"
            "        jeq #1, L4, L9\n"
            "L4:     ld [20]\n"
            "        jgt #0, L20, L6\n"
            "L6:     ld [16]\n"
            "        jgt #2, L20, L8\n"
            "L8:     ld [0]\n"
            "L9:     jge #2, L10, L21\n"
            "L10:    jeq #0xca, L11, L19\n"
            "L11:    ld [28]\n"
            "        jeq #0, L13, L19\n"
            "L13:    ld [24]\n"
            "        jeq #0x80, L21, L15\n"
            "L15:    ld [28]\n"
            "        jeq #0, L17, L19\n"
            "L17:    ld [24]\n"
            "        jeq #0x81, L21, L19\n"
            "L19:    ret #0x50001\n"
            "L20:    ret #0x5000d\n"
            "L21:    ret #0x7fff0000\n"
            "L22:    ret #0x80000000\n");
}

TEST(Optimize, StepsRecordSizesAndChanges) {
  const Program program = assemble("ld [0]\njeq #1, z, b\nz: ja c\nb: ja c\nc: ret #1");
  const Optimized result = optimize(program);
  EXPECT_TRUE(result.fixpoint);
  ASSERT_FALSE(result.steps.empty());
  ASSERT_EQ(result.steps.size() % bytecode_passes().size(), 0u) << "steps come in whole rounds";
  std::size_t size = program.size();
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    const PassStep& step = result.steps[i];
    EXPECT_EQ(step.pass, bytecode_passes()[i % bytecode_passes().size()].name)
        << "in the table's order";
    EXPECT_EQ(step.round, i / bytecode_passes().size() + 1);
    EXPECT_EQ(step.before, size);
    size = step.after;
    if (i + bytecode_passes().size() >= result.steps.size()) {
      EXPECT_FALSE(step.changed) << "the last round changes nothing";
    }
  }
  EXPECT_EQ(size, result.program.size());
  EXPECT_EQ(asm_text(result.program), asm_text(assemble("ret #1")));
}

TEST(Optimize, OnlyTheGivenPassesRun) {
  const Program program = assemble("ld [0]\nja z\nz: ja b\nret #0\nb: ret #1\nret #2");
  const Pass* only[] = {find_pass("remove-null-jumps")};
  const Optimized result = optimize(program, only);
  EXPECT_EQ(asm_text(result.program),
            asm_text(assemble("ld [0]\nja b\nret #0\nb: ret #1\nret #2")));
  for (const PassStep& step : result.steps) EXPECT_EQ(step.pass, "remove-null-jumps");
  EXPECT_EQ(optimize(program, {}).program, program);
}

}  // namespace
}  // namespace secequiv::optimize_pass_test
