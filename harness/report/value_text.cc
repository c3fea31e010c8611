#include "harness/report/value_text.h"

#include <fmt/format.h>

#include "harness/seccomp/argument_names.h"

namespace secequiv {

std::string hex_text(std::uint64_t value) { return fmt::format("{:#x}", value); }

std::string ArgumentValues::operator()(std::uint64_t value) const {
  const std::string name = call ? argument_name(call->arch, call->nr, argument, value) : "";
  return name.empty() ? hex_text(value) : name;
}

std::string ArgumentValues::flags(std::uint64_t bits) const {
  const std::string name = call ? argument_flags(call->arch, call->nr, argument, bits) : "";
  if (name.empty()) return hex_text(bits);
  return name.find('|') != std::string::npos ? "(" + name + ")" : name;
}

std::string mask_text(const std::string& field, std::uint64_t mask, bool negated,
                      std::uint64_t value, const ArgumentValues& names) {
  const std::string bits = names.flags(mask);
  const bool named = bits != hex_text(mask) && value != 0;
  return fmt::format("{} & {} {} {}", field, bits,
                     negated ? "!=" : "==", named ? names.flags(value) : hex_text(value));
}

}  // namespace secequiv
