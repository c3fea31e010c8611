#include <fmt/args.h>
#include <fmt/format.h>

#include <array>

#include "harness/bpf/text.h"
#include "harness/generate/program.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

// A program in bpf_asm: a beginning, the same few instructions repeated with different numbers
// (Grower::unit), and an end.
struct Growth {
  std::string_view name;
  std::size_t size;  // instructions in a unit
  const char* begin;
  const char* unit;
  const char* end = "";
};
constexpr std::array<Growth, kFamilies> kGrowths = {{
    {"linear-search", 2, "ld [0]\n", "jne #{triple}, n{i}\n ret #{errno}\n n{i}:\n"},
    {"tree-search", 0, "", ""},  // Grower::subtree makes its text
    {"argument-tests", 5, "ld [0]\n",
     "jne #{i}, n{i}\n ld [{argument}]\n jset #{word}, d{i}\n ret #0x7fff0000\n"
     "d{i}: ret #{near_errno}\n n{i}:\n"},
    {"jump-chains", 2, "jeq #0, s, s\n s:\n", "ja n{i}\n ret #{errno}\n n{i}:\n"},
    {"dead-code", 3, "ja end\n", "ld [{any}]\n jne #{word}, n{i}\n ret #{near_errno}\n n{i}:\n",
     "end:\n"},
    {"equal-returns", 2, "ld [0]\n", "jne #{triple}, n{i}\n ret #{near_errno}\n n{i}:\n"},
    {"equal-blocks", 5, "ld [0]\n",
     "jne #{triple}, n{i}\n ld [16]\n and #{mask}\n or #0x50000\n ret a\n n{i}:\n"},
    {"repeated-loads", 3, "", "ld [{often}]\n jne #{i}, n{i}\n ret #{errno}\n n{i}:\n"},
    {"dead-writes", 4, "", "ldx #{i}\n ld [{any}]\n st M[{slot}]\n {use}\n"},
    {"nested-joins", 5, "ld [16]\n",
     "jset #{bit}, y{i}, o{i}\n y{i}: ldx #{double}\n ja j{i}\n o{i}: ldx #{triple}\n"
     "j{i}: {join}\n"},
    {"decided-tests", 2, "ld [0]\n jle #5000, low\n ret #0x7fff0000\n low:\n",
     "{decided}, n{i}\n ret #{errno}\n n{i}:\n"},
    {"scratch", 4,
     "st M[0]\n st M[1]\n st M[2]\n st M[3]\n st M[4]\n st M[5]\n st M[6]\n st M[7]\n"
     "st M[8]\n st M[9]\n st M[10]\n st M[11]\n st M[12]\n st M[13]\n st M[14]\n st M[15]\n",
     "{load} M[{next}]\n add x\n st M[{seventh}]\n jeq #{word}, n{i}, n{i}\n n{i}:\n"},
}};

class Grower {
 public:
  Grower(Random& random, std::size_t length) : random_(random), length_(length) {}

  Program grow(Family family) {
    const Growth& growth = kGrowths[static_cast<std::size_t>(family)];
    if (family == Family::kTreeSearch) {
      text_ = "ld [0]\n";
      subtree(0, static_cast<std::uint32_t>(length_ / 5));
      return program();
    }
    text_ = std::string(growth.begin) + growth.end;
    const std::size_t room = length_ - program().size();
    text_ = growth.begin;
    for (std::uint32_t i = 0; (i + 1) * growth.size <= room; ++i) unit(growth.unit, i);
    text_ += growth.end;
    return program();
  }

 private:
  std::uint32_t number(std::size_t n) { return static_cast<std::uint32_t>(random_.below(n)); }

  void unit(const char* form, std::uint32_t i) {
    fmt::dynamic_format_arg_store<fmt::format_context> numbers;
    const auto give = [&](const char* name, const auto& value) {
      numbers.push_back(fmt::arg(name, value));
    };
    give("i", i);
    give("double", 2 * i);
    give("triple", 3 * i);
    give("errno", SECCOMP_RET_ERRNO | i);
    give("near_errno", SECCOMP_RET_ERRNO | number(4));
    give("word", random_.word());
    give("any", 4 * number(16));
    give("argument", 16 + 8 * number(6));
    give("often", 4 * (i / 64 % 3));
    give("mask", 0xffu << number(3));
    give("bit", 1u << i % 32);
    give("slot", number(kMemWords));
    give("next", i % kMemWords);
    give("seventh", i * 7 % kMemWords);
    give("load", i % 2 == 0 ? "ld" : "ldx");
    give("use", i % 16 == 0 ? "add x" : "txa");
    give("join", i % 4 == 0 ? "add x" : "xor x");
    // All tests but one in 32 are decided by an earlier test.
    give("decided", i % 32 == 0 ? fmt::format("jne #{}", i) : fmt::format("jle #{}", 5000 + i));
    text_ += fmt::vformat(form, numbers);
  }

  // Writes 5m - 2 instructions for m numbers.
  void subtree(std::uint32_t begin, std::uint32_t end) {
    if (end - begin == 1) {
      text_ += fmt::format("jne #{}, n{}\n ret #{}\n n{}: ret #{}\n", 3 * begin, begin,
                           SECCOMP_RET_ERRNO | number(4), begin, SECCOMP_RET_KILL_PROCESS);
      return;
    }
    const std::uint32_t middle = begin + (end - begin) / 2;
    text_ += fmt::format("jlt #{}, l{}\n ja r{}\n l{}:\n", 3 * middle, middle, middle, middle);
    subtree(begin, middle);
    text_ += fmt::format("r{}:\n", middle);
    subtree(middle, end);
  }

  // Adds a last instruction, so that labels at the end have a place.
  [[nodiscard]] Program program() const {
    return *read_program(text_ + "ret #0x80000000\n", "family", Form::kAsm);
  }

  Random& random_;
  std::size_t length_;
  std::string text_;
};

}  // namespace

std::string_view family_name(Family family) {
  return kGrowths[static_cast<std::size_t>(family)].name;
}

std::vector<Program> scaled_programs(Random& random, Family family) {
  std::vector<Program> out;
  for (std::size_t length = 64; length <= kMaxInsns; length *= 2) {
    Program program = Grower(random, length).grow(family);
    program.resize(length, Insn{kRetK, 0, 0, SECCOMP_RET_KILL_PROCESS});
    out.push_back(std::move(program));
  }
  return out;
}

}  // namespace secequiv
