#include "harness/import/library_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <string_view>
#include <utility>

#include "harness/base/table.h"
#include "harness/base/text.h"
#include "harness/bpf/symbols.h"
#include "harness/import/oci_names.h"

namespace secequiv {
namespace {

// Returns the operator's name in the text: that of the profile in lower case.
std::string operator_text(Matcher::Op op) {
  constexpr std::string_view kPrefix = "SCMP_CMP_";
  const auto* const known = entry_of(kOciOperators, op, &OciOperator::op);
  return lower_case(known->name.substr(kPrefix.size()));
}

std::string_view library_arch(Arch arch) {
  return arch == Arch::kI386 ? "x86" : arch_info(arch).name;
}

std::string test_text(const Rule& test) {
  const std::span fields(test.fields);
  const auto field =
      std::ranges::find_if(fields, [](const Matcher& m) { return m.op != Matcher::Op::kAny; });
  const bool masked = field->op == Matcher::Op::kMaskedEq;
  return fmt::format(" {} {} {:#x} {:#x}", field - fields.begin(), operator_text(field->op),
                     masked ? field->mask : field->value, masked ? field->value : 0);
}

}  // namespace

void LibraryRequest::add(std::uint32_t action, const std::string& name, const Rule& conditions) {
  // libseccomp knows no other names, and a blank or a line break would change the text.
  if (!is_symbol_name(name)) return;
  switch (conditions.kind) {
    case Rule::Kind::kAnyOf:
      for (const Rule& test : conditions.children) calls.push_back({action, name, {test}});
      break;
    case Rule::Kind::kAllOf:
      calls.push_back({action, name, conditions.children});
      break;
    case Rule::Kind::kArgs:
      calls.push_back({action, name, {conditions}});
      break;
    case Rule::Kind::kMatchAll:
      calls.push_back({action, name, {}});
      break;
  }
}

std::string to_text(const LibraryRequest& request) {
  std::string out = fmt::format("default {:#010x}\n", request.default_action);
  for (const Arch arch : request.arches) out += fmt::format("arch {}\n", library_arch(arch));
  for (const LibraryRequest::Call& call : request.calls) {
    out += fmt::format("rule {:#010x} {}", call.action, call.name);
    for (const Rule& test : call.tests) out += test_text(test);
    out += '\n';
  }
  return out;
}

}  // namespace secequiv
