#include "fuzz/targets/policy_text.h"

#include <algorithm>
#include <optional>

#include "harness/generate/mutate.h"
#include "harness/generate/policy.h"
#include "harness/policy/json.h"

namespace secequiv::fuzz {
namespace {

constexpr int kTries = 4;
constexpr std::size_t kShortText = 2048;  // bytes; few rules show most bugs

}  // namespace

std::size_t mutate_policy_text(std::span<std::uint8_t> out, std::size_t size, unsigned seed) {
  Random random(seed);
  const auto given = read_policy({reinterpret_cast<const char*>(out.data()), size}, "input");
  for (int i = 0; i < kTries; ++i) {
    const bool anew = !given || i > 0 || random.one_in(8);
    const std::string text =
        write_policy(anew ? generate_policy(random) : mutate_policy(random, *given));
    const bool any_length = anew && i == 0 && random.one_in(8);
    const std::size_t most = std::max(kShortText, given ? size : 0);
    if (text.size() > (any_length ? out.size() : std::min(out.size(), most))) continue;
    std::ranges::copy(text, out.begin());
    return text.size();
  }
  return given ? size : 0;
}

}  // namespace secequiv::fuzz
