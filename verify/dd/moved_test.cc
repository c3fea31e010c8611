#include "verify/dd/moved.h"

#include <gtest/gtest.h>

#include "harness/base/random.h"

namespace secequiv::dd_moved_test {
namespace {

using dd::Diagrams;
using dd::NodeId;

SeccompData random_data(Random& random) {
  SeccompData out;
  for (std::uint32_t& word : out.words) word = static_cast<std::uint32_t>(random.next()) & 7;
  return out;
}

// Compares both operations with their definitions on random sets and inputs.
TEST(Moved, AgreesWithItsDefinition) {
  Random random(3);
  int members = 0;
  for (int i = 0; i < 60; ++i) {
    dd::Space space({}, {});
    dd::Words& words = space.words();
    // A set of conditions on words 4, 6 and 8.
    NodeId set = Diagrams::kZero;
    for (int k = 0; k < 3; ++k) {
      const auto word = static_cast<std::uint32_t>(4 + 2 * (random.next() % 3));
      const auto value = static_cast<std::uint32_t>(random.next() & 7);
      const auto test = random.next() % 2 == 0
                            ? words.eq(words.load(word), words.constant(value))
                            : words.any_bit(words.load(word), words.constant(value));
      const NodeId next = words.set(test);
      set = random.next() % 2 == 0
                ? space.diagrams().either(set, next)
                : space.diagrams().choose(set, next, words.set(words.negate(test)));
    }
    const dd::Decisions whole{set, false};
    dd::WordMap to{};
    for (std::uint32_t word = 0; word < to.size(); ++word) to[word] = word;
    to[4] = 8;
    to[6] = 4;
    to[8] = 6;
    const dd::Decisions moved{dd::moved(space, set, to), false};
    const dd::Decisions some{dd::for_some(space, set, 1U << 6), false};
    for (int k = 0; k < 40; ++k) {
      const SeccompData data = random_data(random);
      SeccompData read = data;
      for (std::uint32_t word = 0; word < to.size(); ++word)
        read.words[word] = data.words[to[word]];
      ASSERT_EQ(space.evaluate(moved, data), space.evaluate(whole, read));
      std::uint32_t any = 0;
      SeccompData chosen = data;
      for (chosen.words[6] = 0; chosen.words[6] < 8; ++chosen.words[6])
        any |= space.evaluate(whole, chosen);
      ASSERT_EQ(space.evaluate(some, data), any);
      members += static_cast<int>(space.evaluate(moved, data));
    }
    EXPECT_EQ(dd::tested_words(space, some.root) & 1U << 6, 0u);
  }
  EXPECT_GT(members, 200);
  EXPECT_LT(members, 2200);
}

TEST(Moved, KeepsASetThatDoesNotTestTheMovedWords) {
  dd::Space space({}, {});
  dd::Words& words = space.words();
  const NodeId set = words.set(words.eq(words.load(4), words.constant(5)));
  dd::WordMap to{};
  for (std::uint32_t word = 0; word < to.size(); ++word) to[word] = word;
  to[6] = 8;
  EXPECT_EQ(dd::moved(space, set, to), set);
  EXPECT_EQ(dd::for_some(space, set, 1U << 6), set);
  EXPECT_EQ(dd::for_some(space, set, 1U << 4), Diagrams::kOne);
}

}  // namespace
}  // namespace secequiv::dd_moved_test
