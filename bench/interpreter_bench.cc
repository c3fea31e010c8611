// Compares the interpreter with a switch loop written by hand, on the same programs and inputs in
// one process. scripts/bench runs this and reports ratios.
#include <benchmark/benchmark.h>

#include <random>

#include "harness/base/file.h"
#include "harness/bpf/interpreter.h"
#include "harness/bpf/text.h"
#include "harness/coverage/coverage.h"

namespace secequiv {
namespace {

// A straightforward interpreter without step<Domain>. The speed of the templated interpreter is
// compared with it.
[[gnu::noinline]] std::uint32_t switch_loop(const Insn* program, const std::uint32_t* input) {
  std::uint32_t a = 0;
  std::uint32_t x = 0;
  std::uint32_t m[kMemWords];
  for (const Insn* pc = program;; ++pc) {
    const std::uint32_t k = pc->k;
    switch (pc->code) {
      case 0x20:
        a = input[k / 4];
        break;
      case 0x00:
        a = k;
        break;
      case 0x01:
        x = k;
        break;
      case 0x80:
        a = kSeccompDataSize;
        break;
      case 0x81:
        x = kSeccompDataSize;
        break;
      case 0x60:
        a = m[k % kMemWords];
        break;
      case 0x61:
        x = m[k % kMemWords];
        break;
      case 0x02:
        m[k % kMemWords] = a;
        break;
      case 0x03:
        m[k % kMemWords] = x;
        break;
      case 0x07:
        x = a;
        break;
      case 0x87:
        a = x;
        break;
      case 0x04:
        a += k;
        break;
      case 0x0c:
        a += x;
        break;
      case 0x14:
        a -= k;
        break;
      case 0x1c:
        a -= x;
        break;
      case 0x24:
        a *= k;
        break;
      case 0x2c:
        a *= x;
        break;
      case 0x34:
        a /= k;
        break;
      case 0x3c:
        if (x == 0) return 0;
        a /= x;
        break;
      case 0x44:
        a |= k;
        break;
      case 0x4c:
        a |= x;
        break;
      case 0x54:
        a &= k;
        break;
      case 0x5c:
        a &= x;
        break;
      case 0x64:
        a <<= k;
        break;
      case 0x6c:
        a <<= x & 31;
        break;
      case 0x74:
        a >>= k;
        break;
      case 0x7c:
        a >>= x & 31;
        break;
      case 0xa4:
        a ^= k;
        break;
      case 0xac:
        a ^= x;
        break;
      case 0x84:
        a = 0u - a;
        break;
      case 0x05:
        pc += k;
        break;
      case 0x15:
        pc += a == k ? pc->jt : pc->jf;
        break;
      case 0x1d:
        pc += a == x ? pc->jt : pc->jf;
        break;
      case 0x25:
        pc += a > k ? pc->jt : pc->jf;
        break;
      case 0x2d:
        pc += a > x ? pc->jt : pc->jf;
        break;
      case 0x35:
        pc += a >= k ? pc->jt : pc->jf;
        break;
      case 0x3d:
        pc += a >= x ? pc->jt : pc->jf;
        break;
      case 0x45:
        pc += (a & k) != 0 ? pc->jt : pc->jf;
        break;
      case 0x4d:
        pc += (a & x) != 0 ? pc->jt : pc->jf;
        break;
      case 0x06:
        return k;
      case 0x16:
        return a;
      default:
        return 0;
    }
  }
}

Program load(const char* name) {
  const auto bytes = read_file(std::string(SECEQUIV_SOURCE_DIR "/corpus/programs/") + name);
  if (!bytes) return {};
  auto program = read_program(*bytes, name);
  return program ? *program : Program{};
}

// Returns calls 0..462 of x86_64 with small arguments. Most of them reach their rule, and some
// reach its tests of arguments.
std::vector<SeccompData> inputs() {
  std::mt19937 random(1);
  std::vector<SeccompData> out(4096);
  for (SeccompData& input : out) {
    input.set_nr(static_cast<uint32_t>(random() % 463));
    input.set_arch(0xc000003e);
    for (std::size_t word = 4; word < 16; word += 2) input.words[word] = random() % 8;
  }
  return out;
}

template <class Run>
void measure(benchmark::State& state, const char* name, Run run_one) {
  const Program program = load(name);
  if (program.empty()) {
    state.SkipWithError("the program is missing from corpus/programs");
    return;
  }
  const auto data = inputs();
  for (auto _ : state) {
    std::uint32_t sum = 0;
    for (const SeccompData& input : data) sum += run_one(program, input);
    benchmark::DoNotOptimize(sum);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(data.size()));
}

void step_interpreter(benchmark::State& state, const char* name) {
  measure(state, name,
          [](const Program& program, const SeccompData& input) { return run(program, input); });
}
void hand_written(benchmark::State& state, const char* name) {
  measure(state, name, [](const Program& program, const SeccompData& input) {
    return switch_loop(program.data(), input.words.data());
  });
}
void covered(benchmark::State& state, const char* name) {
  CoverageMap map(load(name));
  measure(state, name, [&](const Program&, const SeccompData& input) { return map.run(input); });
}

#define SECEQUIV_BENCH(label, file)                 \
  BENCHMARK_CAPTURE(hand_written, label, file);     \
  BENCHMARK_CAPTURE(step_interpreter, label, file); \
  BENCHMARK_CAPTURE(covered, label, file)
SECEQUIV_BENCH(systrap_unoptimized, "gvisor/systrap.before.bpf");
SECEQUIV_BENCH(systrap_optimized, "gvisor/systrap.after.bpf");
SECEQUIV_BENCH(docker_linear, "libseccomp/docker-x86_64.linear.bpf");
SECEQUIV_BENCH(docker_tree, "libseccomp/docker-x86_64.tree.bpf");

}  // namespace
}  // namespace secequiv

BENCHMARK_MAIN();
