#include "harness/coverage/state.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/bpf/text.h"

namespace secequiv {
namespace {

constexpr std::string_view kMagic = "secequiv coverage 1\n";
constexpr std::size_t kRecord = sizeof(SeccompData);

std::string header(const CoverageMap& coverage) {
  return fmt::format("{}program {:016x} {}\n", kMagic,
                     hash_of(write_program(coverage.program(), Form::kRaw)),
                     coverage.program().size());
}

constexpr Obligation::Kind kKinds[] = {Obligation::Kind::kLine, Obligation::Kind::kTrue,
                                       Obligation::Kind::kFalse};

}  // namespace

std::string write_coverage(const CoverageMap& coverage) {
  std::string out = header(coverage);
  for (std::size_t pc = 0; pc < coverage.program().size(); ++pc) {
    for (const auto kind : kKinds) out += coverage.covered({pc, kind}) ? '1' : '0';
    out += '\n';
  }
  return out;
}

Status read_coverage(std::string_view text, const std::string& name, CoverageMap& coverage) {
  if (!text.starts_with(kMagic))
    return make_error(ErrorCode::kParse, name + ":1",
                      "expected a coverage file ('secequiv coverage 1')");
  const std::string expected = header(coverage);
  if (!text.starts_with(expected))
    return make_error(ErrorCode::kUsage, name + ":2",
                      "this file has the coverage of a different program");
  text.remove_prefix(expected.size());
  const std::size_t count = coverage.program().size();
  if (text.size() != count * 4)
    return make_error(ErrorCode::kParse, name, fmt::format("expected {} lines of marks", count));
  for (std::size_t pc = 0; pc < count; ++pc)
    for (std::size_t i = 0; i < 4; ++i)
      if (const char c = text[pc * 4 + i]; i < 3 ? c != '0' && c != '1' : c != '\n')
        return make_error(ErrorCode::kParse, fmt::format("{}:{}", name, pc + 3),
                          "expected three marks of 0 or 1");
  for (std::size_t pc = 0; pc < count; ++pc)
    for (std::size_t i = 0; i < 3; ++i)
      if (text[pc * 4 + i] == '1') coverage.mark({pc, kKinds[i]});
  return Ok{};
}

Result<std::vector<SeccompData>> read_inputs(std::string_view bytes, const std::string& name) {
  if (bytes.size() % kRecord != 0)
    return make_error(
        ErrorCode::kParse,
        fmt::format("{}: offset {}", name, bytes.size() - bytes.size() % kRecord),
        fmt::format("expected 64 bytes (struct seccomp_data), found {}", bytes.size() % kRecord));
  return inputs_from(bytes);
}

}  // namespace secequiv
