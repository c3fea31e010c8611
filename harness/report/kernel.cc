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

// What a report has only for some kernels.
struct KernelOrigin {
  std::string release;
  std::string booted_as;
};

void describe(Fields<KernelOrigin>& origin) {
  origin("booted_as", "Present for a kernel that was booted: its architecture.",
         [](const KernelOrigin& it) { return unless_empty(it.booted_as); });
  origin(
      "lacking", "What our model assumes and this older kernel lacks.",
      [](const KernelOrigin& it) { return unless_empty(kernel::lacking(it.release)); },
      list_of<kernel::Fact>(1));
}

template <class Report>
KernelOrigin origin_of(const Report& report) {
  return {report.release, report.booted_as};
}

// The results of model and kernel for an input on which they disagree.
struct ModelError {
  const Witness& witness;
};

void describe(Fields<ModelError>& found) {
  found("data", "", [](const ModelError& it) { return it.witness.data; });
  found("model", "", [](const ModelError& it) { return ShownValue{it.witness.before}; });
  found("kernel", "", [](const ModelError& it) { return ShownValue{it.witness.after}; });
}

std::optional<ModelError> model_error(const std::optional<Witness>& witness) {
  if (!witness) return std::nullopt;
  return ModelError{*witness};
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

void describe(Fields<kernel::Fact>& fact) {
  fact("since", "The first version that has it.",
       [](const kernel::Fact& it) { return fmt::format("{}.{}", it.major, it.minor); });
  fact("what", "A name or a phrase.", &kernel::Fact::what);
}

void describe(Fields<AskedSide>& side) {
  side("name", "Where it came from.", &AskedSide::name);
  side("instructions", "Number of instructions.", &AskedSide::instructions, at_least(1));
  side("inputs", "How many inputs were run.", &AskedSide::asked);
  side("skipped", "Calls left out because the kernel runs no filter for them.",
       &AskedSide::skipped);
  side("seconds", "Seconds that these runs took.", &AskedSide::seconds);
  side(
      "refused", "The kernel refuses it, though our check accepts it.",
      [](const AskedSide& it) { return if_true(it.refused); }, only_true());
  side("disagreement", "An input on which the model is wrong.",
       [](const AskedSide& it) { return model_error(it.disagreement); });
}

void describe(Fields<KernelReport>& report) {
  report.document("kernel", 1, "secequiv kernel --json",
                  "Comparison of a kernel with the model on given programs.");
  report(
      "verdict",
      "pass: the kernel agrees with the model, and, if two programs are given, they return the "
      "same values. different: otherwise. unknown: the run was interrupted, or no input was "
      "run.",
      [](const KernelReport& it) { return verdict_name(it.verdict); },
      words({"pass", "different", "unknown"}));
  report("reason", "A sentence.", [](const KernelReport& it) { return reason(it); });
  report("release", "The kernel's release, as uname gives it.", &KernelReport::release);
  report("entry",
         "How calls entered the kernel. any: the programs were changed so that they load nr, arch "
         "and instruction pointer from unused arguments. Otherwise the entry's name, such as "
         "x86_64 or i386.",
         [](const KernelReport& it) { return entry_name(it.entry); });
  report("sides", "The programs that were run. Without --each, there are at most two.",
         &KernelReport::sides, list_of<AskedSide>(1));
  report("witness", "An input on which the kernel's answers to the two programs differ.",
         &KernelReport::witness);
  report.include(origin_of<KernelReport>);
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

void describe(Fields<SelfCheckReport>& report) {
  report.document("kernel-check", 1, "secequiv kernel --json, without input",
                  "Comparison of a kernel with the model on random programs.");
  report(
      "verdict",
      "pass: kernel and model agree; different: 'program' shows a disagreement; unknown: the "
      "run was interrupted.",
      [](const SelfCheckReport& it) { return verdict_name(verdict_of(it)); },
      words({"pass", "different", "unknown"}));
  report("reason", "A sentence.", [](const SelfCheckReport& it) { return reason(it); });
  report("release", "The kernel's release, as uname gives it.", &SelfCheckReport::release);
  report("seed", "Seed of the programs.", &SelfCheckReport::seed);
  report("programs", "Programs whose acceptance was compared.", &SelfCheckReport::programs);
  report("accepted", "Programs that the kernel accepted.", &SelfCheckReport::accepted);
  report("evaluated", "Programs whose return values were compared.", &SelfCheckReport::evaluated);
  report("evaluations", "Inputs on which these programs were run, in total.",
         &SelfCheckReport::evaluations);
  report("no_room",
         "Programs that could not be run, because there was no room for added instructions.",
         &SelfCheckReport::no_room);
  report("opcodes", "Opcodes that the evaluated programs contain.", &SelfCheckReport::opcodes);
  report("legal_opcodes", "Opcodes that seccomp allows.", &SelfCheckReport::legal_opcodes);
  report("seconds", "Elapsed time in seconds.", &SelfCheckReport::seconds);
  report(
      "program", "The program on which kernel and model disagree, as assembly text.",
      [](const SelfCheckReport& it) -> std::optional<std::string> {
        if (!it.program) return std::nullopt;
        return write_program(*it.program, Form::kAsm);
      },
      any_text());
  report("kernel_accepts",
         "Present if they disagree about acceptance: whether the kernel accepts the program. The "
         "model does the opposite.",
         &SelfCheckReport::kernel_accepts);
  report.include(origin_of<SelfCheckReport>);
  report("disagreement", "An input on which the model is wrong.",
         [](const SelfCheckReport& it) { return model_error(it.witness); });
}

}  // namespace secequiv
