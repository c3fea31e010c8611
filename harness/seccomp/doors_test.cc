#include "harness/seccomp/doors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace secequiv::seccomp_doors_test {
namespace {

bool exists(Arch arch, std::string_view call) { return syscall_nr(arch, call).has_value(); }

// Returns the architectures that have all calls of the door.
std::vector<Arch> arches(const Door& door) {
  std::vector<Arch> out;
  for (const ArchInfo& info : all_arches())
    if (exists(info.arch, door.call) && exists(info.arch, door.door) &&
        std::ranges::all_of(door.also, [&](std::string_view name) {
          return name.empty() || exists(info.arch, name);
        }))
      out.push_back(info.arch);
  return out;
}

std::string name_of(const Door& door) {
  return std::string(door.call) + " -> " + std::string(door.door);
}

TEST(DoorTable, EveryRowNamesCallsAndItsSource) {
  EXPECT_GT(all_doors().size(), 300u);
  for (const Door& door : all_doors()) {
    for (const std::string_view call : {door.call, door.door})
      EXPECT_TRUE(std::ranges::any_of(all_arches(), [&](const ArchInfo& info) {
        return exists(info.arch, call);
      })) << call;
    EXPECT_NE(door.call, door.door);
    EXPECT_FALSE(door.source.empty()) << name_of(door);
    EXPECT_EQ(door.kind == DoorKind::kIoUring, !door.operation.empty()) << name_of(door);
  }
}

TEST(DoorTable, NoRowIsThereTwice) {
  std::set<std::string> seen;
  for (const Door& door : all_doors())
    EXPECT_TRUE(seen.insert(name_of(door) + std::string(door.undoes.value)).second)
        << name_of(door);
}

// A constant without a value would close a door silently.
TEST(DoorTable, ConstantsHaveValuesWhereTheCallsExist) {
  const auto value = [](std::string_view constant, Arch arch) -> std::optional<std::uint64_t> {
    const auto number = parse_value(constant, arch);
    return number ? std::optional(*number) : std::nullopt;
  };
  for (const Door& door : all_doors())
    for (const Arch arch : arches(door)) {
      for (const auto& [refused, opens] : door.links)
        for (const DoorValue& one : {refused, opens})
          EXPECT_TRUE(one.constant.empty() || value(one.constant, arch))
              << one.constant << " on " << arch_info(arch).name;
      if (door.undoes.value.empty()) continue;
      const auto wanted = value(door.undoes.value, arch);
      ASSERT_TRUE(wanted) << door.undoes.value << " on " << arch_info(arch).name;
      const bool is_flag = door.undoes.what != DoorFor::What::kOperation;
      EXPECT_TRUE(!is_flag || std::has_single_bit(*wanted)) << door.undoes.value;
    }
}

const Door& row(std::string_view call, std::string_view opens) {
  const auto found = std::ranges::find_if(
      all_doors(), [&](const Door& door) { return door.call == call && door.door == opens; });
  EXPECT_NE(found, all_doors().end()) << call << " -> " << opens;
  return *found;
}

TEST(DoorTable, OnlyOlderCallsAreReplacedByCallsWithArgumentsInMemory) {
  for (const Door& door : all_doors())
    for (const std::string_view hidden : {"openat2", "clone3", "sched_setattr", "socketcall"})
      EXPECT_TRUE(door.call != hidden || door.kind == DoorKind::kIoUring) << name_of(door);
  EXPECT_FALSE(row("open", "openat2").newer);
  EXPECT_TRUE(row("openat", "open").newer);
}

TEST(DoorTable, OperationsOfMultiplexersHaveNumbers) {
  int rows = 0;
  for (const Door& door : all_doors()) {
    if (door.kind != DoorKind::kMultiplexer) continue;
    const auto operation = multiplexed(door.call);
    ASSERT_TRUE(operation) << name_of(door);
    EXPECT_EQ(operation->call, door.door);
    EXPECT_EQ(std::to_string(operation->number), door.links[0].refused.constant);
    ++rows;
  }
  EXPECT_EQ(rows, 32);
  EXPECT_FALSE(multiplexed("recvmmsg_time64"));
}

TEST(DoorTable, PositionsOfArguments) {
  const Door& chmod = row("chmod", "fchmodat2");
  EXPECT_EQ(chmod.links[0].refused.argument, 1);
  EXPECT_EQ(chmod.links[0].door.argument, 2);
  EXPECT_EQ(row("socket", "socketcall").links[0].refused.constant, "1");
  EXPECT_EQ(door_argument(Arch::kX86_64, "clone", 0), 0);
  EXPECT_EQ(door_argument(Arch::kS390x, "clone", 0), 1);
  EXPECT_TRUE(has_arguments_in_memory(Arch::kI386, "mmap"));
  EXPECT_FALSE(has_arguments_in_memory(Arch::kI386, "mmap2"));
  EXPECT_FALSE(has_arguments_in_memory(Arch::kX86_64, "mmap"));
  EXPECT_EQ(common_arguments(Arch::kI386, "pread64"), 3);
  EXPECT_EQ(common_arguments(Arch::kX32, "pread64"), 6);
  EXPECT_EQ(common_arguments(Arch::kI386, "mmap"), 0);
  EXPECT_EQ(common_arguments(Arch::kI386, "socket"), 6);
}

}  // namespace
}  // namespace secequiv::seccomp_doors_test
