#include "harness/seccomp/property.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "harness/seccomp/action.h"
#include "harness/seccomp/property_library.h"

namespace secequiv::seccomp_property_test {
namespace {

using Outcome = Property::Outcome;

Property property(std::string_view text, Arch host = Arch::kX86_64) {
  auto parsed = parse_property(text, "p", host);
  if (parsed) return std::move(*parsed);
  ADD_FAILURE() << parsed.error().text() << "\n" << text;
  return {};
}

// Reads a property with one clause.
Property::Clause clause(std::string_view text, Arch host = Arch::kX86_64) {
  Property read = property(text, host);
  EXPECT_EQ(read.clauses.size(), 1u) << text;
  return read.clauses.empty() ? Property::Clause{} : std::move(read.clauses.front());
}

std::string error_of(std::string_view text, Arch host = Arch::kX86_64) {
  const auto parsed = parse_property(text, "p", host);
  if (parsed) return "accepted";
  EXPECT_EQ(parsed.error().code, ErrorCode::kParse) << text;
  return parsed.error().text();
}

SeccompData call(std::uint32_t arch, std::uint32_t nr, std::uint64_t arg0 = 0) {
  SeccompData out{};
  out.words[kNrWord] = nr;
  out.words[kArchWord] = arch;
  out.words[half_word(0, false, endian_of(arch))] = static_cast<std::uint32_t>(arg0);
  out.words[half_word(0, true, endian_of(arch))] = static_cast<std::uint32_t>(arg0 >> 32);
  return out;
}

bool covers(const Property::Clause& clause, const SeccompData& data) {
  return holds(clause.condition, data, Endian::kLittle);
}

TEST(Property, ANameMeansTheNumberOfEachArchitecture) {
  const auto read = clause("refused: ptrace");
  EXPECT_EQ(read.outcome, Outcome::kRefused);
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, 101)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit | 521)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_I386, 26)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_AARCH64, 117)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 26)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit | 101)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_I386, 101)));
  EXPECT_FALSE(covers(read, call(1, 101))) << "an unknown architecture";
  for (const ArchInfo& info : all_arches())
    EXPECT_TRUE(covers(read, call(info.audit, *syscall_nr(info.arch, "ptrace")))) << info.name;
}

TEST(Property, X32AndX86AreApart) {
  const auto read = clause("when nr not in {ptrace}: refused");
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 101)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, 521)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit | 521)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit | 101)));
}

TEST(Property, AnArchitectureWithoutTheCallIsNotAffected) {
  const auto read = clause("when nr == socketcall && arg0.lo == 1: refused");
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_I386, 102, 1)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_S390X, 102, 1))) << "in its byte order";
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_S390X, 102, std::uint64_t{1} << 32)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 0, 1)));
  const auto others = clause("when nr not in {socketcall}: refused");
  EXPECT_FALSE(covers(others, call(AUDIT_ARCH_I386, 102)));
  EXPECT_TRUE(covers(others, call(AUDIT_ARCH_X86_64, 102)));
  EXPECT_TRUE(covers(others, call(1, 102))) << "an unknown architecture";
  const auto unlike = clause("when nr != socketcall: refused");
  EXPECT_TRUE(covers(unlike, call(AUDIT_ARCH_X86_64, 102)));
  EXPECT_FALSE(covers(unlike, call(AUDIT_ARCH_I386, 102)));
  for (const char* order : {"<", "<=", ">", ">="}) {
    const auto read_order = clause("when nr " + std::string(order) + " socketcall: refused");
    EXPECT_FALSE(covers(read_order, call(AUDIT_ARCH_X86_64, 0))) << order;
    EXPECT_FALSE(covers(read_order, call(AUDIT_ARCH_X86_64, 1000))) << order;
  }
}

TEST(Property, ConditionsWithoutNamesCoverAllArchitectures) {
  const auto read = clause("always: arch in {x86_64} or killed");
  EXPECT_EQ(read.outcome, Outcome::kKilled);
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 5)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit)));
  for (const std::uint32_t arch : {AUDIT_ARCH_I386, AUDIT_ARCH_MIPS64, 0u, 1u})
    EXPECT_TRUE(covers(read, call(arch, 5))) << arch;
  EXPECT_TRUE(covers(clause("always: refused"), call(0, 0)));
}

