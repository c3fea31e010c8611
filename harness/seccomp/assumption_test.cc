#include "harness/seccomp/assumption.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "harness/base/random.h"
#include "harness/bpf/testing.h"

namespace secequiv::seccomp_assumption_test {
namespace {

using Part = Assumption::Field::Part;

constexpr std::array kEndians = {Endian::kLittle, Endian::kBig};

// Parses --assume `text`. Refused text fails the test and gives the condition `true`.
Assumption assumption(std::string_view text, Arch arch = Arch::kX86_64) {
  auto parsed = parse_assumption(text, arch);
  if (parsed) return std::move(*parsed);
  ADD_FAILURE() << parsed.error().text() << "\n" << text;
  return {};
}

std::string error_of(std::string_view text) {
  const auto parsed = parse_assumption(text, Arch::kX86_64);
  if (parsed) return "accepted as " + describe(*parsed);
  EXPECT_EQ(parsed.error().code, ErrorCode::kUsage) << text;
  return parsed.error().text();
}

// The text of a field, and its value. The value is computed without Field::word.
struct NamedField {
  std::string name;
  Assumption::Field field;

  [[nodiscard]] std::uint64_t value(const SeccompData& data, Endian endian) const {
    if (field.index == kNrField) return data.nr();
    if (field.index == kArchField) return data.arch();
    const std::uint64_t whole = data.field(field.index, endian);
    return (field.part == Part::kHigh ? whole >> 32 : whole) & field.max();
  }
};

std::vector<NamedField> all_fields() {
  std::vector<NamedField> out = {
      {"nr", {kNrField}}, {"syscall", {kNrField}}, {"arch", {kArchField}}};
  const auto add = [&out](const std::string& name, int index) {
    out.push_back({name, {index}});
    out.push_back({name + ".lo", {index, Part::kLow}});
    out.push_back({name + ".hi", {index, Part::kHigh}});
  };
  add("ip", kIpField);
  for (int i = 0; i < kArgCount; ++i)
    for (const char* form : {"arg{}", "args[{}]"}) add(fmt::format(fmt::runtime(form), i), i);
  return out;
}

// There are few values, so that fields and constants are often equal. The values lie where carries
// and signs change.
constexpr std::array<std::uint32_t, 8> kEdges = {0,          1,          2,          0x7fffffff,
                                                 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};

std::uint32_t edge_word(Random& random) {
  return random.one_in(12) ? random.word() : random.pick(kEdges);
}

std::uint64_t edge_value(Random& random, const Assumption::Field& field) {
  return (std::uint64_t{edge_word(random)} << 32 | edge_word(random)) & field.max();
}

SeccompData edge_data(Random& random) {
  SeccompData data;
  std::ranges::generate(data.words, [&random] { return edge_word(random); });
  return data;
}

struct Operator {
  std::string_view text;
  bool below, equal, above;  // the result if the value is below, equal to or above the constant

