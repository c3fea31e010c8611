#include "verify/dd/nearest.h"

#include <gtest/gtest.h>

#include "harness/bpf/text.h"
#include "harness/report/regions.h"

namespace secequiv::dd::nearest_test {
namespace {

// Returns each decision as "RESULT if CONDITION".
std::vector<std::string> lines(const std::vector<Decided>& found) {
  std::vector<std::string> out;
  for (const Decided& one : found)
    out.push_back(action_text(one.value) + " if " +
                  condition_text(one.where.regions.at(0), Arch::kX86_64) +
                  (one.where.is_all(1) ? "" : " and more"));
  return out;
}

struct Asked {
  explicit Asked(const std::string& text) : program(*read_program(text, "test", Form::kAsm)) {
    data.set_arch(arch_info(Arch::kX86_64).audit);
  }
  [[nodiscard]] std::vector<std::string> nearest_to() const {
    const std::vector<ProgramView> views{program};
    Space space(views, {});
    return lines(nearest(space, space.decisions(views, Sameness::kRaw), data, 1));
  }
  [[nodiscard]] std::vector<std::string> all() const {
    const std::vector<ProgramView> views{program};
    Space space(views, {});
    return lines(decided(space, space.decisions(views, Sameness::kRaw), data, kAllArguments, 1));
  }
  Program program;
  SeccompData data;
};

using Lines = std::vector<std::string>;

TEST(Nearest, ChangesOneArgumentIfThatIsEnough) {
  Asked asked("ld [16]\njeq #7, yes, no\nyes: ret #0x50001\nno: ret #0x7fff0000\n");
  EXPECT_EQ(asked.nearest_to(), Lines{"ERRNO(1 EPERM) if arg0.lo == 0x7"});
  EXPECT_EQ(asked.all(), (Lines{"ALLOW if arg0.lo != 0x7", "ERRNO(1 EPERM) if arg0.lo == 0x7"}));
  asked.data.set_field(0, 7, Endian::kLittle);
  EXPECT_EQ(asked.nearest_to(), Lines{"ALLOW if arg0.lo != 0x7"});
}

TEST(Nearest, ChangesTwoArgumentsIfOneIsNotEnough) {
  const Asked asked(
      "ld [16]\njeq #7, one, no\none: ld [24]\njge #9, yes, no\n"
      "yes: ret #0x50001\nno: ret #0x7fff0000\n");
  EXPECT_EQ(asked.nearest_to(), Lines{"ERRNO(1 EPERM) if arg0.lo == 0x7 && arg1.lo >= 0x9"});
}

TEST(Nearest, KeepsNumberAndArchitecture) {
  const Asked asked("ld [0]\njeq #7, yes, no\nyes: ret #0x50001\nno: ret #0x7fff0000\n");
  EXPECT_EQ(asked.nearest_to(), Lines{});
  EXPECT_EQ(asked.all(), Lines{"ALLOW if true"});
}

TEST(Nearest, ListsComputedReturnValuesAsOneDecision) {
  const Asked asked("ld [16]\nand #3\nret a\n");
  EXPECT_EQ(asked.nearest_to(), Lines{});
  ASSERT_EQ(asked.all().size(), 1u);
  EXPECT_TRUE(asked.all()[0].starts_with("KILL_THREAD")) << asked.all()[0];
}

}  // namespace
}  // namespace secequiv::dd::nearest_test
