#include "harness/report/doors.h"

#include <gtest/gtest.h>

#include "harness/policy/testing.h"

namespace secequiv::report_doors_test {
namespace {

using Cause = DoorFinding::Cause;

OpenDoor open_door(std::string_view call, std::string_view door, std::string_view needs = "") {
  OpenDoor out{call, door};
  out.refused = secequiv::call(Arch::kX86_64, 62, {1});
  out.allowed = secequiv::call(Arch::kI386, 102, {1});
  out.needs = needs;
  out.source = "kill(2)";
  return out;
}

TEST(DoorReport, OneLineForACause) {
  DoorFinding finding{Cause::kOpenArch, true, Arch::kI386};
  for (const std::string_view call : {"read", "write", "open", "close"})
    finding.open.push_back(open_door(call, call, "CONFIG_IA32_EMULATION"));
  EXPECT_EQ(door_line(finding),
            "certain: i386: the filter refuses nothing; 4 calls refused on x86_64 and allowed on "
            "i386: read, write, open and 1 more; needs CONFIG_IA32_EMULATION");
  finding.cause = Cause::kSameCall;
  EXPECT_NE(door_line(finding).find("the same calls have other numbers"), std::string::npos);
  finding.cause = Cause::kUncheckedArch;
  EXPECT_NE(door_line(finding).find("does not test the architecture"), std::string::npos);
}

TEST(DoorReport, EachCallAndDoorIsNamedOnce) {
  DoorFinding finding{Cause::kOtherCall, false, Arch::kX86_64};
  for (const std::string_view call : {"chmod", "fchmodat"})
    for (const std::string_view door : {"a", "b"})
      finding.open.push_back(open_door(call, door, "something"));
  EXPECT_EQ(door_line(finding),
            "possible: x86_64: a, b can do what is refused as chmod, fchmodat; needs something");
  finding.open.back().needs = "something else";
  EXPECT_EQ(door_line(finding), "possible: x86_64: a, b can do what is refused as chmod, fchmodat");
}

TEST(DoorReport, TheTextShowsBothInputsAndTheRule) {
  DoorFinding finding{Cause::kIoUring, false, Arch::kX86_64, {open_door("open", "io_uring_setup")}};
  finding.open[0].operation = "IORING_OP_OPENAT";
  finding.open[0].rule.text = "rule 1";
  EXPECT_EQ(door_text(finding),
            "possible: x86_64: io_uring can do what is refused as open (IORING_OP_OPENAT)\n"
            "  refused: x86_64:kill(0x1)  by rule 1\n"
            "  allowed: i386:socketcall(0x1)\n"
            "  source:  kill(2)\n");
}

TEST(DoorReport, Json) {
  DoorFinding finding{Cause::kMultiplexer, true, Arch::kI386, {open_door("socket", "socketcall")}};
  const auto json = to_json(finding);
  EXPECT_EQ(json["cause"], "multiplexer");
  EXPECT_EQ(json["certain"], true);
  EXPECT_EQ(json["arch"], "i386");
  ASSERT_EQ(json["open"].size(), 1u);
  EXPECT_EQ(json["open"][0]["call"], "socket");
  EXPECT_EQ(json["open"][0]["door"], "socketcall");
  EXPECT_EQ(json["open"][0]["source"], "kill(2)");
  EXPECT_FALSE(json["open"][0].contains("needs"));
}

}  // namespace
}  // namespace secequiv::report_doors_test
