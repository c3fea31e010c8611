#include "harness/seccomp/audit_record.h"

#include <gtest/gtest.h>

#include "harness/seccomp/action.h"

namespace secequiv::seccomp_audit_record_test {
namespace {

constexpr const char* kTail =
    "auid=1000 uid=1000 gid=1000 ses=2 subj=unconfined pid=7 comm=\"arch=1\" exe=\"/bin/x\" sig=0 ";

TEST(AuditRecord, ReadsEveryForm) {
  for (const std::string& text :
       {"type=SECCOMP msg=audit(1.2:3): " + std::string(kTail) +
            "arch=c000003e syscall=435 compat=0 ip=0x7f01 code=0x50000",
        "[1.2] audit: type=1326 audit(1.2:3): " + std::string(kTail) +
            "arch=c000003e syscall=435 compat=0 ip=0x7f01 code=0x50000\x1d"
            "ARCH=x86_64 SYSCALL=clone3\n",
        "type=SECCOMP msg=audit(01/01/26): " + std::string(kTail) +
            "arch=x86_64 syscall=clone3 compat=0 ip=0x7f01 code=errno",
        std::string("type=AVC arch=1 syscall=1\ntype=SECCOMP msg=audit(1.2:3): arch=c000003e "
                    "syscall=435 compat=0 ip=0x7f01 code=0x50000\n")}) {
    const auto record = read_audit_record(text, "log");
    ASSERT_TRUE(record) << record.error().text();
    EXPECT_EQ(record->data.nr(), 435u);
    EXPECT_EQ(record->data.arch(), 0xc000003eu);
    EXPECT_EQ(record->data.field(kIpField, Endian::kLittle), 0x7f01u);
    const bool named = text.find("code=errno") != std::string::npos;
    EXPECT_EQ(record->action, named ? std::nullopt : std::optional(SECCOMP_RET_ERRNO));
  }
}

TEST(AuditRecord, MalformedRecordsAreErrors) {
  const auto refused = [](const std::string& text) {
    const auto record = read_audit_record(text, "log");
    return record ? "nothing" : record.error().text();
  };
  EXPECT_EQ(refused("type=AVC x\n"),
            "log: expected a line of the audit log with type=SECCOMP, found none");
  EXPECT_EQ(refused("\ntype=SECCOMP syscall=1"),
            "log:2: expected arch=HEXADECIMAL, found no such field");
  EXPECT_EQ(refused("type=SECCOMP arch=c000003e syscall=nope"),
            "log:1: expected syscall=NUMBER, found 'nope'");
  EXPECT_FALSE(read_audit_record("type=SECCOMP arch=c000003e syscall=1", "log")->action);
}

}  // namespace
}  // namespace secequiv::seccomp_audit_record_test
