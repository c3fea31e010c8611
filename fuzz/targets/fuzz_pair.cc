// Fuzz target for a fixed pair of programs, which mutates inputs. `--before=FILE --after=FILE` name
// the pair, in any form. The default is pair.before and pair.after next to the executable. If these
// do not exist, the target uses a small built-in pair.
#include <cstdio>
#include <cstdlib>

#include "fuzz/pair/libfuzzer.h"
#include "fuzz/targets/target.h"
#include "harness/base/file.h"
#include "harness/bpf/refusal.h"
#include "harness/bpf/text.h"
#include "harness/report/text.h"

namespace {
using namespace secequiv;
const pair::PairSession* session = nullptr;
std::vector<std::uint8_t>* seen = nullptr;

Program load(const std::string& path, const char* fallback) {
  auto bytes = path.empty() ? Result<std::string>(std::string(fallback)) : read_file(path);
  auto program = bytes ? read_program(*bytes, path.empty() ? "built-in" : path)
                       : Result<Program>(bytes.error());
  if (!program || refusal_of(*program, LengthRule::kUnlimited)) {
    std::fprintf(stderr, "fuzz_pair: %s: %s\n", path.c_str(),
                 program ? "the kernel refuses it" : program.error().text().c_str());
    std::exit(2);
  }
  return std::move(*program);
}
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const auto path = [&](const char* option, const char* stored) {
    return fuzz::option(*argc, *argv, option, fuzz::data_file((*argv)[0], stored));
  };
  constexpr const char* kSmall = "ld [0]\njeq #39, y, n\ny: ret #0x7fff0000\nn: ret #0x50001\n";
  session = new pair::PairSession(Pair{load(path("before", "pair.before"), kSmall),
                                       load(path("after", "pair.after"), kSmall), Sameness::kRaw});
  seen = new std::vector<std::uint8_t>(session->edges());
  pair::set_session(*session);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto witness = pair::run_session({data, size}, *seen, false).witness;
  if (!witness) return 0;
  std::fputs(witness_text(Question(session->pair()), minimize(session->pair(), *witness)).c_str(),
             stderr);
  std::abort();
}
