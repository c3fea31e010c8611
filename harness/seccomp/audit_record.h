// Reads a seccomp record of the kernel's audit log, as auditd, journald, dmesg and ausearch print
// it. Owns that format, which lacks the call's arguments. It must not know filters. Source:
// audit_seccomp (kernel/auditsc.c).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "harness/base/result.h"
#include "harness/seccomp/data.h"

namespace secequiv {

struct AuditRecord {
  SeccompData data;  // the arguments are 0
  // The action without data bits; empty if the record lacks its number.
  std::optional<std::uint32_t> action;
};

// Reads the first line of `text` that is such a record. Errors: kParse with `where` = name:line.
Result<AuditRecord> read_audit_record(std::string_view text, const std::string& name);

}  // namespace secequiv
