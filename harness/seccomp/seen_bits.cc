#include "harness/seccomp/seen_bits.h"

#include <algorithm>
#include <functional>
#include <string_view>
#include <utility>

#include "harness/base/fixed_text.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

struct SeenRow {
  std::uint32_t audit;
  std::uint32_t nr;
  FixedText<6> letters;  // one for each argument
};
#define SECEQUIV_SEEN(arch, nr, name, letters) SeenRow{AUDIT_ARCH_##arch, nr, letters},
constexpr SeenRow kSeenRows[] = {
#include "harness/seccomp/tables/seen_bits.inc"
};
#undef SECEQUIV_SEEN

constexpr std::pair<std::uint32_t, std::uint32_t> key_of(const SeenRow& row) {
  return {row.audit, row.nr};
}
static_assert(std::ranges::adjacent_find(kSeenRows, std::ranges::greater_equal{}, key_of) ==
                  std::end(kSeenRows),
              "the search needs rows in order, without repetition");

constexpr SeenArgument seen_of(char letter) {
  switch (letter) {
    case '-':
      return {0, false};
    case 'h':
      return {0xffff, false};
    case 'u':
      return {0xffffffff, false};
    case 'i':
      return {0xffffffff, true};
    case 'l':
      return {~std::uint64_t{0}, true};
    default:
      return {};  // 'L'
  }
}

}  // namespace

SeenArguments seen_arguments(std::uint32_t audit, std::uint32_t nr) {
  const auto* const row =
      std::ranges::lower_bound(kSeenRows, std::pair(audit, nr), std::ranges::less{}, key_of);
  if (row == std::end(kSeenRows) || key_of(*row) != std::pair(audit, nr)) return {};
  const std::string_view letters = row->letters;
  SeenArguments out;
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = seen_of(i < letters.size() ? letters[i] : '-');
  return out;
}

}  // namespace secequiv
