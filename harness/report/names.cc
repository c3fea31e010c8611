#include "harness/report/names.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/compare/cache_change.h"

namespace secequiv {

std::vector<std::string> call_names(Arch arch, const std::vector<std::uint32_t>& numbers) {
  std::vector<std::string> out;
  out.reserve(numbers.size());
  for (const std::uint32_t nr : numbers) out.push_back(shown_call(arch, nr));
  return out;
}

std::string names_paragraph(const std::string& title, std::vector<std::string> names) {
  constexpr std::size_t kColumns = 80;  // narrower terminals wrap the lines again
  std::ranges::sort(names);
  std::string out;
  std::string line = fmt::format("  {:<20} {:>4}:", title, names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = names[i] + (i + 1 < names.size() ? "," : "");
    if (line.size() + 1 + name.size() > kColumns) {
      out += line + "\n";
      line = std::string(27, ' ');
    }
    line += " " + name;
  }
  return out + line + "\n";
}

}  // namespace secequiv
