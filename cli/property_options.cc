#include "cli/property_options.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <ranges>

#include "analyze/load.h"
#include "cli/output.h"
#include "harness/base/file.h"
#include "harness/base/text.h"
#include "harness/seccomp/property_library.h"

namespace secequiv::cli {
namespace {

constexpr const char* kOption = "--property";

Error unknown_property(const std::string& wanted) {
  const auto names = property_library() | std::views::transform(&LibraryProperty::name);
  return make_error(
      ErrorCode::kUsage, kOption,
      fmt::format("expected a property's name ({}), a file, or clauses such as 'refused: ptrace', "
                  "found '{}'{}",
                  fmt::join(names, ", "), wanted, did_you_mean(similar_names(wanted, names))));
}

Result<Property> read_property(const std::string& wanted, const Options& options) {
  const Arch host = options.oci().arch;
  if (const LibraryProperty* known = find_library_property(wanted))
    return parse_property(known->text, std::string(known->name), host);
  std::error_code error;
  const bool is_file = wanted == "-" || std::filesystem::exists(wanted, error);
  if (!is_file && wanted.find(':') == std::string::npos) return unknown_property(wanted);
  if (!is_file) {
    auto out = parse_property(wanted, kOption, host);
    if (out) out->name.clear();  // each clause is the only one of its text
    return out;
  }
  auto text = read_input(wanted, warn);
  if (!text) return text.error();
  auto out = parse_property(*text, shown_name(wanted), host);
  if (out && wanted != "-") out->file = wanted;
  return out;
}

}  // namespace

void PropertyOptions::add(CLI::App& app, CLI::Option& before, CLI::Option& after) {
  app.add_option(kOption, wanted,
                 "Prove that one filter has this property (NAME, FILE or TEXT); repeatable")
      ->allow_extra_args(false)
      ->each([&after](const std::string&) { after.required(false); });
  app.add_flag("--list-properties", list, "List the properties that --property knows by name")
      ->each([&before, &after](const std::string&) {
        before.required(false);
        after.required(false);
      });
}

Result<std::vector<Property>> PropertyOptions::load(const Options& options) const {
  std::vector<Property> out;
  for (const std::string& each : wanted) {
    auto property = read_property(each, options);
    if (!property) return property.error();
    out.push_back(std::move(*property));
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
