#include "analyze/provenance.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <ctime>

#include "harness/base/file.h"
#include "harness/base/shell.h"
#include "harness/bpf/text.h"
#include "verify/certificate/sha256.h"

namespace secequiv {
namespace {

std::string command_line() {
  const auto words = read_file("/proc/self/cmdline");
  if (!words) return "unknown";
  std::string out;
  for (std::size_t at = 0; at < words->size(); at = words->find('\0', at) + 1) {
    if (at != 0) out += ' ';
    out += shell_quoted(words->c_str() + at);
  }
  return out;
}

}  // namespace

std::vector<PageFact> provenance(const std::vector<std::pair<std::string, const Source*>>& sides,
                                 const std::string& version) {
  std::vector<PageFact> out{
      {"Command line", command_line()},
      {"Version", version},
      {"Date", fmt::format("{:%Y-%m-%d %H:%M} UTC", fmt::gmtime(std::time(nullptr)))}};
  for (const auto& [role, source] : sides) {
    if (const std::string& path = source->file.path; can_be_read_again(path))
      if (const auto bytes = read_file(path))
        out.push_back({fmt::format("SHA-256 of {}", path), sha256(*bytes)});
    out.push_back({fmt::format("SHA-256 of the {} program", role),
                   sha256(write_program(source->program, Form::kRaw))});
  }
  return out;
}

}  // namespace secequiv
