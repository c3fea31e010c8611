#include "api/c/options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/import/capabilities.h"
#include "harness/seccomp/arch.h"

namespace secequiv::api {
namespace {

// The structure had this size in the first version of the interface.
constexpr std::size_t kLeastSize =
    offsetof(secequiv_options, capabilities) + sizeof(secequiv_options::capabilities);
// A larger size is a mistake, not a newer header.
constexpr std::size_t kMostSize = 4096;

Error usage(const char* member, std::string detail) {
  return make_error(ErrorCode::kUsage, member, std::move(detail));
}

// Converts to the structure of this library version. Fields that the caller's structure lacks
// become 0. Additional fields of the caller's structure must be 0.
Result<secequiv_options> sized(const secequiv_options* given) {
  secequiv_options out{};
  if (given == nullptr) return out;
  std::size_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < kLeastSize || size > kMostSize)
    return usage("options.size",
                 fmt::format("expected sizeof(struct secequiv_options), which is {}, found {}",
                             sizeof out, size));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t i = sizeof out; i < size; ++i)
    if (bytes[i] != 0)
      return usage(
          "options",
          fmt::format("expected 0 in byte {}, which this version of the library does not know, "
                      "found {}",
                      i, bytes[i]));
  std::memcpy(&out, given, std::min(size, sizeof out));
  return out;
}

Status at_most(const char* member, std::uint64_t value, std::uint64_t most) {
  if (value <= most) return Ok{};
  return usage(member, fmt::format("expected 0 to {}, found {}", most, value));
}

std::string_view text_of(const char* text) { return text == nullptr ? "" : text; }

Status read_profile(const secequiv_options& from, OciOptions& to) {
  if (const std::string_view arch = text_of(from.arch); !arch.empty()) {
    const auto known = arch_from_name(arch);
    if (!known)
      return usage("options.arch",
                   fmt::format("expected an architecture's name, found '{}'", arch));
    to.arch = *known;
  }
  if (const std::string_view kernel = text_of(from.kernel); !kernel.empty()) {
    if (auto problem = kernel_version_problem(kernel); !problem.empty())
      return usage("options.kernel", std::move(problem));
    to.kernel = kernel;
  }
  std::string_view rest = text_of(from.capabilities);
  std::vector<std::string> names;
  while (!rest.empty()) {
    names.push_back(capability_name(take_part(rest, ',')));
    if (auto problem = capability_problem(names.back()); !problem.empty())
      return usage("options.capabilities", std::move(problem));
  }
  to.capabilities = granted_capabilities(names);
  return Ok{};
}

Status read_format(const secequiv_options& from, std::optional<PolicyFormat>& to) {
  const std::string_view name = text_of(from.policy_format);
  if (name.empty()) return Ok{};
  to = policy_format_from_name(name);
  const std::vector<std::string> known = policy_format_names();
  if (!to)
    return usage("options.policy_format",
                 fmt::format("expected one of {}, found '{}'{}", fmt::join(known, ", "), name,
                             did_you_mean(similar_names(name, known))));
  if (!text_of(from.form).empty())
    return usage("options.policy_format",
                 "expected no options.form, which applies only to programs");
  return Ok{};
}

Status in_range(const secequiv_options& from) {
  RETURN_IF_ERROR(at_most("options.same", from.same, SECEQUIV_SAME_EFFECT));
  RETURN_IF_ERROR(at_most("options.refines", from.refines, 1));
  RETURN_IF_ERROR(at_most("options.engine", from.engine, SECEQUIV_ENGINE_SAT));
  RETURN_IF_ERROR(at_most("options.any_length", from.any_length, 1));
  RETURN_IF_ERROR(at_most("options.max_memory_mib", from.max_memory_mib, 1 << 20));
  RETURN_IF_ERROR(at_most("options.max_regions", from.max_regions, 1'000'000));
  if (!std::isfinite(from.timeout_seconds) || from.timeout_seconds < 0)
    return usage("options.timeout_seconds",
                 fmt::format("expected a number of seconds, or 0 for the default of 60, found {}",
                             from.timeout_seconds));
  return Ok{};
}

}  // namespace

Result<Options> read_options(const secequiv_options* given) {
  ASSIGN_OR_RETURN(const auto read, sized(given));
  const secequiv_options& from = read;
  RETURN_IF_ERROR(in_range(from));
  Options out;
  out.sameness = from.same == SECEQUIV_SAME_RAW         ? Sameness::kRaw
                 : from.same == SECEQUIV_SAME_BEHAVIOUR ? Sameness::kBehaviour
                                                        : Sameness::kEffect;
  out.refines = from.refines != 0;
  out.engine = from.engine == SECEQUIV_ENGINE_DD    ? Engine::kDd
               : from.engine == SECEQUIV_ENGINE_Z3  ? Engine::kZ3
               : from.engine == SECEQUIV_ENGINE_SAT ? Engine::kSat
                                                    : Engine::kBoth;
  out.any_length = from.any_length != 0;
  if (from.timeout_seconds != 0) out.seconds = from.timeout_seconds;
  if (from.max_memory_mib != 0) out.mib = from.max_memory_mib;
  if (from.max_regions != 0) out.regions = from.max_regions;
  out.assume = text_of(from.assume);
  if (const std::string_view form = text_of(from.form); !form.empty()) {
    out.form = form_from_name(form);
    if (!out.form)
      return usage("options.form",
                   fmt::format("expected raw, raw-be, asm, ddd or c, found '{}'", form));
  }
  RETURN_IF_ERROR(read_profile(from, out.oci));
  out.filter = text_of(from.filter);
  RETURN_IF_ERROR(read_format(from, out.policy_format));
  return out;
}

}  // namespace secequiv::api
