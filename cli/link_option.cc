#include "cli/link_option.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyze/load.h"
#include "harness/base/file.h"
#include "harness/report/json.h"
#include "harness/report/link.h"

namespace secequiv::cli {
namespace {

// Returns the address of the page without a fragment, which the page itself writes into the address
// that users copy.
Result<std::string> page_address(const std::string& base) {
  const auto has = [&](std::string_view scheme) { return base.starts_with(scheme); };
  const bool printable = std::ranges::all_of(base, [](char c) { return c > ' ' && c < 0x7f; });
  if (!printable || !(has("http://") || has("https://") || has("file://")))
    return make_error(ErrorCode::kUsage, "--link",
                      fmt::format("expected the address of the page, such as "
                                  "http://127.0.0.1:8000/, found '{}'",
                                  base));
  return base.substr(0, base.find('#'));
}

// Returns the text of the filter's file; an empty text if the filter has none, or if the page,
// whose only option for reading is the host's architecture, would read another program from it.
Result<std::string> text_of(const Source& source, Arch host) {
  if (!source.symbols.empty())
    return make_error(
        ErrorCode::kUsage, "--link",
        fmt::format("{} has names without a value, which the page cannot read; set them with "
                    "--set NAME=NUMBER",
                    source.name));
  if (source.file.raw || !can_be_read_again(source.file.path)) return std::string();
  ASSIGN_OR_RETURN(auto bytes, read_file(source.file.path));
  Reading alone;
  alone.import.oci.arch = host;
  const auto again = read_source(bytes, source.name, {}, alone);
  return again && again->program == source.program ? std::move(bytes) : std::string();
}

}  // namespace

void LinkOption::add(Command& command) {
  command
      .add_option("--link", base,
                  "Also report a link that opens the pair in the page at this address")
      ->type_name("BASE");
}

Result<std::string> LinkOption::link(std::span<const Source> before, std::span<const Source> after,
                                     const Options& options, std::string_view assume,
                                     bool refines) const {
  if (base.empty()) return std::string();
  if (options.json && options.html.empty())
    return make_error(ErrorCode::kUsage, "--link", "a JSON report has no place for the link");
  ASSIGN_OR_RETURN(const auto address, page_address(base));
  if (before.size() != 1 || after.size() != 1)
    return make_error(ErrorCode::kUsage, "--link", "expected two filters, found a stack");
  const Arch host = options.oci().arch;
  ASSIGN_OR_RETURN(const auto one, text_of(before.front(), host));
  ASSIGN_OR_RETURN(const auto other, text_of(after.front(), host));
  return link_to(address, {.before = {one, before.front().program},
                           .after = {other, after.front().program},
                           .same = sameness_name(options.sameness()),
                           .refines = refines,
                           .assume = assume,
                           .arch = arch_info(host).name});
}

std::string link_line(const std::string& link) {
  return link.empty() ? std::string() : "link: " + link + "\n";
}

}  // namespace secequiv::cli
