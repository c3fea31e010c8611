#include "adapters/libseccomp/filter.h"

#include <seccomp.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <optional>
#include <utility>

namespace adapter {
namespace {

struct Release {
  void operator()(void* filter) const { seccomp_release(filter); }
};
using Filter = std::unique_ptr<void, Release>;

Answer no(int status, std::string_view what) {
  return unsupported(std::string(what) + ": " + std::strerror(-status));
}

constexpr scmp_compare compare(Compare op) {
  switch (op) {
    case Compare::kNe:
      return SCMP_CMP_NE;
    case Compare::kLt:
      return SCMP_CMP_LT;
    case Compare::kLe:
      return SCMP_CMP_LE;
    case Compare::kEq:
      return SCMP_CMP_EQ;
    case Compare::kGe:
      return SCMP_CMP_GE;
    case Compare::kGt:
      return SCMP_CMP_GT;
    case Compare::kMaskedEq:
      break;
  }
  return SCMP_CMP_MASKED_EQ;
}

// libseccomp expects native numbers. It translates them to other architectures by their names.
std::optional<int> native_number(std::uint32_t arch, const FilterRule& rule) {
  constexpr std::uint32_t kX32Bit = 0x40000000;  // first number of x32; pseudo numbers are larger
  const int nr = static_cast<int>(rule.nr);
  if (arch == seccomp_arch_native()) return rule.nr < kX32Bit ? std::optional(nr) : std::nullopt;
  const std::unique_ptr<char, decltype(&std::free)> name(seccomp_syscall_resolve_num_arch(arch, nr),
                                                         &std::free);
  if (name == nullptr || seccomp_syscall_resolve_name_arch(arch, name.get()) != nr)
    return std::nullopt;
  const int number = seccomp_syscall_resolve_name(name.get());
  return number == __NR_SCMP_ERROR ? std::nullopt : std::optional(number);
}

std::optional<Answer> add_rule(scmp_filter_ctx filter, std::uint32_t arch, const FilterRule& rule) {
  const auto number = native_number(arch, rule);
  if (!number) return unsupported("libseccomp has no number for call " + std::to_string(rule.nr));
  std::vector<scmp_arg_cmp> conditions;
  conditions.reserve(rule.conditions.size());
  for (const Condition& c : rule.conditions)
    conditions.push_back({.arg = c.argument, .op = compare(c.op), .datum_a = c.a, .datum_b = c.b});
  // The "exact" variant adds only this rule. The other variant also adds rules for calls that
  // multiplex this one.
  const int status = seccomp_rule_add_exact_array(
      filter, rule.action, *number, static_cast<unsigned>(conditions.size()), conditions.data());
  if (status == 0 || status == -EEXIST) return std::nullopt;
  return no(status, "seccomp_rule_add_exact_array");
}

std::optional<Answer> fill(scmp_filter_ctx filter, const FilterSpec& spec, const FilterArch& arch) {
  const std::uint32_t token = seccomp_arch_resolve_name(arch.name.c_str());
  if (token == 0) return unsupported("libseccomp does not know the architecture " + arch.name);
  int status = seccomp_attr_set(filter, SCMP_FLTATR_CTL_OPTIMIZE, spec.tree ? 2 : 1);
  if (status != 0) return no(status, "SCMP_FLTATR_CTL_OPTIMIZE");
  status = seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, spec.bad_arch_action);
  if (status != 0) return no(status, "SCMP_FLTATR_ACT_BADARCH");
  if (token != seccomp_arch_native()) {
    // In this order, because both architectures may differ in byte order.
    status = seccomp_arch_remove(filter, SCMP_ARCH_NATIVE);
    if (status == 0) status = seccomp_arch_add(filter, token);
    if (status != 0) return no(status, "seccomp_arch_add");
  }
  for (const FilterRule& rule : arch.rules)
    if (auto failure = add_rule(filter, token, rule)) return failure;
  return std::nullopt;
}

// Reverses the bytes of each member of `struct sock_filter` that has several: code and k.
void swap_bytes(std::string& program) {
  for (auto insn = program.begin(); program.end() - insn >= 8; insn += 8) {
    std::reverse(insn, insn + 2);
    std::reverse(insn + 4, insn + 8);
  }
}

Answer exported(scmp_filter_ctx filter) {
  const int file = memfd_create("filter", MFD_CLOEXEC);
  if (file < 0) return no(-errno, "memfd_create");
  Answer out;
  if (const int status = seccomp_export_bpf(filter, file); status != 0) {
    out = no(status, "seccomp_export_bpf");
  } else {
    char piece[4096];
    lseek(file, 0, SEEK_SET);
    for (ssize_t n = 0; (n = read(file, piece, sizeof piece)) > 0;)
      out.body.append(piece, static_cast<std::size_t>(n));
  }
  close(file);
  return out;
}

}  // namespace

Answer compile(const FilterSpec& spec) {
  // Uses everything that libseccomp supports, whatever the running kernel supports.
  if (const int status = seccomp_api_set(6); status != 0) return no(status, "seccomp_api_set");
  Filter whole;
  for (const FilterArch& arch : spec.arches) {
    Filter one(seccomp_init(spec.default_action));
    if (one == nullptr) return unsupported("seccomp_init does not know this default action");
    if (auto failure = fill(one.get(), spec, arch)) return *failure;
    if (whole == nullptr) {
      whole = std::move(one);
      continue;
    }
    if (const int status = seccomp_merge(whole.get(), one.get()); status != 0)
      return no(status, "seccomp_merge");
    [[maybe_unused]] const void* merged = one.release();  // the merged filter owns it now
  }
  Answer out = exported(whole.get());
  // libseccomp writes a filter in the byte order of the machine that it is for.
  if (spec.big_endian) swap_bytes(out.body);
  return out;
}

}  // namespace adapter