  [[nodiscard]] bool compare(std::uint64_t a, std::uint64_t b) const {
    return a < b ? below : a == b ? equal : above;
  }
};
constexpr std::array kOps = {Operator{"==", false, true, false}, Operator{"!=", true, false, true},
                             Operator{"<", true, false, false},  Operator{"<=", true, true, false},
                             Operator{">", false, false, true},  Operator{">=", false, true, true}};

// The test tries values around each edge of each half, for every field in both byte orders.
TEST(Assumption, OperatorsAreCorrectAtTheEdgesOfBothHalves) {
  Random random(1);
  for (const NamedField& field : all_fields()) {
    for (std::size_t i = 0; i < kEdges.size() * kEdges.size(); ++i) {
      const std::uint64_t high = kEdges[i / kEdges.size()];
      const std::uint64_t value = (high << 32 | kEdges[i % kEdges.size()]) & field.field.max();
      for (const Operator& op : kOps) {
        const std::string text = fmt::format("{} {} {:#x}", field.name, op.text, value);
        const Assumption parsed = assumption(text);
        for (int j = 0; j < 24; ++j) {
          const SeccompData data = edge_data(random);
          for (const Endian endian : kEndians)
            ASSERT_EQ(holds(parsed, data, endian), op.compare(field.value(data, endian), value))
                << text << " on " << describe(data);
        }
      }
    }
  }
}

bool holds_of_arg0(std::string_view text, std::uint64_t arg0) {
  SeccompData data;
  data.set_field(0, arg0, Endian::kLittle);
  return holds(assumption(text), data, Endian::kLittle);
}

TEST(Assumption, MasksApplyBeforeComparison) {
  for (std::uint64_t v = 0; v < 8; ++v) {
    EXPECT_EQ(holds_of_arg0("arg0 & 3 == 2", v), v % 4 == 2);
    EXPECT_EQ(holds_of_arg0("arg0&3!=2", v), v % 4 != 2);
  }
  EXPECT_TRUE(holds_of_arg0("arg0 & 0x8000000000000001 == 0x8000000000000000", 1ull << 63));
  EXPECT_FALSE(holds_of_arg0("arg0 & 0x8000000000000001 == 0x8000000000000000", 0));
  EXPECT_TRUE(holds_of_arg0("arg0 & -8 == 0", 7));
  EXPECT_FALSE(holds_of_arg0("arg0 & -8 == 0", 1ull << 63)) << "-8 has the high half set";
  EXPECT_FALSE(holds_of_arg0("arg0 & 1 == 2", 3)) << "no value has bits outside the mask";
}

TEST(Assumption, SetsContainValuesAndRanges) {
  constexpr std::string_view kSet = "arg0 in {1, 3..5, 0xffffffff..0x100000001}";
  constexpr std::string_view kNotSet = "arg0 not in {1, 3..5, 0xffffffff..0x100000001}";
  for (std::size_t i = 0; i < 24; ++i) {
    const std::uint64_t v = std::array{0ul, 0xfffffffcul, 0x300000000ul}[i / 8] + i % 8;
    const bool in = v == 1 || (v >= 3 && v <= 5) || (v >= 0xffffffff && v <= 0x100000001);
    EXPECT_EQ(holds_of_arg0(kSet, v), in) << v;
    EXPECT_EQ(holds_of_arg0(kNotSet, v), !in) << v;
  }
  EXPECT_TRUE(holds_of_arg0("arg0 in{-5..-1}", -3ull));
}

TEST(Assumption, ArchitectureInAConjunctionSelectsNamesAndByteOrder) {
  const std::uint32_t here = *syscall_nr(Arch::kX86_64, "getpid");
  const std::uint32_t there = *syscall_nr(Arch::kAarch64, "getpid");
  const auto getpid_on = [](std::uint32_t audit, std::uint32_t nr) {
    SeccompData data;
    data.words[kArchWord] = audit;
    data.words[kNrWord] = nr;
    return data;
  };
  const SeccompData input = getpid_on(AUDIT_ARCH_AARCH64, there);
  for (const char* text :
       {"arch == aarch64 && nr == getpid", "nr == getpid && arch == aarch64",
        "(nr == getpid || nr == read) && (arch == aarch64)", "arch == 0xc00000b7 && nr in {getpid}",
        "arch == aarch64 && !(nr != getpid)", "arch == aarch64 && nr == aarch64:getpid"}) {
    EXPECT_TRUE(holds(assumption(text), input, Endian::kLittle)) << text;
    EXPECT_FALSE(holds(assumption(text), getpid_on(AUDIT_ARCH_AARCH64, here), Endian::kLittle))
        << text;
  }
  // An architecture gives names their meaning only within its own conjunction, and only if the
  // conjunction requires it.
  for (const char* text : {"arch == aarch64 || nr == getpid", "arch != aarch64 && nr == getpid",
                           "(arch == aarch64 && nr == read) || nr == getpid",
                           "arch in {aarch64, x86_64} && nr == getpid", "nr == getpid"})
    EXPECT_TRUE(holds(assumption(text), getpid_on(AUDIT_ARCH_X86_64, here), Endian::kLittle))
        << text;
  // If the default architecture is x32, names mean x32 calls.
  EXPECT_EQ(describe(assumption("arch == x86_64 && nr == read", Arch::kX32)),
            "arch == x86_64 && nr == 1073741824");
  SeccompData data;
  data.words[kArchWord] = AUDIT_ARCH_S390X;
  data.set_field(0, 5, Endian::kBig);
  for (const Endian endian : kEndians) {
    EXPECT_TRUE(holds(assumption("arg0 == 5 && arch == s390x"), data, endian));
    EXPECT_TRUE(
        holds(assumption("arch == s390x && (arg0 in {4..6} && arg0.lo == 5)"), data, endian));
    EXPECT_FALSE(holds(assumption("arch == s390x && arg0.hi == 5"), data, endian));
    EXPECT_EQ(holds(assumption("arg0 == 5"), data, endian), endian == Endian::kBig);
  }
}

TEST(Assumption, AcceptsNamesOfArchitecturesAndSystemCalls) {
  for (const ArchInfo& info : all_arches()) {
    const std::string openat = fmt::format("nr == {}", *syscall_nr(info.arch, "openat"));
    EXPECT_EQ(describe(assumption("nr == openat", info.arch)), openat);
    EXPECT_EQ(describe(assumption(fmt::format("nr == {}:openat", info.name))), openat);
    if (info.arch == Arch::kX32) continue;
    const std::string arch = fmt::format("arch == {}", info.name);
    EXPECT_EQ(assumption(arch), assumption(fmt::format("arch == {:#x}", info.audit)));
    EXPECT_EQ(describe(assumption(arch)), arch);
  }
  EXPECT_EQ(describe(assumption("arch in {arm64, 5}")), "arch in {aarch64, 0x5}");
  EXPECT_EQ(describe(assumption("syscall in {read, arm64 : openat..100}")), "nr in {0, 56..100}");
}

TEST(Assumption, BarsJoinConstantsOfArguments) {
  const std::string flags = "arg0 & 0x10020000 == 0x20000";
  EXPECT_EQ(describe(assumption("arg0 & (CLONE_NEWNS|CLONE_NEWUSER) == CLONE_NEWNS")), flags);
  EXPECT_EQ(describe(assumption("arg0 & CLONE_NEWNS | 0x10000000 == (CLONE_NEWNS)")), flags);
  EXPECT_EQ(describe(assumption("arg1.lo in {SOCK_STREAM|SOCK_CLOEXEC..0x80005|2}")),
            "arg1.lo in {0x80001..0x80007}");
  EXPECT_EQ(describe(assumption("(arg0 == 1|2||nr == 1)")),
            describe(assumption("arg0 == 3 || nr == 1")));
}

TEST(Assumption, AndBindsTighterThanOr) {
  const struct {
    const char* text;
    std::array<bool, 4> truth;  // for (nr, arg0) = (0, 0), (0, 1), (1, 0), (1, 1)
  } cases[] = {
      {"true", {true, true, true, true}},
      {"nr == 1 || arg0 == 1 && false", {false, false, true, true}},
      {"false && arg0 == 1 || nr == 1", {false, false, true, true}},
      {"(nr == 1 || arg0 == 1) && false", {false, false, false, false}},
      {"true || nr == 1 && arg0 == 1", {true, true, true, true}},
      {"!nr == 1 && arg0 == 1", {false, true, false, false}},
      {"!nr == 1 || arg0 == 1", {true, true, false, true}},
      {"!(nr == 1 && arg0 == 1)", {true, true, true, false}},
      {"!(nr == 1 || arg0 == 1)||nr==1&&arg0==1", {true, false, false, true}},
      {"nr == 0 && arg0 == 0 || nr == 1 && arg0 == 1", {true, false, false, true}},
      {"\t( ( nr==1 ) )\n", {false, false, true, true}},
  };
  for (const auto& [text, truth] : cases) {
    for (std::uint32_t i = 0; i < 4; ++i) {
      SeccompData data;
      data.set_nr(i / 2);
      data.set_field(0, i % 2, Endian::kLittle);
      EXPECT_EQ(holds(assumption(text), data, Endian::kLittle), truth[i]) << text << " case " << i;
    }
  }
}

TEST(Assumption, JoinedConditionsHoldAsTheirParts) {
  const Assumption read = assumption("nr == 0");
  const Assumption word = assumption("arg0.lo in {1, 2} || ip == 0 && nr != 7");
  const Assumption never = assumption("false");
  for (std::uint32_t nr : {0u, 1u, 7u})
    for (std::uint32_t argument : {0u, 1u}) {
      SeccompData data{};
      data.words[kNrWord] = nr;
      data.words[half_word(0, false, Endian::kLittle)] = argument;
      const auto truth = [&](const Assumption& one) { return holds(one, data, Endian::kLittle); };
      EXPECT_EQ(truth(all_of({read, word})), truth(read) && truth(word));
      EXPECT_EQ(truth(any_of({read, word})), truth(read) || truth(word));
      EXPECT_EQ(truth(not_of(word)), !truth(word));
      EXPECT_EQ(truth(all_of({not_of(read), {}, word})), !truth(read) && truth(word));
      EXPECT_EQ(truth(any_of({never, not_of(word)})), !truth(word));
      EXPECT_FALSE(truth(all_of({word, never})));
      EXPECT_TRUE(truth(any_of({word, {}})));
      EXPECT_TRUE(truth(all_of(std::vector<Assumption>{})));
      EXPECT_FALSE(truth(any_of(std::vector<Assumption>{})));
      EXPECT_FALSE(truth(not_of({})));
    }
  EXPECT_EQ(describe(any_of({never, read})), "nr == 0") << "parts without effect are left out";
}

TEST(Assumption, HostIsTheDefaultArchitecture) {
  EXPECT_EQ(describe(assumption("arch == host", Arch::kArm)), "arch == arm");
  EXPECT_EQ(describe(assumption("arch == host", Arch::kX32)), "arch == x86_64");
}

TEST(Assumption, ErrorsNameColumnAndExpectation) {
  const std::string field =
      "a field (arch, nr, syscall, ip, arg0..arg5), true, false, '!' or '(', found ";
  const std::string op = "==, !=, <, <=, >, >=, &, in or not in after ";
  const std::string number = "a number from -2^31 to 2^32-1, found ";
  const std::string wide = "a number from -2^63 to 2^64-1, found ";
  const std::string arch = "aarch64, arm, riscv64, s390x, ppc64le, mips64)";
  const struct {
    const char* text;
    int column;
    std::string expected;
  } cases[] = {
      {"", 1, field + "the end"},
      {"  arg == 1", 3, field + "'arg'"},
      {"arg6 == 1", 1, field + "'arg6'"},
      {"nr == 1 &&", 11, field + "the end"},
      {"\xc3\xa9", 1, field + "byte 0xc3"},
      {"nr", 3, op + "nr, found the end"},
      {"nr.lo == 1", 3, op + "nr, found '.'"},
      {"args[1].lo = 1", 12, op + "arg1.lo, found '='"},
      {"args 1", 6, "'[' after args, found '1'"},
      {"args[10] == 1", 6, "an argument's index from 0 to 5, found '10'"},
      {"args[1 == 1", 8, "']', found '=='"},
      {"arg0.low == 1", 6, "lo or hi, found 'low'"},
      {"nr == 1 nr == 2", 9, "'&&', '||' or the end, found 'nr'"},
      {"(nr == 1", 9, "'&&', '||' or ')', found the end"},
      {"(nr == 1 | nr == 2)", 10, "'&&', '||' or ')', found '|'"},
      {"arg0 & 1", 9, "== or != after the mask, found the end"},
      {"arg0 == read", 9, wide + "'read'"},
      {"arg0 == 0x1g", 9, wide + "'0x1g'"},
      {"arg0 == 0b1", 9, wide + "'0b1'"},
      {"arg0 == 18446744073709551616", 9, wide + "'18446744073709551616'"},
      {"arg0 == -9223372036854775809", 9, wide + "'-9223372036854775809'"},
      {"nr == 4294967296", 7, number + "'4294967296'"},
      {"nr == - 2147483649", 7, number + "'- 2147483649'"},
      {"arg0.lo & 0x100000000 == 0", 11, number + "'0x100000000'"},
      {"arg0 == --1", 10, "a number after '-', found '-'"},
      {"nr == futux", 7, "a system call of x86_64, found 'futux'; did you mean futex?"},
      {"nr == arm64:futux", 13, "a system call of aarch64, found 'futux'; did you mean futex?"},
      {"nr == arm64:", 13, "a system call of aarch64, found the end"},
      {"nr == {", 7, "a system call or a number, found '{'"},
      {"nr == arm46:read", 7,
       "an architecture (x86_64, i386, x32, " + arch + ", found 'arm46'; did you mean arm?"},
      {"arch == arm46", 9,
       "an architecture (x86_64, i386, " + arch + " or a number, found 'arm46'; did you mean arm?"},
      {"arch != x32", 9,
       "x86_64 (x32 has the same arch value; 'nr & 0x40000000' distinguishes them), found 'x32'"},
      {"arg0 in {}", 10, wide + "'}'"},
      {"arg0 == (1", 11, "'|' or ')', found the end"},
      {"arg0 == 1|", 11, wide + "the end"},
      {"nr == (1)", 7, "a system call or a number, found '('"},
      {"arg0 in {1", 11, "',' or '}', found the end"},
      {"arg0 in (1)", 9, "'{' after in, found '('"},
      {"arg0 not {1}", 10, "in after not, found '{'"},
      {"arg0 in {1, 5 .. 4}", 13, "a range from low to high (unsigned), found '5 .. 4'"},
      {"arg0 in {-1..1}", 10, "a range from low to high (unsigned), found '-1..1'"},
  };
  for (const auto& [text, column, expected] : cases)
    EXPECT_EQ(error_of(text), fmt::format("assumption: column {}: expected {}", column, expected))
        << text;
}

TEST(Assumption, NestingIsLimited) {
  const auto grouped = [](std::size_t depth) {
    return std::string(depth, '(') + "nr == 1" + std::string(depth, ')');
  };
  const auto negated = [](std::size_t depth) { return std::string(depth, '!') + "nr == 1"; };
  EXPECT_EQ(describe(assumption(grouped(200))), "nr == 1");
  EXPECT_EQ(describe(assumption(negated(199))), "nr != 1");
  const std::string refused =
      "assumption: column 201: expected at most 200 nested '(' and '!', found ";
  for (const std::size_t depth : {201u, 100000u}) {
    EXPECT_EQ(error_of(grouped(depth)), refused + "'('");
    EXPECT_EQ(error_of(negated(depth)), refused + "'!'");
  }
  // Parentheses side by side are not nested.
  std::string wide = "nr == 1";
  for (int i = 0; i < 10000; ++i) wide += " && !(nr == 2)";
  EXPECT_TRUE(parse_assumption(wide, Arch::kX86_64));
}

TEST(Assumption, DescribesInCanonicalForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"arg0 == -1", "arg0 == 0xffffffffffffffff"},
      {"arg0.hi == -1", "arg0.hi == 0xffffffff"},
      {"nr == - 2147483648", "nr == 2147483648"},
      {"ip == -9223372036854775808", "ip == 0x8000000000000000"},
      {"ip == 18446744073709551615", "ip == 0xffffffffffffffff"},
      {"arg0 in {0XfF, -0}", "arg0 in {0xff, 0x0}"},
      {"arg0 == 010", "arg0 == 0xa"},  // numbers are decimal, as in all options
      {"!(syscall<=5)", "nr > 5"},
      {"args[3].hi<0x10", "arg3.hi < 0x10"},
      {"!arg0 & 7 == 0", "arg0 & 0x7 != 0x0"},
      {"arg0 & -1 == 5", "arg0 == 0x5"},
      {"!ip.lo in {1,2 .. 3}", "ip.lo not in {0x1, 0x2..0x3}"},
      {"(nr==1 && nr==2) && (nr==3 || (nr==4 || nr==5))",
       "(nr == 1 && nr == 2) && (nr == 3 || nr == 4 || nr == 5)"},
      {"(arch == s390x && arg0 == 1) && arg1 == 2",
       "(arch == s390x && arg0 == 0x1) && arg1 == 0x2"},
      {"(nr==1 && nr==2) || !(nr==3 || nr==4)", "nr == 1 && nr == 2 || !(nr == 3 || nr == 4)"},
      {"!(nr==3 || nr==4) && !!(nr==1 || nr==2)", "!(nr == 3 || nr == 4) && (nr == 1 || nr == 2)"},
      {"!true || !false", "false || true"},
      {"arch >= 1 && arch & 0x80000000 != 0", "arch >= 0x1 && arch & 0x80000000 != 0x0"},
  };
  for (const auto& [text, canonical] : cases) {
    EXPECT_EQ(describe(assumption(text)), canonical) << text;
    EXPECT_EQ(describe(assumption(canonical)), canonical);
  }
  EXPECT_EQ(describe(Assumption{}), "true");
  EXPECT_TRUE(holds(Assumption{}, SeccompData{}, Endian::kLittle));
}

