#include "harness/report/kernel.h"

#include <fmt/format.h>

#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/report/json.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using kernel::AskedSide;
using kernel::KernelReport;
using kernel::SelfCheckReport;

const char* entry_name(const std::optional<kernel::Entry>& entry) {
  if (!entry) return "any";
  return *entry == kernel::Entry::kX86_64 ? "x86_64" : "i386";
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
    return report.sides.size() == 2
               ? "the run was interrupted; the kernel's answers are the same so far"
               : "the run was interrupted; the kernel and the model agree so far";
  return report.sides.size() == 2 ? "the kernel's answers are the same; nothing is proven"
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
    if (side.refused) row["refused"] = true;
    if (side.disagreement)
      row["disagreement"] = {{"data", to_json(side.disagreement->data)},
                             {"model", value_json(side.disagreement->before)},
                             {"kernel", value_json(side.disagreement->after)}};
    out["sides"].push_back(std::move(row));
  }
  if (report.witness) out["witness"] = to_json(*report.witness);
  return out;
}

Verdict verdict_of(const SelfCheckReport& report) {
  if (report.program) return Verdict::kDifferent;
  return report.interrupted ? Verdict::kUnknown : Verdict::kPass;
}

std::string self_check_text(const SelfCheckReport& report) {
  std::string out = fmt::format(
      "Linux {}, seed {}: {}, {} accepted; {} of them were run on {} and used {} of {} opcodes; "
      "{:.1f} s\n",
      report.release, report.seed, counted(report.programs, "program"), report.accepted,
      report.evaluated, counted(report.evaluations, "input"), report.opcodes, report.legal_opcodes,
      report.seconds);
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
  if (report.witness)
    out["disagreement"] = {{"data", to_json(report.witness->data)},
                           {"model", value_json(report.witness->before)},
                           {"kernel", value_json(report.witness->after)}};
  return out;
}

}  // namespace secequiv
