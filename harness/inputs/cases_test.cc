// Tests the inputs that are derived from a policy.
#include "harness/inputs/cases.h"

#include <gtest/gtest.h>

#include <array>
#include <set>

#include "harness/bpf/testing.h"
#include "harness/generate/policy.h"
#include "harness/policy/testing.h"

namespace secequiv::inputs_cases_test {
namespace {

class Inputs {
 public:
  explicit Inputs(const Cases& cases) {
    for (const SeccompData& data : cases.inputs) words_.insert(data);
  }
  bool has(const SeccompData& data) const { return words_.contains(data); }
  std::size_t size() const { return words_.size(); }

 private:
  std::set<SeccompData> words_;
};

constexpr unsigned long long kOnes = ~0ull;
constexpr unsigned long long kBit63 = 1ull << 63;

// Returns {k, k+1} x {k_hi, k_hi+1}, combined by halves.
std::vector<std::uint64_t> secfuzz_values(std::uint64_t k) {
  const std::uint64_t high = k >> 32;
  const std::uint64_t low = k & 0xffffffff;
  const auto join = [](std::uint64_t h, std::uint64_t l) {
    return (h & 0xffffffff) << 32 | (l & 0xffffffff);
  };
  return {0, join(high, low), join(high, low + 1), join(high + 1, low), join(high + 1, low + 1)};
}

const char* const kSample = R"j({"action": "allow", "rules": {
  "openat": {"any_of": [{"args": {"0": {"eq": "0x500000003"}, "2": {"eq": 7}}}, {"args": {"0": {"eq": 9}, "ip": {"eq": "0xffffffff"}}}]},
  "close": {"args": {"0": "non_negative_fd"}}, "lseek": {"args": {"1": {"ge": "0x100000005"}}},
  "mmap": {"args": {"2": {"masked_eq": {"mask": "0x40000006", "value": 2}}}}, "read": true}})j";

TEST(Cases, ContainTheCrossProductOfSecfuzz) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  std::set<std::uint64_t> first;
  for (const std::uint64_t k : {std::uint64_t{0x500000003}, std::uint64_t{9}})
    for (const std::uint64_t v : secfuzz_values(k)) first.insert(v);
  for (const std::uint64_t arg0 : first)
    for (const std::uint64_t arg2 : secfuzz_values(7))
      for (const std::uint64_t ip : secfuzz_values(0xffffffff))
        EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 257, {arg0, 0, arg2}, ip)))
            << std::hex << arg0 << " " << arg2 << " " << ip;
}

TEST(Cases, ProbeEveryNumber) {
  const Policy policy = x86_64_policy(kSample);
  const Inputs inputs(derive_cases(policy));
  for (const SyscallEntry& entry : arch_info(Arch::kX86_64).syscalls) {
    const std::string_view name = entry.name;
    SeccompData data = call(Arch::kX86_64, entry.nr);
    EXPECT_TRUE(inputs.has(data)) << name;
    for (std::uint32_t word = kIpWord; word < 16; ++word) {
      SeccompData one = data;
      one.words[word] = 0xffffffff;
      EXPECT_TRUE(inputs.has(one)) << name << ", word " << word;
    }
    for (std::uint32_t word = kIpWord; word < 16; ++word) data.words[word] = 0xffffffff;
    EXPECT_TRUE(inputs.has(data)) << name << ", all words are ones";
    SeccompData wrong = call(Arch::kX86_64, entry.nr);
    wrong.set_arch(AUDIT_ARCH_X86_64 ^ 1);
    EXPECT_TRUE(inputs.has(wrong)) << name << ", wrong architecture";
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, entry.nr | kX32Bit))) << name << ", x32 bit";
  }
  const std::uint32_t last = arch_info(Arch::kX86_64).syscalls.back().nr;
  for (const std::uint32_t nr : {last + 1, last + 2, 1000u, 0x3fffffffu, 0x40000000u, 0x7fffffffu,
                                 0x80000000u, 0xfffffffeu, 0xffffffffu})
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, nr))) << "outside the table: " << nr;
}

TEST(Cases, FlipSingleBitsOfEqualValues) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t flipped = 0x500000003 ^ 1ull << bit;
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 257, {flipped, 0, 7})))
        << "bit " << bit << ", the other argument passing";
  }
}

TEST(Cases, IncludeTheBoundariesOfOrderComparisons) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  for (const std::uint64_t v :
       {0x100000004ull, 0x100000005ull, 0x100000006ull, 0x100000000ull, 0x1ffffffffull,
        0xffffffffull, 0x5ull, 0x000000005ull, 0x200000005ull, 0x200000000ull, 0x7fffffffull,
        0x80000000ull, kBit63})
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 8, {0, v}))) << std::hex << v;
}

