#include "fuzz/policy_text.h"

#include <algorithm>
#include <optional>

#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/policy/json.h"

namespace secequiv::fuzz {
namespace {

constexpr int kTries = 4;
constexpr std::size_t kShort = 3072;  // bytes; what is wrong mostly shows in few rules

}  // namespace

std::size_t mutate_policy_text(std::span<std::uint8_t> out, std::size_t size, unsigned seed) {
  Random random(seed);
  const auto given = read_policy({reinterpret_cast<const char*>(out.data()), size}, "input");
  // One that is long already may stay as long as it is.
  const std::size_t most =
      random.one_in(32) ? out.size() : std::min(out.size(), std::max(kShort, given ? size : 0));
  for (int i = 0; i < kTries; ++i) {
    const bool anew = !given || i > 0 || random.one_in(8);
    const std::string text =
        write_policy(anew ? generate_policy(random) : mutate_policy(random, *given));
    if (text.size() > most) continue;
    std::ranges::copy(text, out.begin());
    return text.size();
  }
  return given ? size : 0;
}

}  // namespace secequiv::fuzz