// An expression in the language, and its meaning in C++.
struct Expression {
  std::string text;
  std::function<bool(const SeccompData&)> truth;
};

// Writes random expressions with all spellings of fields and numbers. Adds parentheses where the
// grammar needs them, and at random elsewhere.
class Writer {
 public:
  Writer(Random& random, Endian endian) : random_(random), endian_(endian) {}

  Expression any(int depth) { return chain(depth, false); }

 private:
  Expression chain(int depth, bool all_of) {
    const auto operand = [&] { return all_of ? unary(depth) : chain(depth, true); };
    Expression out = operand();
    while (random_.one_in(3)) {
      const Expression right = operand();
      out = {out.text + space() + (all_of ? "&&" : "||") + space() + right.text,
             [all_of, a = out.truth, b = right.truth](const SeccompData& d) {
               return all_of ? a(d) && b(d) : a(d) || b(d);
             }};
    }
    return out;
  }

  Expression unary(int depth) {
    if (depth == 0 || random_.one_in(3)) return test();
    const bool negated = random_.one_in(3);
    const Expression inner = negated ? unary(depth - 1) : any(depth - 1);
    if (negated) return {"!" + space() + inner.text, std::not_fn(inner.truth)};
    return {"(" + inner.text + ")", inner.truth};
  }

