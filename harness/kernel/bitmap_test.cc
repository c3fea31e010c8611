// Compares the running kernel's own bitmaps with our emulation. If the bitmaps cannot be read, the
// tests are skipped and print the reason.
#include "harness/kernel/bitmap.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>

#include "harness/bpf/refusal.h"
#include "harness/bpf/testing.h"
#include "harness/compare/cache_change.h"
#include "harness/generate/program.h"
#include "harness/kernel/facts.h"
#include "harness/kernel/testing.h"

namespace secequiv::kernel::bitmap_test {
namespace {

using Stack = std::vector<ProgramView>;

// Counts the numbers that only one of the two sides caches.
std::size_t differences(const Stack& stack, const std::vector<Bitmap>& bitmaps) {
  std::size_t out = 0;
  for (const Bitmap& one : bitmaps) {
    for (const std::uint32_t nr : one.unfiltered)
      EXPECT_TRUE(bypasses_filters(arch_info(one.arch).audit, nr)) << nr;
    EXPECT_EQ(one.bits.size(), one.numbers);
    const auto found = bitmap_difference(stack, one.arch, one.bits, one.unfiltered);
    out += found.only_model.size() + found.only_kernel.size();
  }
  return out;
}

std::size_t cached(const Bitmap& one) {
  return static_cast<std::size_t>(std::ranges::count(one.bits, true));
}

// Returns a program that usually decides by number and architecture, with instructions that the
// kernel's emulation follows.
Program decisions(Random& random) {
  constexpr std::array kConditions = {kJeqK, kJgtK, kJgeK, kJsetK};
  constexpr std::array<std::uint32_t, 6> kReturns = {0x7fff0000, 0x7fff0000, 0x7fff0000,
                                                     0x7fff0001, 0x7ffc0000, 0x50001};
  // The kernel's emulation starts with 0 in A, so a load is not needed.
  Program out(1, {kLdWAbs, 0, 0, random.below(4) == 0 ? 4u : 0u});
  if (random.below(8) == 0) out.clear();
  const std::size_t length = 8 + random.below(40);
  while (out.size() + 2 < length) {
    const auto left = static_cast<std::uint32_t>(length - out.size() - 2);
    const auto jump = [&] { return static_cast<std::uint8_t>(random.below(std::min(left, 9u))); };
    std::uint32_t k = static_cast<std::uint32_t>(random.below(500));
    if (random.below(4) == 0) k = random.below(2) == 0 ? 0xc000003e : 0x40000003;
    const std::size_t kind = random.below(40);
    if (kind == 0) {
      out.push_back({kOrK, 0, 0, k});
    } else if (kind == 1) {
      out.push_back({kLdWAbs, 0, 0, 16});
    } else if (kind < 8) {
      out.push_back({kLdWAbs, 0, 0, kind < 6 ? 0u : 4u});
    } else if (kind < 10) {
      out.push_back({kAndK, 0, 0, k});
    } else if (kind < 11) {
      out.push_back({kJa, 0, 0, jump()});
    } else if (kind < 13) {
      out.push_back({kRetK, 0, 0, kReturns[random.below(kReturns.size())]});
    } else {
      out.push_back({kConditions[random.below(4)], jump(), jump(), k});
    }
  }
  out.push_back({kRetK, 0, 0, random.below(2) == 0 ? 0x7fff0000u : 0u});
  return out;
}

TEST(Bitmap, AgreesWithTheEmulationOnRandomProgramsAndStacks) {
  Random random(1);
  std::vector<Program> programs;
  while (programs.size() < static_cast<std::size_t>(of_cases(1000))) {
    Program one =
        programs.size() % 4 == 0 ? generate_program(random, {.length = 40}) : decisions(random);
    if (!refusal_of(one)) programs.push_back(std::move(one));
  }
  std::vector<Stack> stacks;
  for (std::size_t i = 0; i < programs.size(); ++i) {
    stacks.push_back({programs[i]});
    if (i % 8 == 7) stacks.push_back({programs[i], programs[i - 3], programs[i - 7]});
  }
  const auto all = bitmaps(stacks);
  SKIP_WITHOUT_KERNEL(all);
  ASSERT_TRUE(all) << all.error().text();
  ASSERT_EQ(all->size(), stacks.size());
  std::size_t some = 0;
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    ASSERT_EQ(differences(stacks[i], (*all)[i]), 0u) << asm_text(stacks[i].front());
    const std::size_t bits = cached((*all)[i].front());
    some += bits > 2 && bits < (*all)[i].front().numbers;
  }
  EXPECT_GT(some, stacks.size() / 20) << "some programs must cache some calls only";
}

// The newest filter may forbid everything, and an older filter may forbid the installation of the
// next one.
TEST(Bitmap, IsReadForFiltersThatForbidEverything) {
  const Program none = assemble("ret #0x80000000");
  const Program getpid = assemble("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x80000000");
  const std::vector<Stack> stacks = {{none}, {getpid}, {getpid, getpid}, {getpid, none, getpid}};
  const auto all = bitmaps(stacks);
  SKIP_WITHOUT_KERNEL(all);
  ASSERT_TRUE(all) << all.error().text();
  for (std::size_t i = 0; i < stacks.size(); ++i) {
    EXPECT_EQ(differences(stacks[i], (*all)[i]), 0u);
    const Bitmap& native = (*all)[i].front();
    EXPECT_EQ(cached(native), native.unfiltered.size() + (i == 1 || i == 2 ? 1 : 0));
  }
}

TEST(Bitmap, DiffersFromAWrongModel) {
  const Program getpid = assemble("ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0");
  const Program gettid = assemble("ld [0]\njeq #186, y, n\ny: ret #0x7fff0000\nn: ret #0");
  const std::vector<Stack> stacks = {{getpid}};
  const auto all = bitmaps(stacks);
  SKIP_WITHOUT_KERNEL(all);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(differences({getpid}, all->front()), 0u);
  EXPECT_EQ(differences({gettid}, all->front()), 2 * all->front().size());
}

TEST(Bitmap, TheErrorNamesARefusedFilter) {
  const Program allow = assemble("ret #0x7fff0000");
  const Program refused = {{kRetK, 0, 0, 0}, {kLdWAbs, 0, 0, 1}};
  const Program longer(5000, Insn{kRetK, 0, 0, 0});
  for (const Program& bad : {refused, longer, Program{}}) {
    const std::vector<Stack> stacks = {{allow, bad, allow}};
    const auto all = bitmaps(stacks);
    SKIP_WITHOUT_KERNEL(all);
    ASSERT_FALSE(all);
    EXPECT_EQ(all.error().code, ErrorCode::kRejected);
    EXPECT_NE(all.error().text().find(&bad == &refused ? "2 instructions" : "instructions"),
              std::string::npos);
  }
}

// The reader must find the child that has the filters. It is the youngest child.
TEST(Bitmap, IsReadInAProcessThatHasOtherChildren) {
  const pid_t other = ::fork();
  ASSERT_NE(other, -1);
  if (other == 0)
    for (;;) ::pause();
  const Program none = assemble("ret #0x80000000");
  const std::vector<Stack> stacks = {{none}};
  const auto all = bitmaps(stacks);
  ::kill(other, SIGKILL);
  EXPECT_EQ(::waitpid(other, nullptr, 0), other);
  SKIP_WITHOUT_KERNEL(all);
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(differences({none}, all->front()), 0u);
}

TEST(Bitmap, LeavesNoProcessBehind) {
  const Program none = assemble("ret #0x80000000");
  const std::vector<Stack> stacks = {{none}};
  const auto all = bitmaps(stacks);
  SKIP_WITHOUT_KERNEL(all);
  EXPECT_EQ(::waitpid(-1, nullptr, __WALL | WNOHANG), -1) << "a child is left";
}

}  // namespace
}  // namespace secequiv::kernel::bitmap_test
