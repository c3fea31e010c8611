// Draws a cost report: a histogram of its system calls by executed instructions.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/report/cost.h"
#include "harness/report/svg.h"

namespace secequiv {
namespace {

constexpr double kLeft = 44;
constexpr double kPlotHeight = 220;
constexpr double kLineHeight = 20;
constexpr std::size_t kMostBins = 36;
constexpr std::size_t kLabels = 12;         // limit for the labels below the axis
constexpr std::size_t kLegendColumns = 95;  // characters that fit in a line

// The calls whose mean, rounded down, lies in one bin.
struct Bin {
  std::size_t run = 0;
  std::size_t cached = 0;
  [[nodiscard]] std::size_t all() const { return run + cached; }
};

// Returns the smallest width among 1, 2, 5, 10, 20, ... that divides 0 to `most` into at most
// kMostBins bins.
std::size_t bin_width(std::size_t most) {
  for (std::size_t ten = 1;; ten *= 10)
    for (const std::size_t digit : {1u, 2u, 5u})
      if (most / (ten * digit) < kMostBins) return ten * digit;
}

// Breaks `text` into lines that fit the width, at blanks if possible.
std::vector<std::string> broken(std::string_view text) {
  const std::string whole = printable(text, false);
  std::string_view rest = whole;
  std::vector<std::string> out;
  while (rest.size() > kLegendColumns) {
    std::size_t end = rest.rfind(' ', kLegendColumns);
    if (end == rest.npos || end == 0)
      for (end = kLegendColumns; (static_cast<unsigned char>(rest[end]) & 0xc0) == 0x80;) --end;
    out.emplace_back(rest.substr(0, end));
    rest.remove_prefix(rest[end] == ' ' ? end + 1 : end);
  }
  out.emplace_back(rest);
  return out;
}

// Joins the parts in one line if they fit the width. Otherwise each part gets lines of its own.
std::vector<std::string> in_lines(std::string_view first, std::string_view second) {
  const std::string both = fmt::format("{}; {}", first, second);
  if (printable(both, false).size() <= kLegendColumns) return broken(both);
  std::vector<std::string> out = broken(first);
  for (std::string& line : broken(second)) out.push_back(std::move(line));
  return out;
}

// Returns the name, the program's length, and how many instructions its calls execute.
std::vector<std::string> legend_of(const CostReport::Side& side) {
  const std::string made = side.filters.size() == 1 && !side.filters.front().compilation.empty()
                               ? side.filters.front().compilation + ": "
                               : "";
  std::vector<std::string> out = broken(side.name);
  for (std::string& line :
       in_lines(made + counted(side.instructions(), "instruction"),
                fmt::format("without the cache, a call executes {:.2f} on average, {}{} in the "
                            "worst case",
                            weighted_mean_uncached(side.calls), side.worst.instructions,
                            side.worst_exact ? "" : " or more")))
    out.push_back(std::move(line));
  return out;
}

class Histogram {
 public:
  explicit Histogram(const CostReport& report) {
    std::size_t most = 0;
    for (const CostReport::Side& side : report.sides)
      for (const CallCost& call : side.calls) most = std::max(most, whole(call));
    width_ = bin_width(most);
    bins_.resize(report.sides.size(), std::vector<Bin>(most / width_ + 1));
    for (std::size_t s = 0; s < report.sides.size(); ++s)
      for (const CallCost& call : report.sides[s].calls) {
        Bin& bin = bins_[s][whole(call) / width_];
        ++(call.cached ? bin.cached : bin.run);
        highest_ = std::max(highest_, bin.all());
      }
    for (const CostReport::Side& side : report.sides) legends_.push_back(legend_of(side));
    const bool exact = std::ranges::all_of(report.sides, &CostReport::Side::calls_exact);
    legends_.push_back(
        in_lines(fmt::format("{}, each shown at its mean{}",
                             counted(report.sides.front().calls.size(), "system call"),
                             exact ? "" : " (of derived inputs if a limit was reached)"),
                 "pale: the kernel answers from its cache"));
  }

