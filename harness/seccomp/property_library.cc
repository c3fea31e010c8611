#include "harness/seccomp/property_library.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ranges>
#include <vector>

#include "harness/base/text.h"

namespace secequiv {

// The files of corpus/properties, embedded one after the other. Each begins with the line
// "# property NAME: SUMMARY".
namespace embedded_properties {
std::string_view all();
}

namespace {

std::vector<LibraryProperty> read_library() {
  constexpr std::string_view kMark = "# property ";
  std::vector<LibraryProperty> out;
  const std::string_view all = embedded_properties::all();
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(kMark, begin + 1), all.size());
    const std::string_view text = all.substr(begin, end - begin);
    const std::string_view title = text.substr(kMark.size(), text.find('\n') - kMark.size());
    const std::size_t colon = title.find(": ");
    out.push_back({title.substr(0, colon), title.substr(colon + 2), text});
    begin = end;
  }
  std::ranges::sort(out, {}, &LibraryProperty::name);
  return out;
}

}  // namespace

std::span<const LibraryProperty> property_library() {
  static const std::vector<LibraryProperty> kLibrary = read_library();
  return kLibrary;
}

const LibraryProperty* find_library_property(std::string_view name) {
  const auto library = property_library();
  const auto found = std::ranges::find(library, name, &LibraryProperty::name);
  return found == library.end() ? nullptr : &*found;
}

Result<Property> named_property(std::string_view wanted, const std::string& where, Arch host) {
  if (const LibraryProperty* known = find_library_property(wanted))
    return parse_property(known->text, std::string(known->name), host);
  if (wanted.find(':') == std::string_view::npos) {
    const auto names = property_library() | std::views::transform(&LibraryProperty::name);
    return make_error(
        ErrorCode::kUsage, where,
        fmt::format("expected the name of a property ({}) or clauses such as "
                    "'refused: ptrace', found '{}'{}",
                    fmt::join(names, ", "), wanted, did_you_mean(similar_names(wanted, names))));
  }
  auto out = parse_property(wanted, where, host);
  if (out) out->name.clear();
  return out;
}

}  // namespace secequiv
