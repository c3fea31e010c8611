// Splits text into parts. Owns where a part ends. It must not know what the parts mean.
#pragma once

#include <algorithm>
#include <string_view>

namespace secequiv {

// Removes the first part and its separator from `text`. Returns the part without the separator; by
// default it is a line.
inline std::string_view take_part(std::string_view& text, char separator = '\n') {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace secequiv