TEST(Cases, IncludeTheSignBitOfNonNegativeFds) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  for (const std::uint64_t v : {0ull, 0x7fffffffull, 0x80000000ull, 0xffffffffull, 0x100000000ull,
                                kOnes, 0xffffffff80000000ull, 0xffffffff7fffffffull,
                                // secfuzz uses the high halves 0 and 1 with low halves at the sign
                                // bit
                                0x80000001ull, 0x180000000ull, 0x180000001ull})
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 3, {v}))) << std::hex << v;
  for (int bit = 0; bit < 64; ++bit)
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 3, {1ull << bit}))) << "bit " << bit;
}

TEST(Cases, IncludeEachMaskBitAloneAndMissing) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  const std::uint64_t mask = 0x40000006;
  for (int bit = 0; bit < 64; ++bit) {
    const std::uint64_t one = 1ull << bit;
    for (const std::uint64_t v : {one, mask & ~one, 2 ^ one, (2 | ~mask) ^ one})
      EXPECT_TRUE(inputs.has(call(Arch::kX86_64, 9, {0, 0, v})))
          << "bit " << bit << ": " << std::hex << v;
  }
}

// Calls to which a rule does not apply get the arguments of a call that passes.
TEST(Cases, ReuseTheArgumentsOfPassingCallsForOtherCalls) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  const SeccompData passing = call(Arch::kX86_64, 257, {0x500000003, 0, 7});
  ASSERT_TRUE(inputs.has(passing));
  for (const std::uint32_t nr : {256u, 258u, 257u | kX32Bit})
    EXPECT_TRUE(inputs.has(call(Arch::kX86_64, nr, {0x500000003, 0, 7})));
  for (const ArchInfo& info : all_arches()) {
    SeccompData data = passing;
    data.set_arch(info.audit);
    EXPECT_TRUE(inputs.has(data)) << info.name;
  }
}

TEST(Cases, IncludeForeignArchitectures) {
  const Inputs inputs(derive_cases(x86_64_policy(kSample)));
  for (int bit = 0; bit < 32; ++bit) {
    SeccompData data;
    data.set_arch(AUDIT_ARCH_X86_64 ^ 1u << bit);
    EXPECT_TRUE(inputs.has(data)) << bit;
  }
  SeccompData ones;
  ones.words.fill(0xffffffff);
  EXPECT_TRUE(inputs.has(ones));
  EXPECT_TRUE(inputs.has(SeccompData{}));
}

// For calls in a rule set with `vsyscall`, the inputs have both values of the vsyscall bit.
TEST(Cases, IncludeBothValuesOfTheVsyscallBit) {
  const Policy policy = x86_64_policy(
      R"j({"action": "trap", "vsyscall": true, "rules": {"time": {"args": {"0": {"eq": 5}}}}})j");
  const Inputs inputs(derive_cases(policy));
  const std::uint32_t time = *syscall_nr(Arch::kX86_64, "time");
  EXPECT_TRUE(inputs.has(call(Arch::kX86_64, time, {5}, kBit63)));
  EXPECT_TRUE(inputs.has(call(Arch::kX86_64, time, {5}, 0)));
  EXPECT_TRUE(inputs.has(call(Arch::kX86_64, time, {6}, kBit63)));
}

// On big-endian machines the high half of an argument comes first, so it must come first in the
// inputs too.
TEST(Cases, UseTheByteOrderOfBigEndianArchitectures) {
  const Policy policy =
      policy_from(R"j({"version": 1, "arches": ["s390x"], "default_action": "errno(1)",
    "rule_sets": [{"action": "allow", "rules": {"write": {"args": {"0": {"eq": "0x500000003"}}}}}]})j");
  const Inputs inputs(derive_cases(policy));
  for (const std::uint64_t v : secfuzz_values(0x500000003))
    EXPECT_TRUE(inputs.has(call(Arch::kS390x, 4, {v}))) << std::hex << v;
}

TEST(Cases, HaveTheSameValuesInEachByteOrder) {
  const auto values = [](const std::string& arch) {
    const Policy policy = policy_from(
        R"j({"version": 1, "default_action": "errno(1)", "arches": [")j" + arch + R"j("],
      "rule_sets": [{"action": "allow", "rules": {"write": {"args": {"0": {"ge": "0x100000005"},
        "1": {"masked_eq": {"mask": "0x40000006", "value": 2}}, "ip": {"eq": "0x500000003"}}}}}]})j");
    const ArchInfo& info = arch_info(policy.arches.at(0));
    std::set<std::array<std::uint64_t, 7>> out;
    for (const SeccompData& data : derive_cases(policy).inputs) {
      if (data.arch() != info.audit || data.nr() != syscall_nr(info.arch, "write")) continue;
      std::array<std::uint64_t, 7> row;
      for (int i = 0; i < 7; ++i) row[static_cast<std::size_t>(i)] = data.field(i, info.endian);
      out.insert(row);
    }
    return out;
  };
  EXPECT_TRUE(values("s390x") == values("x86_64"));
}

