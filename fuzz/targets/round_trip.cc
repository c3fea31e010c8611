#include "fuzz/targets/round_trip.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/bpf/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv::fuzz {

std::string round_trip_failure(ProgramView program) {
  const auto comments = annotate(program);
  for (const Form form : {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC}) {
    const auto again = read_program(write_program(program, form, comments), "written", form);
    if (!again)
      return fmt::format("the program written as {} cannot be read: {}", form_name(form),
                         again.error().text());
    if (!std::ranges::equal(*again, program))
      return fmt::format("the program written as {} reads back as a different one",
                         form_name(form));
  }
  return {};
}

}  // namespace secequiv::fuzz