  [[nodiscard]] std::string svg() const {
    std::size_t lines = 0;
    for (const auto& legend : legends_) lines += legend.size();
    const double top = kLineHeight * static_cast<double>(lines) + 12;
    const double bottom = top + kPlotHeight;
    std::string out = legend() + svg_text(kLeft - 6, top + 10, fmt::format("{}", highest_), "end") +
                      svg_text(kLeft - 6, bottom, "0", "end");
    for (std::size_t s = 0; s < bins_.size(); ++s)
      for (std::size_t b = 0; b < bins_[s].size(); ++b) out += bar(s, b, bottom);
    out += fmt::format(
        "<line class=\"error\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>\n",
        kLeft, kSvgWidth - 10, bottom);
    return svg_file(bottom + 46, "System calls by executed instructions", out + axis(bottom));
  }

 private:
  static std::size_t whole(const CallCost& call) { return static_cast<std::size_t>(call.mean); }
  static const char* colour(std::size_t side) { return side == 0 ? "base" : "filter"; }

  [[nodiscard]] double slot() const {
    return (kSvgWidth - kLeft - 10) / static_cast<double>(bins_.front().size());
  }

  [[nodiscard]] std::string legend() const {
    std::string out;
    double y = kLineHeight;
    for (std::size_t s = 0; s < legends_.size(); ++s) {
      const bool of_side = s < bins_.size();
      if (of_side)
        out +=
            fmt::format("<rect class=\"{}\" x=\"10\" y=\"{:.1f}\" width=\"12\" height=\"12\"/>\n",
                        colour(s), y - 11);
      for (const std::string& line : legends_[s]) {
        out += svg_text(of_side ? 28 : 10, y, line);
        y += kLineHeight;
      }
    }
    return out;
  }

  [[nodiscard]] std::string bar(std::size_t side, std::size_t at, double bottom) const {
    const Bin& bin = bins_[side][at];
    const double width = slot() * 0.8 / static_cast<double>(bins_.size());
    const double x =
        kLeft + slot() * (static_cast<double>(at) + 0.1) + width * static_cast<double>(side);
    const double unit = kPlotHeight / static_cast<double>(std::max<std::size_t>(highest_, 1));
    std::string out;
    double y = bottom;
    for (const auto& [count, faint] : {std::pair(bin.run, ""), std::pair(bin.cached, " faint")}) {
      if (count == 0) continue;
      const double height = static_cast<double>(count) * unit;
      y -= height;
      out += fmt::format(
          "<rect class=\"{}{}\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\">"
          "<title>{}: {}</title></rect>\n",
          colour(side), faint, x, y, width, height, range(at), counted(count, "system call"));
    }
    return out;
  }

  // Returns the range of a bin, such as "4" or "20 to 29".
  [[nodiscard]] std::string range(std::size_t at) const {
    return width_ == 1 ? fmt::format("{}", at)
                       : fmt::format("{} to {}", at * width_, (at + 1) * width_ - 1);
  }

  [[nodiscard]] std::string axis(double bottom) const {
    const std::size_t bins = bins_.front().size();
    const std::size_t every = (bins + kLabels - 1) / kLabels;
    std::string out;
    for (std::size_t at = 0; at < bins; at += every)
      out +=
          svg_text(kLeft + slot() * (static_cast<double>(at) + (width_ == 1 ? 0.5 : 0.1)),
                   bottom + 16, fmt::format("{}", at * width_), width_ == 1 ? "middle" : "start");
    return out + svg_text(kSvgWidth - 10, bottom + 36, "instructions that a call executes", "end") +
           svg_text(10, bottom + 36, "height: number of system calls");
  }

  std::size_t width_ = 1;  // width of a bin, in instructions
  std::size_t highest_ = 0;
  std::vector<std::vector<Bin>> bins_;             // for each side
  std::vector<std::vector<std::string>> legends_;  // lines for each side, then lines for both
};

}  // namespace

std::string cost_svg(const CostReport& report) { return Histogram(report).svg(); }

}  // namespace secequiv