// Each rule has a derived input that passes it, even if several matchers of one field must hold
// together.
TEST(Cases, PassEachRule) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {
    "read": {"all_of": [{"args": {"0": {"gt": "0x100000000"}}}, {"args": {"0": {"lt": "0x100000002"}}}]},
    "write": {"all_of": [{"args": {"0": {"ne": 0}}}, {"args": {"0": "non_negative_fd", "1": {"masked_eq": {"mask": 6, "value": 4}}}}]},
    "open": {"all_of": [{"any_of": [{"args": {"0": {"eq": 1}}}, {"args": {"0": {"eq": 2}}}]}, {"args": {"0": {"ge": 2}}}]},
    "close": {"args": {"3": {"bits_allowlist": 9}, "4": {"le": 0}, "ip": {"ge": "0xffffffffffffffff"}}}}})j");
  std::set<std::uint32_t> passed;
  for (const SeccompData& data : derive_cases(policy).inputs)
    if (decide(policy, data) != policy.default_action && data.arch() == AUDIT_ARCH_X86_64)
      passed.insert(data.nr());
  EXPECT_EQ(passed, (std::set<std::uint32_t>{0, 1, 2, 3}));
}

TEST(Cases, AreDeterministicAndDistinct) {
  Random random(70);
  for (int i = 0; i < of_cases(20); ++i) {
    const Policy policy = random_policy(random);
    const Cases first = derive_cases(policy, {.per_syscall = 500, .total = 4000000});
    const Cases second = derive_cases(policy, {.per_syscall = 500, .total = 4000000});
    EXPECT_EQ(first.inputs, second.inputs);
    EXPECT_EQ(first.dropped, second.dropped);
    EXPECT_EQ(Inputs(first).size(), first.inputs.size());
  }
}

TEST(Cases, RespectLimitsAndCountWhatIsOmitted) {
  const Policy policy = x86_64_policy(R"j({"action": "allow", "rules": {"openat": {"args": {
    "0": {"eq": 1}, "1": {"eq": 20}, "2": {"eq": 300}, "3": {"eq": 4000}, "4": {"eq": 50000}, "5": {"eq": 600000}}}}})j");
  const Cases all = derive_cases(policy, {.per_syscall = 1000000, .total = 4000000});
  EXPECT_EQ(all.dropped, 0u);
  const Cases some = derive_cases(policy, {.per_syscall = 1000, .total = 4000000});
  // Six arguments take the values {0, k, k+1, k+2^32, k+1+2^32}.
  EXPECT_EQ(some.dropped, 15625u - 1000u);
  EXPECT_LT(some.inputs.size(), all.inputs.size());
  const Inputs inputs(all);
  for (const SeccompData& data : some.inputs)
    EXPECT_TRUE(inputs.has(data)) << "a limit must not invent cases";
  // The remaining cases still vary every argument.
  std::array<std::set<std::uint64_t>, 6> seen;
  for (const SeccompData& data : some.inputs)
    for (int i = 0; i < 6; ++i)
      if (data.nr() == 257)
        seen[static_cast<std::size_t>(i)].insert(data.field(i, Endian::kLittle));
  for (const auto& values : seen) EXPECT_GE(values.size(), 5u);

  const Cases few = derive_cases(policy, {.per_syscall = 1000000, .total = 10});
  EXPECT_EQ(few.inputs.size(), 10u);
  EXPECT_GE(few.dropped, all.inputs.size() - 10);
  for (std::size_t i = 0; i < few.inputs.size(); ++i)
    EXPECT_EQ(few.inputs[i], all.inputs[i]) << "a limit keeps the first inputs";
}

// For a rule with a huge cross product, the derivation stays fast and within its limits, and it
// counts what it leaves out.
TEST(Cases, StayWithinLimitsForHugeProducts) {
  std::string children;
  for (int i = 0; i < 200; ++i) {
    std::string fields;
    for (const char* field : {"0", "1", "2", "3", "4", "5", "ip"})
      fields += std::string(fields.empty() ? "" : ", ") + "\"" + field +
                "\": {\"eq\": " + std::to_string(1000 * i) + "}";
    children += std::string(i == 0 ? "" : ", ") + "{\"args\": {" + fields + "}}";
  }
  const Policy policy =
      x86_64_policy(R"j({"action": "allow", "rules": {"read": {"any_of": [)j" + children + "]}}}");
  const Cases cases = derive_cases(policy, {.per_syscall = 100, .total = 4000000});
  EXPECT_LT(cases.inputs.size(), 400000u);
  EXPECT_GE(cases.dropped, 1000000000000000000u);
}

}  // namespace
}  // namespace secequiv::inputs_cases_test
