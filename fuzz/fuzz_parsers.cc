// All program readers on arbitrary bytes: no crash, and whatever reads is written and read back to
// the same program.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "fuzz/target.h"
#include "harness/bpf/check.h"
#include "harness/bpf/text.h"
#include "harness/seccomp/annotate.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace secequiv;
  if (size > 1 << 16) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const Form detected = detect_form(bytes);
  for (const Form form : {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC}) {
    const auto program = read_program(bytes, "input", form);
    if (!program) {
      if (program.error().detail.empty()) std::abort();  // every error says something
      continue;
    }
    if (form != detected && size > 4096) continue;
    (void)check(*program);
    const auto comments = annotate(*program);
    for (const Form to : {Form::kRaw, Form::kRawBigEndian, Form::kAsm, Form::kDecimal, Form::kC}) {
      const auto again = read_program(write_program(*program, to, comments), "written", to);
      if (again && *again == *program) continue;
      std::fprintf(stderr, "fuzz_parsers: %s -> %s does not round-trip: %s\n",
                   std::string(form_name(form)).c_str(), std::string(form_name(to)).c_str(),
                   again ? "different program" : again.error().text().c_str());
      std::abort();
    }
  }
  return 0;
}
