// Fuzz target for return values: an evaluator, coverage runs, decision diagrams and a naive
// evaluator must agree. The input is a program with inputs (evaluation_bytes.h). `--evaluator=`
// takes a name of adapters/builtin/builtin.h or a specification of harness/adapter/open.h. The
// default is our interpreter.
#include <cstdio>
#include <cstdlib>

#include "adapters/builtin/builtin.h"
#include "fuzz/targets/evaluation_bytes.h"
#include "fuzz/targets/target.h"
#include "fuzz/targets/votes.h"
#include "harness/adapter/open.h"
#include "harness/bpf/text.h"

namespace {
using namespace secequiv;
Evaluator* evaluator = nullptr;
std::uint64_t programs = 0;
std::uint64_t diagrams = 0;
}  // namespace

extern "C" int LLVMFuzzerInitialize(int* argc, char*** argv) {
  const std::string name = fuzz::option(*argc, *argv, "evaluator", "secequiv");
  evaluator = builtin_evaluator(name).release();
  if (evaluator == nullptr) {
    auto opened = open_evaluator(name, {});
    if (!opened) {
      std::fprintf(stderr, "fuzz_semantics: %s\n", opened.error().text().c_str());
      std::exit(2);
    }
    evaluator = opened->release();
  }
  return std::atexit([] {
    std::fprintf(stderr, "fuzz_semantics: %llu programs, %llu of them evaluated by diagrams\n",
                 static_cast<unsigned long long>(programs),
                 static_cast<unsigned long long>(diagrams));
  });
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto given = fuzz::read_evaluations({data, size});
  if (!given) return -1;
  ++programs;
  const std::string problem =
      fuzz::disagreement(*evaluator, given->program, given->inputs, diagrams);
  if (problem.empty()) return 0;
  std::fprintf(stderr, "fuzz_semantics: %s\n%s", problem.c_str(),
               write_program(given->program, Form::kAsm).c_str());
  std::abort();
}

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t capacity, unsigned seed) {
  return fuzz::mutate_evaluations({data, capacity}, size, seed);
}
