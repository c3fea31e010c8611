#include "harness/seccomp/annotate.h"

#include <fmt/format.h>

#include <optional>

#include "harness/bpf/flow.h"
#include "harness/bpf/refusal.h"
#include "harness/seccomp/action.h"
#include "harness/seccomp/arch.h"

namespace secequiv {
namespace {

// The value that `arch` certainly has before an instruction. If `audit` is empty, several values
// are possible.
struct KnownArch {
  bool reached = false;
  std::optional<std::uint32_t> audit;

  void merge(const KnownArch& other) {
    if (!reached) {
      *this = other;
    } else if (audit != other.audit) {
      audit.reset();
    }
  }
};

std::vector<KnownArch> known_arches(ProgramView program, const std::vector<Accumulator>& flow,
                                    std::optional<std::uint32_t> assumed) {
  std::vector<KnownArch> known(program.size());
  known[0] = {true, assumed};
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    if (!known[pc].reached) continue;
    std::size_t to[2];
    const std::size_t count = successors(program, pc, to);
    for (std::size_t i = 0; i < count; ++i) {
      KnownArch next = known[pc];
      if (count == 2 && flow[pc].is_word(kArchWord)) {
        const bool equal = program[pc].code == kJeqK;
        if (equal && i == 0)
          next.audit = program[pc].k;
        else if (next.audit == assumed && (!equal || assumed == program[pc].k))
          next.audit.reset();
      }
      known[to[i]].merge(next);
    }
  }
  return known;
}

// Returns the name of the value that `word` is compared with, or the value. After > and >=, the
// name of a system call follows its number, because a name alone would seem to mean only this call.
// A comparison with kX32Bit separates two ABIs, so it gets no name.
std::string compared_value(std::uint32_t word, const Insn& in, const KnownArch& known) {
  const std::uint32_t k = in.k;
  if (word == kArchWord) {
    const auto arch = arch_from_data(k, 0);
    return arch ? std::string(arch_info(*arch).name) : fmt::format("{:#x}", k);
  }
  std::string number = k < 10 ? fmt::format("{}", k) : fmt::format("{:#x}", k);
  if (word != kNrWord || in.code == kJsetK) return number;
  const auto arch = arch_from_data(known.audit.value_or(0), k);
  const std::string_view name = arch ? syscall_name(*arch, k) : std::string_view();
  if (name.empty()) return number;
  if (in.code == kJeqK) return std::string(name);
  return k == kX32Bit ? number : fmt::format("{} ({})", number, name);
}

std::string comparison(const Insn& in, const Accumulator& a, const KnownArch& known) {
  if (a.kind != Accumulator::Kind::kWord) return {};
  const char* op = nullptr;
  switch (in.code) {
    case kJeqK:
      op = "==";
      break;
    case kJgtK:
      op = ">";
      break;
    case kJgeK:
      op = ">=";
      break;
    case kJsetK:
      op = "&";
      break;
    default:
      return {};
  }
  const Endian endian = known.audit ? endian_of(*known.audit) : Endian::kLittle;
  std::string left = word_name(a.word, endian);
  if (a.mask != 0xffffffff) left = fmt::format("({} & {:#x})", left, a.mask);
  return fmt::format("{} {} {}", left, op, compared_value(a.word, in, known));
}

}  // namespace

std::vector<std::string> annotate(ProgramView program, std::optional<Arch> assumed) {
  std::vector<std::string> out(program.size());
  const bool sound = !program.empty() && !refusal_of(program, LengthRule::kUnlimited);
  const auto flow = sound ? accumulator_flow(program) : std::vector<Accumulator>(program.size());
  const auto audit = assumed ? std::optional(arch_info(*assumed).audit) : std::nullopt;
  const auto known =
      sound ? known_arches(program, flow, audit) : std::vector<KnownArch>(program.size());
  for (std::size_t pc = 0; pc < program.size(); ++pc) {
    const Insn& in = program[pc];
    if (in.code == kLdWAbs && in.k < kSeccompDataSize && in.k % 4 == 0) {
      const Endian endian = known[pc].audit ? endian_of(*known[pc].audit) : Endian::kLittle;
      out[pc] = "A = " + word_name(in.k / 4, endian);
    } else if (in.code == kRetK) {
      out[pc] = "return " + describe_action(in.k);
    } else if (sound && !known[pc].reached) {
      out[pc] = "unreachable";
    } else if (sound) {
      out[pc] = comparison(in, flow[pc], known[pc]);
    }
  }
  return out;
}

}  // namespace secequiv