  Expression test() {
    const NamedField field = random_.pick(fields_);
    const auto read = [field, endian = endian_](const SeccompData& d) {
      return field.value(d, endian);
    };
    const std::uint64_t k = edge_value(random_, field.field);
    if (random_.one_in(3)) return set(field, read);
    if (random_.one_in(3)) {
      const std::uint64_t mask = edge_value(random_, field.field);
      const bool equal = random_.one_in(2);
      return {field.name + "&" + space() + number(mask, field.field) + (equal ? "==" : " != ") +
                  number(k & mask, field.field),
              [=](const SeccompData& d) { return ((read(d) & mask) == (k & mask)) == equal; }};
    }
    const Operator op = random_.pick(kOps);
    return {field.name + space() + std::string(op.text) + space() + number(k, field.field),
            [=](const SeccompData& d) { return op.compare(read(d), k); }};
  }

  Expression set(const NamedField& field,
                 const std::function<std::uint64_t(const SeccompData&)>& read) {
    const bool negated = random_.one_in(2);
    Expression out{field.name + (negated ? " not in{" : " in {"),
                   [negated](const SeccompData&) { return negated; }};
    for (std::size_t i = random_.between(1, 3); i > 0; --i) {
      const std::uint64_t a = edge_value(random_, field.field);
      const std::uint64_t b = random_.one_in(2) ? a : edge_value(random_, field.field);
      out.text += number(std::min(a, b), field.field);
      if (a != b || random_.one_in(4))
        out.text += space() + ".." + number(std::max(a, b), field.field);
      out.text += i > 1 ? "," + space() : "}";
      out.truth = [=, before = out.truth](const SeccompData& d) {
        return std::min(a, b) <= read(d) && read(d) <= std::max(a, b) ? !negated : before(d);
      };
    }
    return out;
  }

