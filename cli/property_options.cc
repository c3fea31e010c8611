#include "cli/property_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "analyze/load.h"
#include "cli/output.h"
#include "harness/base/file.h"
#include "harness/seccomp/property_library.h"

namespace secequiv::cli {
namespace {

constexpr const char* kOption = "--property";

Result<Property> read_property(const std::string& wanted, const Options& options) {
  const Arch host = options.oci().arch;
  std::error_code error;
  const bool is_file = wanted == "-" || (find_library_property(wanted) == nullptr &&
                                         std::filesystem::exists(wanted, error));
  if (!is_file) {
    auto out = named_property(wanted, kOption, host);
    if (!out && out.error().code == ErrorCode::kUsage)
      out.error().detail += "; there is no file with this name";
    return out;
  }
  ASSIGN_OR_RETURN(auto text, read_input(wanted, warn));
  auto out = parse_property(text, shown_name(wanted), host);
  if (out && wanted != "-") out->file = wanted;
  return out;
}

}  // namespace

void PropertyOptions::add(Command& command) {
  command
      .add_option(kOption, wanted,
                  "Prove that 'before' alone has this property (NAME, FILE or TEXT); repeatable")
      ->one_at_a_time();
  command.add_flag("--list-properties", list, "List the properties that --property knows by name");
}

Result<std::vector<Property>> PropertyOptions::load(const Options& options) const {
  std::vector<Property> out;
  for (const std::string& each : wanted) {
    ASSIGN_OR_RETURN(auto property, read_property(each, options));
    out.push_back(std::move(property));
  }
  return out;
}

std::string library_text() {
  std::size_t width = 0;
  for (const LibraryProperty& each : property_library()) width = std::max(width, each.name.size());
  std::string out;
  for (const LibraryProperty& each : property_library())
    out += fmt::format("{:<{}}  {}\n", each.name, width, each.summary);
  return out;
}

}  // namespace secequiv::cli
