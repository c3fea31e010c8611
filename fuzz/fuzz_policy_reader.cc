// The policy reader and the OCI importer on arbitrary bytes: no crash; what reads is written and
// read back to the same rules; its compiled program is legal and decides as the policy says.
#include <cstdio>
#include <cstdlib>

#include "fuzz/target.h"
#include "harness/bpf/check.h"
#include "harness/policy/cases.h"
#include "harness/policy/compile.h"
#include "harness/policy/import_oci.h"
#include "harness/policy/json.h"

namespace {

using namespace secequiv;

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz_policy_reader: %s\n", what);
  std::abort();
}

void examine(const Policy& policy) {
  const std::string text = write_policy(policy);
  const auto again = read_policy(text, "written");
  require(static_cast<bool>(again), "a written policy does not read back");
  require(write_policy(*again) == text, "a policy changes when written and read back");
  const Program program = compile(policy);
  require(!check(program, LengthRule::kUnlimited), "a compiled policy is not legal");
  if (program.size() > 20000) return;
  for (const SeccompData& data : derive_cases(policy, {50, 500}).inputs)
    require(run(program, data.words) == decide(policy, data),
            "a compiled policy decides otherwise than the policy");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 1 << 16) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = read_policy(text, "input");
  if (policy) examine(*policy);
  const auto imported = import_oci(text, "input", OciOptions{});
  if (imported) examine(imported->policy);
  return 0;
}
