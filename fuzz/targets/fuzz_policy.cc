// Fuzz target for compilers of policies. It compares every answer with the unoptimized program,
// first on some calls and then by proof. The unoptimized program must also agree with the policy.
// The input is a policy in our JSON format. `--compiler=NAME` selects a compiler of
// adapters/builtin/builtin.h. The default is the reference compiler.
#include <cstdio>
#include <cstdlib>

#include "adapters/builtin/builtin.h"
#include "fuzz/targets/policy_text.h"
#include "fuzz/targets/program_bytes.h"
#include "fuzz/targets/target.h"
#include "fuzz/targets/trials.h"
#include "harness/generate/policy.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"

namespace {
using namespace secequiv;
constexpr std::size_t kCalls = 8;
Compiler* compiler = nullptr;
fuzz::Trials* trials = nullptr;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string name = fuzz::option(*argc, *argv, "compiler", "secequiv");
  compiler = builtin_compiler(name).release();
  if (compiler == nullptr) {
    std::fprintf(stderr, "fuzz_policy: expected a built-in compiler, found '%s'\n", name.c_str());
    std::exit(2);
  }
  trials = new fuzz::Trials("fuzz_policy", false);
  return std::atexit([] { std::fputs(trials->summary().c_str(), stderr); });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto policy = read_policy(text, "input");
  if (!policy) return -1;
  const Program before = compile(*policy);
  if (before.size() > 1 << 14) return -1;  // a program of 100,000 instructions exceeds the timeout
  const std::uint64_t seed = fuzz::fingerprint(before);
  Random random(seed);
  std::vector<SeccompData> calls;
  for (std::size_t i = 0; i < kCalls; ++i) {
    const SeccompData call = random_call(random, *policy);
    calls.push_back(call);
    if (run(before, call) == decide(*policy, call)) continue;
    std::fprintf(stderr,
                 "fuzz_policy: the unoptimized program and the policy decide differently\n");
    std::abort();
  }
  trials->assess(before, compiler->compile(*policy), calls, seed);
  return 0;
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  return fuzz::mutate_policy_text({data, capacity}, size, seed);
}
