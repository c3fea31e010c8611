#include "harness/report/svg.h"

#include <fmt/format.h>

#include "harness/base/text.h"

namespace secequiv {
namespace {

// Names may come from untrusted files. XML forbids most control characters, even in escaped form.
std::string safe(std::string_view text) { return escaped(printable(text, false)); }

}  // namespace

std::string svg_file(double height, std::string_view title, std::string_view body) {
  return fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" role="img" font-family="system-ui, sans-serif" font-size="13">
<title>{2}</title>
<style>:root {{ color-scheme: light dark }} text {{ fill: #222 }} .paper {{ fill: #fff }} .base {{ fill: #9aa4b2 }} .filter {{ fill: #3b72c4 }} .faint {{ fill-opacity: 0.4 }} .error {{ stroke: #222 }}
@media (prefers-color-scheme: dark) {{ text {{ fill: #ddd }} .paper {{ fill: #16181c }} .error {{ stroke: #ddd }} }}</style>
<rect class="paper" width="100%" height="100%"/>
{3}</svg>
)",
      kSvgWidth, height, safe(title), body);
}

std::string svg_text(double x, double y, std::string_view text, std::string_view anchor) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y, anchor,
                     safe(text));
}

}  // namespace secequiv
