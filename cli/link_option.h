// The option --link, which adds a link to the page that opens the pair (harness/report/link.h).
// Owns what the link contains: the text of a file if the page reads the same program from it,
// otherwise the program.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyze/source.h"
#include "cli/options.h"
#include "cli/question.h"

namespace secequiv::cli {

struct LinkOption {
  std::string base;  // the address of the page; empty: no link

  void add(Command& command);
  // Returns the link, or an empty text without --link. Errors: kUsage for a bad address, a stack,
  // names without a value, and JSON without a page; kIo if a text cannot be read again.
  [[nodiscard]] Result<std::string> link(std::span<const Source> before,
                                         std::span<const Source> after, const Options& options,
                                         std::string_view assume, bool refines = false) const;
};

// Returns the report's line with the link, or an empty text without a link.
std::string link_line(const std::string& link);

}  // namespace secequiv::cli
