#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "harness/base/paths.h"

namespace secequiv {

std::map<std::string, std::string> short_names(const std::set<std::string>& paths) {
  std::map<std::string, std::string> out;
  for (const std::string& path : paths) {
    const auto names_another = [&](const std::string& name) {
      return std::ranges::any_of(paths, [&](const std::string& other) {
        return other != path && (other == name || other.ends_with("/" + name));
      });
    };
    std::size_t slash = path.rfind('/');
    while (slash != path.npos && slash != 0 && names_another(path.substr(slash + 1)))
      slash = path.rfind('/', slash - 1);
    const std::string name = slash == path.npos ? path : path.substr(slash + 1);
    out[path] = name.empty() || names_another(name) ? path : name;
  }
  return out;
}

}  // namespace secequiv
