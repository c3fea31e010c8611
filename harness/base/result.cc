#include "harness/base/result.h"

#include "harness/base/text.h"

namespace secequiv {

std::string Error::text() const {
  std::string out = printable(where, false);
  if (pc >= 0) out += (out.empty() ? "" : ": ") + std::string("instruction ") + std::to_string(pc);
  if (!out.empty()) out += ": ";
  return out + printable(detail, true);
}

}  // namespace secequiv
