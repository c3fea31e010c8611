#include "cli/report_files.h"

#include <algorithm>
#include <filesystem>
#include <string>

#include "analyze/own_files.h"
#include "cli/description.h"
#include "harness/base/file.h"
#include "harness/base/paths.h"
#include "harness/report/formats.h"

namespace secequiv::cli {

namespace fs = std::filesystem;

void drop_old_reports(std::span<char* const> arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string text = arguments[i];
    const std::size_t equals = text.find('=');
    const std::string name = text.substr(0, equals);
    std::string path;
    if (equals != std::string::npos)
      path = text.substr(equals + 1);
    else if (i + 1 < arguments.size())
      path = arguments[i + 1];
    std::error_code error;
    if (name == "--certificate")
      for (const fs::path& old : certificate_files(path, true)) fs::remove(old, error);
    const bool report =
        name == "--html" || std::ranges::any_of(report_formats(), [&](const auto& form) {
          return name == std::string("--") + form.name;
        });
    if (!report || !fs::is_regular_file(path, error) || !is_report(path)) continue;
    // Removes the target of a link, not the link.
    fs::remove(fs::weakly_canonical(path, error), error);
  }
}

Status write_report_files(const ReportedCases& found, const Options& options) {
  if (!options.wants_reports()) return Ok{};
  const ReportedCases shown = with_existing_files(found);
  for (const ReportFormat& format : report_formats()) {
    const auto given = options.reports.find(format.name);
    if (given == options.reports.end() || given->second.empty()) continue;
    const auto is_it = [&](const std::string& path) { return same_file(given->second, path); };
    if (std::ranges::any_of(*options.included, is_it)) continue;
    RETURN_IF_ERROR(write_file(given->second, format.render(shown, SECEQUIV_VERSION)));
  }
  return Ok{};
}

Status write_html(Page page, const Options& options) {
  page.command = options.command_name();
  page.options = options_of(*options.declared_by);
  for (const Options::Note& note : *options.notes) add_note(note.text, note.warning, page);
  return write_file(options.html, html(page));
}

}  // namespace secequiv::cli
