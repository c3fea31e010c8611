// Text that is read part by part. Owns where a part ends.
#pragma once

#include <algorithm>
#include <string_view>

namespace secequiv {

// Takes the part before the first separator from `text`, with that separator: by default a line.
inline std::string_view take_part(std::string_view& text, char separator = '\n') {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

}  // namespace secequiv
