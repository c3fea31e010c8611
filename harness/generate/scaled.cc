#include <algorithm>
#include <array>

#include "harness/generate/program.h"
#include "harness/generate/writer.h"
#include "harness/seccomp/action.h"

namespace secequiv {
namespace {

using detail::Writer;
using Label = Writer::Label;
constexpr Label kNext = Writer::kNext;

constexpr std::array<std::string_view, kFamilies> kFamilyNames = {
    "linear-search", "tree-search",   "argument-tests", "jump-chains",
    "dead-code",     "equal-returns", "equal-blocks",   "repeated-loads",
    "dead-writes",   "nested-joins",  "decided-tests",  "scratch"};

// Writes one program: the same few instructions again and again, each time with other numbers.
class Grower {
 public:
  Grower(Random& random, std::size_t length) : random_(random), out_(length), length_(length) {}

  Program grow(Family family) {
    switch (family) {
      case Family::kLinearSearch:
        out_.write(kLdWAbs, 0);
        return repeat(
            2, [&](std::uint32_t i) { test_and_return(kJeqK, 3 * i, SECCOMP_RET_ERRNO | i); });
      case Family::kTreeSearch:
        return tree();
      case Family::kArgumentTests:
        out_.write(kLdWAbs, 0);
        return repeat(5, [&](std::uint32_t i) { argument_test(i); });
      case Family::kJumpChains:
        out_.branch(kJeqK, 0, kNext, kNext);
        return repeat(2, [&](std::uint32_t i) {
          const Label over = out_.label();
          out_.jump(over);
          out_.write(kRetK, SECCOMP_RET_ERRNO | i);
          out_.bind(over);
        });
      case Family::kDeadCode:
        return dead_code();
      case Family::kEqualReturns:
        out_.write(kLdWAbs, 0);
        return repeat(2, [&](std::uint32_t i) {
          test_and_return(kJeqK, 3 * i, SECCOMP_RET_ERRNO | number(4));
        });
      case Family::kEqualBlocks:
        out_.write(kLdWAbs, 0);
        return repeat(5, [&](std::uint32_t i) { equal_block(i); });
      case Family::kRepeatedLoads:
        return repeat(3, [&](std::uint32_t i) {
          out_.write(kLdWAbs, 4 * (i / 64 % 3));
          test_and_return(kJeqK, i, SECCOMP_RET_ERRNO | i);
        });
      case Family::kDeadWrites:
        return repeat(4, [&](std::uint32_t i) { dead_writes(i); });
      case Family::kNestedJoins:
        out_.write(kLdWAbs, 16);
        return repeat(5, [&](std::uint32_t i) { diamond(i); });
      case Family::kDecidedTests:
        out_.write(kLdWAbs, 0);
        test_and_return(kJgtK, 5000, SECCOMP_RET_ALLOW);
        return repeat(2, [&](std::uint32_t i) {
          // Only one in 32 can still be met.
          test_and_return(i % 32 == 0 ? kJeqK : kJgtK, i % 32 == 0 ? i : 5000 + i,
                          SECCOMP_RET_ERRNO | i);
        });
      case Family::kScratch:
        for (std::uint32_t k = 0; k < kMemWords; ++k) out_.write(kSt, k);
        return repeat(4, [&](std::uint32_t i) {
          out_.write(i % 2 == 0 ? kLdMem : kLdxMem, i % kMemWords);
          out_.write(kAddX);
          out_.write(kSt, i * 7 % kMemWords);
          out_.branch(kJeqK, random_.word(), kNext, kNext);
        });
    }
    return {};
  }

 private:
  std::uint32_t number(std::size_t n) { return static_cast<std::uint32_t>(random_.below(n)); }

  // `unit` writes `size` instructions; what does not fill up is filled with returns.
  template <class Unit>
  Program repeat(std::size_t size, const Unit& unit) {
    for (std::uint32_t i = 0; out_.size() + size + 1 <= length_; ++i) unit(i);
    return fill();
  }
  Program fill() {
    while (out_.size() < length_) out_.write(kRetK, SECCOMP_RET_KILL_PROCESS);
    return out_.finish();
  }

  void test_and_return(std::uint16_t code, std::uint32_t k, std::uint32_t value) {
    const Label skip = out_.label();
    out_.branch(code, k, kNext, skip);
    out_.write(kRetK, value);
    out_.bind(skip);
  }

  // 5m - 1 instructions for m numbers.
  Program tree() {
    out_.write(kLdWAbs, 0);
    subtree(0, static_cast<std::uint32_t>(length_ / 5));
    return fill();
  }
  void subtree(std::uint32_t begin, std::uint32_t end) {
    if (end - begin == 1) {
      test_and_return(kJeqK, 3 * begin, SECCOMP_RET_ERRNO | number(4));
      return out_.write(kRetK, SECCOMP_RET_KILL_PROCESS);
    }
    const std::uint32_t middle = begin + (end - begin) / 2;
    const Label right = out_.label();
    const Label left = out_.label();
    out_.branch(kJgeK, 3 * middle, kNext, left);
    out_.jump(right);
    out_.bind(left);
    subtree(begin, middle);
    out_.bind(right);
    subtree(middle, end);
  }

  void argument_test(std::uint32_t i) {
    const Label skip = out_.label();
    const Label deny = out_.label();
    out_.branch(kJeqK, i, kNext, skip);
    out_.write(kLdWAbs, 16 + 8 * number(6));
    out_.branch(kJsetK, random_.word(), deny, kNext);
    out_.write(kRetK, SECCOMP_RET_ALLOW);
    out_.bind(deny);
    out_.write(kRetK, SECCOMP_RET_ERRNO | number(3));
    out_.bind(skip);
  }

  void equal_block(std::uint32_t i) {
    const Label skip = out_.label();
    const std::uint32_t kind = number(3);
    out_.branch(kJeqK, 3 * i, kNext, skip);
    out_.write(kLdWAbs, 16);
    out_.write(kAndK, 0xffu << kind);
    out_.write(kOrK, SECCOMP_RET_ERRNO);
    out_.write(kRetA);
    out_.bind(skip);
  }

  void dead_writes(std::uint32_t i) {
    out_.write(kLdxImm, i);
    out_.write(kLdWAbs, 4 * number(16));
    out_.write(kSt, number(kMemWords));
    out_.write(i % 16 == 0 ? kAddX : kTxa);
  }

  void diamond(std::uint32_t i) {
    const Label other = out_.label();
    const Label join = out_.label();
    out_.branch(kJsetK, 1u << i % 32, kNext, other);
    out_.write(kLdxImm, 2 * i);
    out_.jump(join);
    out_.bind(other);
    out_.write(kLdxImm, 2 * i + 1);
    out_.bind(join);
    out_.write(i % 4 == 0 ? kAddX : kXorX);
  }

  Program dead_code() {
    const Label end = out_.label();
    out_.jump(end);
    while (out_.size() + 4 < length_) {
      out_.write(kLdWAbs, 4 * number(16));
      test_and_return(kJeqK, random_.word(), SECCOMP_RET_ERRNO | number(9));
    }
    out_.bind(end);
    return fill();
  }

  Random& random_;
  Writer out_;
  std::size_t length_;
};

}  // namespace

std::string_view family_name(Family family) {
  return kFamilyNames[static_cast<std::size_t>(family)];
}

std::vector<Program> scaled_programs(Random& random, Family family) {
  std::vector<Program> out;
  for (std::size_t length = 64; length <= kMaxInsns; length *= 2)
    out.push_back(Grower(random, length).grow(family));
  return out;
}

}  // namespace secequiv
