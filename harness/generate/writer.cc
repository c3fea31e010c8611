#include "harness/generate/writer.h"

namespace secequiv::detail {

Program Writer::finish() {
  for (std::size_t pc = 0; pc < lines_.size(); ++pc)
    for (std::size_t Line::* const member : {&Line::yes, &Line::no}) {
      std::size_t& to = lines_[pc].*member;
      to = to == kNext ? pc + 1 : labels_[to].position;
    }
  Program out;
  write_lines_far(lines_, out);
  return out;
}

}  // namespace secequiv::detail
