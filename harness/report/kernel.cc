#include "harness/report/kernel.h"

#include <fmt/format.h>

#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using kernel::AskedSide;
using kernel::Entry;
using kernel::KernelReport;

const char* entry_name(const std::optional<Entry>& entry) {
  if (!entry) return "any";
  return *entry == Entry::kX86_64 ? "x86_64" : "i386";
}

std::string side_text(const AskedSide& side) {
  std::string out = fmt::format("{}: {} instructions, accepted; {} inputs in {:.3f} s", side.name,
                                side.instructions, side.asked, side.seconds);
  if (side.skipped > 0) out += fmt::format("; {} calls that no filter sees left out", side.skipped);
  if (!side.disagreement) return out + ": as the model says\n";
  return out + fmt::format(
                   "\n  the model is wrong: {:#010x} for {}, and the kernel says {:#010x}; please "
                   "report this\n",
                   side.disagreement->before, describe(side.disagreement->data),
                   side.disagreement->after);
}

std::string reason(const KernelReport& report) {
  for (const AskedSide& side : report.sides)
    if (side.disagreement) return "the kernel and the model differ";
  if (report.witness) return "the kernel's answers differ";
  return report.sides.size() == 2 ? "the kernel's answers are the same; nothing is proven"
                                  : "the kernel and the model agree; nothing is proven";
}

}  // namespace

std::string kernel_text(const KernelReport& report, const Question& question) {
  std::string out =
      fmt::format("Linux {}, calls: {}\n", report.release,
                  report.entry ? entry_name(report.entry)
                               : "any number, architecture, instruction pointer and arguments");
  for (const AskedSide& side : report.sides) out += side_text(side);
  if (report.witness) out += witness_text(question, *report.witness);
  return out + fmt::format("verdict   {}: {}\n", verdict_name(report.verdict), reason(report));
}

nlohmann::ordered_json to_json(const KernelReport& report) {
  nlohmann::ordered_json out{
      {"schema", "secequiv.kernel/1"},     {"verdict", verdict_name(report.verdict)},
      {"reason", reason(report)},          {"release", report.release},
      {"entry", entry_name(report.entry)}, {"sides", nlohmann::ordered_json::array()}};
  for (const AskedSide& side : report.sides) {
    nlohmann::ordered_json row{{"name", side.name},
                               {"instructions", side.instructions},
                               {"inputs", side.asked},
                               {"skipped", side.skipped},
                               {"seconds", side.seconds}};
    if (side.disagreement)
      row["disagreement"] = {{"data", to_json(side.disagreement->data)},
                             {"model", value_json(side.disagreement->before)},
                             {"kernel", value_json(side.disagreement->after)}};
    out["sides"].push_back(std::move(row));
  }
  if (report.witness) out["witness"] = to_json(*report.witness);
  return out;
}

}  // namespace secequiv