TEST(Property, AllowedCoversOnlyTheHostUnlessItTestsTheArchitecture) {
  const auto read = clause("allowed: read");
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, 0)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, kX32Bit)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_I386, 3)));
  EXPECT_TRUE(covers(clause("allowed: read", Arch::kI386), call(AUDIT_ARCH_I386, 3)));
  const auto two = clause("when arch in {x86_64, i386} && nr == read: allowed");
  EXPECT_TRUE(covers(two, call(AUDIT_ARCH_X86_64, 0)));
  EXPECT_TRUE(covers(two, call(AUDIT_ARCH_I386, 3)));
  EXPECT_FALSE(covers(two, call(AUDIT_ARCH_AARCH64, 63)));
  EXPECT_EQ(error_of("allowed: socketcall"),
            "p:1:10: expected a system call of x86_64, found 'socketcall'");
}

TEST(Property, AnExceptionNarrowsAClause) {
  const auto read = clause("when nr == socket: arg0.lo == AF_UNIX or refused");
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 41, 1)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 41, 0x500000001)));
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_X86_64, 41, 2)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 42, 2)));
}

TEST(Property, HostIsTheArchitectureOfTheHost) {
  for (const Arch host : {Arch::kX86_64, Arch::kAarch64}) {
    const auto read = clause("always: arch == host or refused", host);
    EXPECT_EQ(covers(read, call(AUDIT_ARCH_X86_64, 0)), host != Arch::kX86_64);
    EXPECT_EQ(covers(read, call(AUDIT_ARCH_AARCH64, 0)), host != Arch::kAarch64);
    EXPECT_TRUE(covers(read, call(AUDIT_ARCH_I386, 0)));
  }
}

TEST(Property, OutcomesAreBoundsInTheKernelsOrder) {
  const std::pair<std::string_view, std::uint32_t> kBounds[] = {{"killed", SECCOMP_RET_KILL_THREAD},
                                                                {"refused", SECCOMP_RET_ERRNO},
                                                                {"not allowed", SECCOMP_RET_TRACE},
                                                                {"allowed", SECCOMP_RET_LOG}};
  for (const auto& [name, bound] : kBounds) {
    const auto read = clause(std::string(name) + ": read");
    EXPECT_EQ(outcome_name(read.outcome), name);
    EXPECT_EQ(read.bound(), bound);
    EXPECT_EQ(expected_text(read),
              (name == "allowed" ? "at least " : "at most ") + action_name(bound));
    EXPECT_EQ(clause("always: " + std::string(name)).outcome, read.outcome);
  }
}

TEST(Property, CommentsAndContinuedLines) {
  const auto read = property(
      "# a comment: refused\n"
      "refused: read,   # the first\n"
      "  # within a clause\n"
      "\twrite\n"
      "\n"
      "always: nr == open\r\n"
      "   or killed\n");
  ASSERT_EQ(read.clauses.size(), 2u);
  EXPECT_EQ(read.clauses[0].text, "refused: read, write");
  EXPECT_EQ(read.clauses[0].line, 2u);
  EXPECT_TRUE(covers(read.clauses[0], call(AUDIT_ARCH_X86_64, 1)));
  EXPECT_EQ(read.clauses[1].text, "always: nr == open or killed");
  EXPECT_EQ(read.clauses[1].line, 6u);
}

