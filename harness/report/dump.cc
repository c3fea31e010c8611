#include "harness/report/dump.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv {

std::string dumped_text(const DumpedFilter& filter, Form form, bool plain) {
  if (plain) return write_program(filter.program, form);
  const std::string title = form != Form::kAsm
                                ? ""
                                : fmt::format("; {}: {}\n", printable(filter.title, false),
                                              counted(filter.program.size(), "instruction"));
  return title + write_program(filter.program, form, annotate(filter.program));
}

}  // namespace secequiv
