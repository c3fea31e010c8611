#include "harness/import/read_profile.h"

#include <gtest/gtest.h>

#include "harness/base/file.h"

namespace secequiv::import_read_profile_test {
namespace {

using Profile = std::vector<SyscallCount>;

Profile read(std::string_view text) {
  auto profile = read_profile(text, "f");
  if (profile) return std::move(*profile);
  ADD_FAILURE() << profile.error().text() << "\n" << text;
  return {};
}

std::string refusal(std::string_view text) {
  const auto profile = read_profile(text, "f");
  if (profile) return "accepted";
  EXPECT_EQ(profile.error().code, ErrorCode::kParse);
  return profile.error().text();
}

constexpr std::string_view kTable =
    "% time     seconds  usecs/call     calls    errors syscall\n"
    "------ ----------- ----------- --------- --------- ----------------\n"
    " 69.83    0.000530         132         4         2 wait4\n"
    "  4.87    0.000037           0        59           mmap\n"
    "  0.00    0.000000           0         9           brk\n"
    "------ ----------- ----------- --------- --------- ----------------\n"
    "100.00    0.000759           2        72         2 total\n";

TEST(Profile, ReadsTheTableOfStrace) {
  EXPECT_EQ(read(kTable), (Profile{{"mmap", 59}, {"brk", 9}, {"wait4", 4}}));
  EXPECT_EQ(read("% time     seconds  usecs/call     calls    errors syscall\r\n"
                 "------ ----------- ----------- --------- --------- ----------------\r\n"
                 " 66,75    0,003708           0      3922           read\r\n"
                 "------ ----------- ----------- --------- --------- ----------------\r\n"
                 "100,00    0,005555                  6607           total\r\n"),
            (Profile{{"read", 3922}}))
      << "tables of another locale, of an older strace, or with other line ends are read";
}

TEST(Profile, AddsUpSeveralTables) {
  const std::string twice = "strace: Process 7 attached\n" + std::string(kTable) +
                            "System call usage summary for 32 bit mode:\n" + std::string(kTable);
  EXPECT_EQ(read(twice), (Profile{{"mmap", 118}, {"brk", 18}, {"wait4", 8}}));
}

TEST(Profile, FindsColumnsByTheirTitles) {
  EXPECT_EQ(read("syscall              calls\n"
                 "---------------- ---------\n"
                 "mmap                     8\n"
                 "---------------- ---------\n"
                 "total                    8\n"),
            (Profile{{"mmap", 8}}));
  EXPECT_EQ(read("   errors   longest     calls syscall          % time\n"
                 "--------- -------- --------- ---------------- ------\n"
                 "           0.000231         1 execve            62.94\n"
                 "        3 0.000006 12345678901 mmap             11.48\n"
                 "--------- -------- --------- ---------------- ------\n"
                 "        3 0.000231 12345678902 total           100.00\n"),
            (Profile{{"mmap", 12345678901}, {"execve", 1}}))
      << "blank fields and numbers wider than their column are read";
}

TEST(Profile, ReadsLinesOfNamesAndNumbers) {
  EXPECT_EQ(read("\xef\xbb\xbf# what ran\n\nread 7\n\twrite\t9 \nread 1\nclose 8"),
            (Profile{{"write", 9}, {"close", 8}, {"read", 8}}))
      << "equal counts are sorted by name";
  EXPECT_EQ(read("read 0\n"), (Profile{{"read", 0}}));
}

TEST(Profile, ReadsAJsonObject) {
  EXPECT_EQ(read(R"({"futex": 870063})"), (Profile{{"futex", 870063}}));
  EXPECT_EQ(read("\n { \"read\":1 ,\n\t\"futex\" : 18446744073709551614}\n"),
            (Profile{{"futex", 18446744073709551614U}, {"read", 1}}));
}

TEST(Profile, ReadsAJsonList) {
  EXPECT_EQ(read(R"([{"name": "futex", "calls": 870063}])"), (Profile{{"futex", 870063}}));
  EXPECT_EQ(read("\n [ {\"calls\":1,\"name\":\"read\"} ,\n{\"name\" : \"write\",\t\"calls\" : "
                 "18446744073709551614},{\"name\":\"read\",\"calls\":2}]\n"),
            (Profile{{"write", 18446744073709551614U}, {"read", 3}}));
}

TEST(Profile, ReadsThePostgresProfile) {
  const auto text = read_file(SECEQUIV_SOURCE_DIR "/corpus/profiles/postgres.txt");
  ASSERT_TRUE(text) << text.error().text();
  const Profile profile = read(*text);
  ASSERT_EQ(profile.size(), 21u);
  EXPECT_EQ(profile[0], (SyscallCount{"futex", 870063}));
  EXPECT_EQ(profile[20], (SyscallCount{"munmap", 52}));
  EXPECT_TRUE(unknown_calls(profile, Arch::kX86_64).empty());
}

TEST(Profile, ProfileWithoutCountsIsAnError) {
  constexpr std::string_view kNone =
      "f: expected system calls and their numbers of calls, found none";
  for (const std::string_view text : {"", "\n \n", "# nothing\n", "{}", " { } ", "[]", "[ ]",
                                      "syscall calls\n------- -----\n------- -----\ntotal 0\n"})
    EXPECT_EQ(refusal(text), kNone) << text;
}

TEST(Profile, ErrorsInLinesNameThePosition) {
  EXPECT_EQ(refusal("read 1\n\nwrite\n"),
            "f:3: expected a system call's name and its number of calls, or a table of strace "
            "-c, found 'write'");
  EXPECT_EQ(refusal("read 1\n7 write"), "f:2: expected a system call's name, found '7'");
  for (const std::string_view bad : {"-1", "1.5", "0x10", "18446744073709551616", "1k", "+1"})
    EXPECT_EQ(refusal("read " + std::string(bad)),
              "f:1: expected the number of calls of read, from 0 to 2^64-1, found '" +
                  std::string(bad) + "'");
  EXPECT_EQ(refusal("read 18446744073709551615\nwrite 18446744073709551615\nread 1\n"),
            "f:3: the sum of the calls of read exceeds 2^64-1");
  EXPECT_EQ(refusal("a\x1b[0m 1"), "f:1: expected a system call's name, found 'a\\x1b[0m'");
  EXPECT_EQ(refusal(std::string(100, '7') + " 1"),
            "f:1: expected a system call's name, found '" + std::string(60, '7') + "...'");
}

TEST(Profile, ErrorsInTablesNameThePosition) {
  EXPECT_EQ(refusal("syscall             errors\n"),
            "f:1: expected a table with one column 'calls' (strace -c -U name,calls prints one)");
  EXPECT_EQ(refusal("calls\n"),
            "f:1: expected a table with one column 'syscall' (strace -c -U name,calls prints one)");
  EXPECT_EQ(refusal("calls syscall calls\n"),
            "f:1: expected a table with one column 'calls' (strace -c -U name,calls prints one)");
  EXPECT_EQ(refusal("calls syscall\n1 read\n"), "f:2: expected a line of dashes, found '1 read'");
  EXPECT_EQ(refusal("calls syscall\n----- -------\n1 2 read\n"),
            "f:3: expected a row of 2 columns, found '1 2 read'");
  EXPECT_EQ(refusal("calls errors syscall\n----- ------ -------\nread\n"),
            "f:3: expected a row of 3 columns, found 'read'");
  EXPECT_EQ(refusal("calls syscall\n----- -------\n1 read\n----- -------\n2 write\n"),
            "f:5: expected the line of totals, found '2 write'");
  for (std::size_t lines = 1; lines < 7; ++lines) {
    std::size_t end = 0;
    for (std::size_t i = 0; i < lines; ++i) end = kTable.find('\n', end) + 1;
    EXPECT_EQ(refusal(kTable.substr(0, end)),
              "f:" + std::to_string(lines) +
                  ": the table of strace is cut off: expected its rows and the line of totals");
  }
}

TEST(Profile, ErrorsInJsonObjectsNameThePosition) {
  EXPECT_EQ(refusal("{\"read\": 1,\n  \"write\": \"2\"}"),
            "f:2#/write: expected a number from 0 to 2^64-1, found \"2\"");
  EXPECT_EQ(refusal("{\"read\": -1}"), "f:1#/read: expected a number from 0 to 2^64-1, found -1");
  EXPECT_EQ(refusal("{\"re ad\": 1}"), "f:1#/re ad: expected a system call's name, found 're ad'");
  EXPECT_TRUE(refusal("{\"read\" 1}").starts_with("f:1:9: "));
  EXPECT_EQ(refusal("{\"read\": 1,\n\"read\": 1}"),
            "f:2:1: the key 'read' appears twice in one object");
}

TEST(Profile, ErrorsInJsonListsNameThePosition) {
  EXPECT_EQ(refusal("[{\"name\": \"read\", \"calls\": 1},\n {\"name\": \"write\"}]"),
            "f:2#/1: the key 'calls' is missing");
  EXPECT_EQ(refusal("[{}]"), "f:1#/0: the key 'name' is missing");
  EXPECT_EQ(refusal(R"([{"name": "read", "calls": 1, "errors": 2}])"),
            "f:1#/0/errors: unknown key 'errors'; known here: name, calls");
  EXPECT_EQ(refusal(R"([{"name": "read", "calls": 1.5}])"),
            "f:1#/0/calls: expected a number from 0 to 2^64-1, found 1.5");
  EXPECT_EQ(refusal(R"([{"calls": 1, "name": "re ad"}])"),
            "f:1#/0/name: expected a system call's name, found 're ad'");
  EXPECT_EQ(refusal(R"([{"name": 7, "calls": 1}])"),
            "f:1#/0/name: expected a system call's name, found 7");
  EXPECT_EQ(refusal(R"(["read"])"), "f:1#/0: expected an object, found \"read\"");
  EXPECT_EQ(refusal(R"([{"name": "read", "calls": 18446744073709551615},)"
                    "\n"
                    R"({"name": "read", "calls": 1}])"),
            "f:2#/1/name: the sum of the calls of read exceeds 2^64-1");
}

// The reader must survive every truncation of the text and every change of a single byte.
TEST(Profile, DamagedTextNeverCrashes) {
  const std::string object = R"({"futex": 870063, "read": 4})";
  const std::string list = R"([{"name": "futex", "calls": 7}, {"calls": 4, "name": "read"}])";
  for (const std::string& whole : {std::string(kTable), object, list}) {
    for (std::size_t at = 0; at < whole.size(); ++at) {
      (void)read_profile(std::string_view(whole).substr(0, at), "f");
      for (const char c : {'\0', '\n', '-', '"', '{', '9', '\xff'}) {
        std::string damaged = whole;
        damaged[at] = c;
        (void)read_profile(damaged, "f");
      }
    }
  }
}

}  // namespace
}  // namespace secequiv::import_read_profile_test