  std::string number(std::uint64_t value, const Assumption::Field& field) {
    const std::int64_t as_signed =
        field.is_wide() ? static_cast<std::int64_t>(value) : static_cast<std::int32_t>(value);
    if (as_signed < 0 && random_.one_in(2)) return fmt::format("{}", as_signed);
    return random_.one_in(2) ? fmt::format("{}", value) : fmt::format("{:#x}", value);
  }

  std::string space() { return random_.one_in(2) ? " " : ""; }

  Random& random_;
  Endian endian_;
  std::vector<NamedField> fields_ = all_fields();
};

TEST(Assumption, RandomExpressionsAndTheirDescriptionsEvaluateCorrectly) {
  Random random(2);
  int held = 0;
  for (int i = 0; i < of_cases(4000); ++i) {
    const Endian endian = random.pick(kEndians);
    const Expression expression = Writer(random, endian).any(4);
    const Assumption parsed = assumption(expression.text);
    const std::string canonical = describe(parsed);
    const Assumption again = assumption(canonical, Arch::kS390x);
    ASSERT_EQ(describe(again), canonical);
    for (int j = 0; j < 20; ++j) {
      const SeccompData data = edge_data(random);
      ASSERT_EQ(holds(parsed, data, endian), expression.truth(data)) << expression.text;
      ASSERT_EQ(holds(again, data, endian), expression.truth(data)) << canonical;
      held += holds(parsed, data, endian);
    }
  }
  EXPECT_GT(held, of_cases(20000)) << "of 20 results each; the inputs must distinguish expressions";
  EXPECT_LT(held, of_cases(60000));
}

}  // namespace
}  // namespace secequiv::seccomp_assumption_test
