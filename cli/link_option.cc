#include "cli/link_option.h"

#include "analyze/load.h"
#include "harness/base/file.h"
#include "harness/report/link.h"

namespace secequiv::cli {
namespace {

// Returns the text of the filter's file; an empty text if the filter has none, or if the page,
// which knows only the host's architecture, would read another program from it.
Result<std::string> text_of(const Source& source, Arch host) {
  if (source.file.raw || !can_be_read_again(source.file.path)) return std::string();
  auto bytes = read_file(source.file.path);
  if (!bytes) return bytes;
  Reading alone;
  alone.import.oci.arch = host;
  alone.names = [](const SymbolicProgram&, const std::string&) -> Status { return Ok{}; };
  alone.unknown = [](const UnknownName&) -> Status { return Ok{}; };
  alone.note = alone.warning = alone.prompt = [](const std::string&) {};
  const auto again = read_source(*bytes, source.name, {}, alone);
  return again && again->program == source.program ? std::move(*bytes) : std::string();
}

}  // namespace

void LinkOption::add(CLI::App& app) {
  app.add_option("--link", base,
                 "Also print a link that opens the pair in the page at this address")
      ->type_name("BASE")
      ->excludes(app.get_option("--json"));
}

Result<std::string> LinkOption::link(std::span<const Source> before, std::span<const Source> after,
                                     const Options& options, std::string_view assume,
                                     bool refines) const {
  if (base.empty()) return std::string();
  if (before.size() != 1 || after.size() != 1)
    return make_error(ErrorCode::kUsage, "--link", "expected two filters, found a stack");
  const Arch host = options.oci().arch;
  const auto one = text_of(before.front(), host);
  if (!one) return one;
  const auto other = text_of(after.front(), host);
  if (!other) return other;
  return link_to(base, {.before = {*one, before.front().program},
                        .after = {*other, after.front().program},
                        .same = sameness_name(options.sameness()),
                        .refines = refines,
                        .assume = assume,
                        .arch = arch_info(host).name});
}

std::string link_line(const std::string& link) {
  return link.empty() ? std::string() : "link: " + link + "\n";
}

}  // namespace secequiv::cli
