#include "harness/report/kernel.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/kernel/facts.h"
#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using kernel::AskedSide;
using kernel::KernelReport;
using kernel::SelfCheckReport;

std::string entry_name(const std::optional<kernel::Entry>& entry) {
  return entry ? entry->name : "any";
}

// Returns "Linux 6.18.5", or "Linux 6.1.0 (booted as s390x)".
std::string kernel_name(const std::string& release, const std::string& booted_as) {
  return booted_as.empty() ? "Linux " + release
                           : fmt::format("Linux {} (booted as {})", release, booted_as);
}

// Returns lines about what this kernel lacks.
std::string lacking_text(const std::string& release) {
  std::string out;
  for (const kernel::Fact& fact : kernel::lacking(release))
    out += fmt::format("  before Linux {}.{}, unlike the model: {}\n", fact.major, fact.minor,
                       fact.what);
  return out;
}

nlohmann::ordered_json lacking_json(const std::string& release) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const kernel::Fact& fact : kernel::lacking(release))
    out.push_back({{"since", fmt::format("{}.{}", fact.major, fact.minor)}, {"what", fact.what}});
  return out;
}

// Adds what a report has only for some kernels.
template <class Report>
void add_origin(nlohmann::ordered_json& out, const Report& report) {
  if (!report.booted_as.empty()) out["booted_as"] = report.booted_as;
  if (auto missing = lacking_json(report.release); !missing.empty())
    out["lacking"] = std::move(missing);
}

std::string side_text(const AskedSide& side) {
  std::string out = fmt::format("{}: {}", side.name, counted(side.instructions, "instruction"));
  if (side.refused)
    return out +
           "\n  the model is wrong: it accepts this program, but the kernel refuses it; please "
           "report this\n";
  if (side.asked > 0)
    out += fmt::format(", accepted; {} in {:.3f} s", counted(side.asked, "input"), side.seconds);
  if (side.skipped > 0)
    out +=
        fmt::format("; ignored {} for which Linux runs no filter", counted(side.skipped, "call"));
  if (side.asked == 0) return out + ": no input was run\n";
  if (!side.disagreement) return out + ": the model agrees\n";
  return out + fmt::format(
                   "\n  the model is wrong: it returns {:#010x} for {}, but the kernel returns "
                   "{:#010x}; please report this\n",
                   side.disagreement->before, describe(side.disagreement->data),
                   side.disagreement->after);
}

std::string reason(const KernelReport& report) {
  const bool pair = report.compared;
  for (const AskedSide& side : report.sides)
    if (side.refused) return "the kernel refuses a program that the model accepts";
  for (const AskedSide& side : report.sides)
    if (side.disagreement) return "the kernel and the model differ";
  if (report.witness) return "the kernel's answers differ";
  for (const AskedSide& side : report.sides)
    if (side.asked == 0)
      return report.interrupted ? "the run was interrupted before the first input"
                                : "no input was run";
  if (report.interrupted)
    return pair ? "the run was interrupted; the kernel's answers are the same so far"
                : "the run was interrupted; the kernel and the model agree so far";
  return pair ? "the kernel's answers are the same; nothing is proven"
              : "the kernel and the model agree; nothing is proven";
}

std::string reason(const SelfCheckReport& report) {
  if (report.kernel_accepts) return "the kernel and the model do not accept the same programs";
  if (report.program) return "the kernel and the model return different values";
  if (report.interrupted) return "the run was interrupted; the kernel and the model agree so far";
  return "the kernel and the model agree; nothing is proven";
}

}  // namespace

std::string kernel_text(const KernelReport& report, const Question& question) {
  std::string out =
      fmt::format("{}, calls: {}\n", kernel_name(report.release, report.booted_as),
                  report.entry ? entry_name(report.entry)
                               : "any number, architecture, instruction pointer and arguments") +
      lacking_text(report.release);
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
    if (side.refused) row["refused"] = true;
    if (side.disagreement)
      row["disagreement"] = {{"data", to_json(side.disagreement->data)},
                             {"model", value_json(side.disagreement->before)},
                             {"kernel", value_json(side.disagreement->after)}};
    out["sides"].push_back(std::move(row));
  }
  if (report.witness) out["witness"] = to_json(*report.witness);
  add_origin(out, report);
  return out;
}

Verdict verdict_of(const SelfCheckReport& report) {
  if (report.program) return Verdict::kDifferent;
  return report.interrupted ? Verdict::kUnknown : Verdict::kPass;
}

std::string self_check_text(const SelfCheckReport& report) {
  std::string out = fmt::format(
      "{}, seed {}: {}, {} accepted; {} of them were run on {} and used {} of {} opcodes; "
      "{:.1f} s\n",
      kernel_name(report.release, report.booted_as), report.seed,
      counted(report.programs, "program"), report.accepted, report.evaluated,
      counted(report.evaluations, "input"), report.opcodes, report.legal_opcodes, report.seconds);
  out += lacking_text(report.release);
  if (report.no_room > 0)
    out += counted(report.no_room, "program") +
           " did not run, because the instructions that report return values do not fit\n";
  if (report.program) {
    out += write_program(*report.program, Form::kAsm);
    if (report.kernel_accepts)
      out += fmt::format("the kernel {} this program, but the model does not\n",
                         *report.kernel_accepts ? "accepts" : "refuses");
    if (report.witness)
      out += fmt::format("the model returns {:#010x} for {}, but the kernel returns {:#010x}\n",
                         report.witness->before, describe(report.witness->data),
                         report.witness->after);
  }
  return out + fmt::format("verdict   {}: {}\n", verdict_name(verdict_of(report)), reason(report));
}

nlohmann::ordered_json to_json(const SelfCheckReport& report) {
  nlohmann::ordered_json out{{"schema", "secequiv.kernel-check/1"},
                             {"verdict", verdict_name(verdict_of(report))},
                             {"reason", reason(report)},
                             {"release", report.release},
                             {"seed", report.seed},
                             {"programs", report.programs},
                             {"accepted", report.accepted},
                             {"evaluated", report.evaluated},
                             {"evaluations", report.evaluations},
                             {"no_room", report.no_room},
                             {"opcodes", report.opcodes},
                             {"legal_opcodes", report.legal_opcodes},
                             {"seconds", report.seconds}};
  if (report.program) out["program"] = write_program(*report.program, Form::kAsm);
  if (report.kernel_accepts) out["kernel_accepts"] = *report.kernel_accepts;
  add_origin(out, report);
  if (report.witness)
    out["disagreement"] = {{"data", to_json(report.witness->data)},
                           {"model", value_json(report.witness->before)},
                           {"kernel", value_json(report.witness->after)}};
  return out;
}

}  // namespace secequiv