TEST(Property, ErrorsNamePlaceExpectationAndFinding) {
  const std::pair<const char*, const char*> kErrors[] = {
      {"", "p: expected a clause, such as 'refused: ptrace', found none"},
      {"# nothing\n", "p: expected a clause, such as 'refused: ptrace', found none"},
      {"ptrace",
       "p:1:1: expected 'when CONDITION:', 'always:', 'killed:', 'refused:', "
       "'not allowed:' or 'allowed:', found 'ptrace'"},
      {"\nrefuse: ptrace",
       "p:2:1: expected 'when CONDITION:', 'always:', 'killed:', 'refused:', "
       "'not allowed:' or 'allowed:', found 'refuse: ptrace'"},
      {"refused: ptrase",
       "p:1:10: expected a system call of x86_64, found 'ptrase'; did you mean ptrace?"},
      {"# x\nrefused: read,\n  wriet\n",
       "p:3:3: expected a system call of x86_64, found 'wriet'; did you mean write or writev?"},
      {"refused:", "p:1:9: expected a system call or a number, found nothing"},
      {"refused: read,\n# more\n", "p:1:15: expected a system call or a number, found nothing"},
      {"refused: i386:socketcall",
       "p:1:14: expected names of calls without an architecture, which 'when arch == ARCH && nr in "
       "{...}: OUTCOME' restricts, found ':socketcall'"},
      {"refused: read} || nr in {write",
       "p:1:14: expected names or numbers of calls without braces, found '} || nr in {write'"},
      {"when nr == read refused",
       "p:1:24: expected ': ' and an outcome after the condition, found nothing"},
      {"when nr == read: refusd",
       "p:1:18: expected an outcome (killed, refused, not allowed, allowed), or 'CONDITION or' and "
       "an outcome, found 'refusd'"},
      {"when nr == read:",
       "p:1:17: expected an outcome (killed, refused, not allowed, allowed), or "
       "'CONDITION or' and an outcome, found nothing"},
      {"when nr = read: refused",
       "p:1:9: expected ==, !=, <, <=, >, >=, &, in or not in after nr, "
       "found '='"},
      {"always: arg0 == AF_UNIXX or refused",
       "p:1:17: expected a number from -2^63 to 2^64-1, found 'AF_UNIXX'"},
      {"always: or refused",
       "p:1:9: expected a field (arch, nr, syscall, ip, arg0..arg5), true, "
       "false, '!' or '(', found the end"},
      {"when : refused",
       "p:1:6: expected a field (arch, nr, syscall, ip, arg0..arg5), true, "
       "false, '!' or '(', found the end"},
  };
  for (const auto& [text, error] : kErrors) EXPECT_EQ(error_of(text), error) << text;
}

TEST(Property, AColonWithinAConditionNamesAnArchitecture) {
  const auto read = clause("when arch == i386 && nr == i386:socketcall: refused");
  EXPECT_TRUE(covers(read, call(AUDIT_ARCH_I386, 102)));
  EXPECT_FALSE(covers(read, call(AUDIT_ARCH_X86_64, 102)));
}

TEST(PropertyLibrary, EveryPropertyCanBeReadForEveryHost) {
  ASSERT_GE(property_library().size(), 7u);
  for (const LibraryProperty& each : property_library()) {
    EXPECT_FALSE(each.summary.empty()) << each.name;
    EXPECT_EQ(find_library_property(each.name), &each);
    for (const ArchInfo& host : all_arches())
      EXPECT_FALSE(property(each.text, host.arch).clauses.empty()) << each.name << host.name;
  }
  EXPECT_TRUE(std::ranges::is_sorted(property_library(), {}, &LibraryProperty::name));
  EXPECT_EQ(find_library_property("no-such"), nullptr);
}

TEST(PropertyLibrary, ANameOrClausesGiveAProperty) {
  const auto known = named_property("no-ptrace", "p", Arch::kX86_64);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->name, "no-ptrace");
  const auto clauses = named_property("refused: ptrace\nkilled: mount", "p", Arch::kX86_64);
  ASSERT_TRUE(clauses);
  EXPECT_EQ(clauses->name, "");
  EXPECT_EQ(clauses->clauses.size(), 2u);
  const auto unknown = named_property("no-ptrase", "p", Arch::kX86_64);
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::kUsage);
  EXPECT_TRUE(unknown.error().text().ends_with("found 'no-ptrase'; did you mean no-ptrace?"));
}

}  // namespace
}  // namespace secequiv::seccomp_property_test
