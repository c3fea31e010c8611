#include "harness/report/prove.h"

#include <fmt/format.h>

#include <algorithm>

#include "harness/report/direction.h"
#include "harness/report/json.h"
#include "harness/report/oracle.h"
#include "harness/report/text.h"

namespace secequiv {
namespace {

using nlohmann::ordered_json;

std::string_view relation_text(Relation relation) {
  switch (relation) {
    case Relation::kEqual:
      return "as strict as before: only data of actions differ (error numbers, for example)";
    case Relation::kStricter:
      return "stricter: never more permissive than before";
    case Relation::kLooser:
      return "looser: never stricter than before";
    case Relation::kIncomparable:
      return "stricter for some inputs and looser for others";
  }
  return "";
}

// Calls `show` with the question, in which the proof's values replace the names.
template <class Show>
void with_values(const ProveReport& report, const Show& show) {
  if (report.proof.symbols.empty())
    show(report.question);
  else
    show(Instance(report.question, report.proof.symbols).question);
}

// Describes the set of inputs in which the witness is the smallest.
std::string among(const ProveReport& report, std::string_view loosened) {
  if (!report.direction) return "";
  if (report.direction->loosens()) return fmt::format(", among the inputs with the {}", loosened);
  const SeccompData& data = report.proof.witness->data;
  const auto arch = arch_from_data(data.arch(), data.nr());
  return arch && !syscall_name(*arch, data.nr()).empty() ? ", among known system calls" : "";
}

std::string witness_part(const ProveReport& report) {
  const Proof& proof = report.proof;
  if (!proof.witness) return "";
  std::string out = values_text(report);
  with_values(report, [&](const Question& question) {
    const auto policy = [](const SideReport& side) { return side.of_policy; };
    const bool policies =
        std::ranges::all_of(report.before, policy) && std::ranges::all_of(report.after, policy);
    out += witness_text(question, *proof.witness, report.rules, report.all_traces || !policies);
  });
  return out + minimal_text(report);
}

std::string proof_text(const ProveReport& report) {
  const Proof& proof = report.proof;
  std::string out = direction_line(report.direction, report.host);
  if (!out.empty()) out += "\n";
  out += symbols_text(report.question) + assuming_text(report.question) + witness_part(report);
  if (report.direction) out += fallback_calls(*report.direction, report.host);
  if (!proof.detail.empty()) out += fmt::format("{}: {}\n", proof.engine, proof.detail);
  for (const MixedCall& mixed : report.notes.choices) out += mixed.text() + "\n";
  if (proof.relation && proof.verdict != Verdict::kEquivalent)
    out += fmt::format("after is {}\n", relation_text(*proof.relation));
  return out + fmt::format("{}{} ({}, encoded in {}, solved in {})\n",
                           verdict_name(report.notes.concluded(proof.verdict)),
                           report.notes.limits(), proof.engine, milliseconds(proof.encode_seconds),
                           milliseconds(proof.solve_seconds));
}

// Returns the proof that JSON and cases show, with the report's verdict and the reason for it.
Proof concluded(const ProveReport& report) {
  Proof out = report.proof;
  if (report.oracle && report.oracle->in_doubt() != nullptr) {
    out.verdict = Verdict::kFail;
    out.detail = fmt::format("{} contradicts our interpreter", report.oracle->who);
  } else {
    report.notes.conclude(out.verdict, out.detail);
  }
  return out;
}

}  // namespace

std::string values_text(const ProveReport& report) {
  if (report.proof.symbols.empty()) return "";
  std::string out = "symbols:";
  for (std::size_t i = 0; i < report.proof.symbols.size(); ++i)
    out +=
        fmt::format(" ${}={:#x}", report.question.symbols.all()[i].name, report.proof.symbols[i]);
  return out + "\n";
}

std::string minimal_text(const ProveReport& report, std::string_view loosened) {
  if (!report.proof.minimal) return "  (a smaller input may exist)\n";
  return fmt::format("  (this input has {}the fewest non-zero words, then the smallest values{})\n",
                     report.proof.symbols.empty() ? "" : "the smallest values of names, then ",
                     among(report, loosened));
}

std::string rejection_text(const Rejection& rejection) {
  return fmt::format("rejected: {}: {}\n",
                     rejection.where.empty() ? rejection.name : rejection.where, rejection.detail);
}

ReportedCases rejected(const std::string& command, const Rejection& rejection) {
  ReportedCases out = refused(command, rejection.name, rejection.detail);
  if (auto place = place_of(rejection.where); place.line)
    out.cases.front().place = std::move(place);
  return out;
}

std::string certificate_text(const CertificateReport& report, Sameness sameness) {
  std::string out;
  if (!report.reason.empty()) out = fmt::format("certificate: not written: {}\n", report.reason);
  if (report.files.empty()) return out;
  std::string checks;
  std::string condition;
  const auto path_of = [&](const CertificateReport::File& file) {
    return report.directory + (report.directory.ends_with('/') ? "" : "/") + file.name;
  };
  for (const CertificateReport::File& file : report.files)
    if (file.name == "condition.bpf") condition = " --allowed-by " + path_of(file);
  for (const CertificateReport::File& file : report.files) {
    out += fmt::format("certificate: {} ({} bytes)\n", path_of(file), file.text.size());
    const bool walk = file.name == "walk.cert";
    if (walk || file.name == "query.cnf")
      checks +=
          fmt::format("; scripts/check{}_certificate {}{}{}", walk ? "" : "_cnf", report.directory,
                      condition, sameness == Sameness::kRaw ? "" : " --same behaviour");
  }
  return out + fmt::format("             written in {}{}\n", milliseconds(report.seconds), checks);
}

void describe(Fields<CertificateReport::File>& file) {
  file("name", "", &CertificateReport::File::name,
       words({"walk.cert", "query.cnf", "proof.lrat", "condition.bpf"}));
  file("bytes", "", [](const CertificateReport::File& it) { return it.text.size(); }, at_least(1));
}

void describe(Fields<CertificateReport>& report) {
  report.is("certificate",
            "With --certificate: the files for independent checkers, and why one is missing.");
  report("path", "The folder.", &CertificateReport::directory);
  report("written", "", [](const CertificateReport& it) { return !it.files.empty(); });
  report("reason",
         "Why no certificate was written, or why one of the two was not. The exit status is then "
         "not 0, even if the verdict is 'equivalent'.",
         [](const CertificateReport& it) { return unless_empty(it.reason); });
  report.only_if([](const CertificateReport& it) { return !it.files.empty(); });
  report("files",
         "walk.cert: a proof by cases. query.cnf and proof.lrat: a formula and its refutation. "
         "condition.bpf: a filter that allows the inputs for which the assumption holds.",
         &CertificateReport::files, list_of<CertificateReport::File>(1));
  report(
      "bytes", "Size of all files together.",
      [](const CertificateReport& it) {
        std::size_t bytes = 0;
        for (const CertificateReport::File& file : it.files) bytes += file.text.size();
        return bytes;
      },
      at_least(1));
  report("seconds", "Seconds to create and write the certificates, without the proof itself.",
         &CertificateReport::seconds);
  if (!report.for_schema()) return;
  report.rule(is("written", true), has({"files", "bytes", "seconds"}),
              all({has({"reason"}), lacks({"files", "bytes", "seconds"})}));
}

Verdict ProveReport::verdict() const {
  if (rejection) return Verdict::kRejected;
  return concluded(*this).verdict;
}

int ProveReport::exit_status() const {
  const int status = exit_code(verdict());
  return status == 0 && certificate ? certificate->failed : status;
}

std::string prove_text(const ProveReport& report, bool brief) {
  if (report.rejection) return rejection_text(*report.rejection);
  std::string out = proof_text(report);
  if (!brief && report.certificate)
    out += certificate_text(*report.certificate, report.question.sameness);
  if (!report.oracle) return out;
  if (!brief)
    out += report.proof.witness ? oracle_text(*report.oracle)
                                : fmt::format("oracle    {} was not used: there is no witness\n",
                                              report.oracle->who);
  if (report.oracle->in_doubt() != nullptr) out += doubt_text(*report.oracle);
  return out;
}

void describe(Fields<ProveReport>& report) {
  using Report = ProveReport;
  report.document(
      "prove", 2, "secequiv prove --json",
      "Whether two filters, or stacks of filters, make the same decisions for all inputs "
      "that satisfy the assumption, or whether the second refines the first. If the "
      "kernel refuses a program, 'file' names it.");
  report(
      "verdict",
      "pass: the second filter refines the first without being the same. fail: the oracle "
      "contradicts our interpreter about the witness. Exit status: 0 for equivalent and pass, 1 "
      "for different and fail, 3 for unknown, 4 for rejected.",
      [](const Report& it) { return verdict_name(it.verdict()); },
      words({"equivalent", "pass", "different", "fail", "unknown", "rejected"}));
  report("file", "If the verdict is 'rejected': the refused program.",
         [](const Report& it) -> std::optional<std::string> {
           if (!it.rejection) return std::nullopt;
           return it.rejection->name;
         });
  report("detail", "If the verdict is 'rejected': the rule and the instruction.",
         [](const Report& it) -> std::optional<std::string> {
           if (!it.rejection) return std::nullopt;
           return it.rejection->detail;
         });
  report.only_if([](const Report& it) { return !it.rejection; });
  report.include([](const Report& it) {
    return ProofParts{concluded(it), symbols_json(it.question, it.proof.symbols)};
  });
  report("question", "", [](const Report& it) -> const Question& { return it.question; });
  report("direction", "", [](const Report& it) { return shown_direction(it.direction, it.host); });
  report("before",
         "The first filter, or the filters of the first stack, the newest first, and whether the "
         "kernel would accept each. Absent if the verdict is 'rejected'.",
         &Report::before, list_of<SideReport>(1));
  report("after",
         "The second filter, or the filters of the second stack, the newest first, and whether the "
         "kernel would accept each. Absent if the verdict is 'rejected'.",
         &Report::after, list_of<SideReport>(1));
  report("certificate", "", &Report::certificate);
  report("oracle", "", &Report::oracle);
  report.include(&Report::notes);
  if (!report.for_schema()) return;
  report.rule(is("verdict", "rejected"), has({"file", "detail"}),
              all({has({"engine", "encode_seconds", "solve_seconds"}), lacks({"file"})}));
  report.rule(is("verdict", "fail"), is_in_doubt(), none({is_in_doubt()}));
}

ReportedCases reported(const ProveReport& report) {
  if (report.rejection) return rejected("prove", *report.rejection);
  const Proof proof = concluded(report);
  ReportedCases out{"prove", report.subject, proof.verdict, report.exit_status(), proof.detail, {}};
  set_direction(report.direction, report.host, out);
  if (report.files) out.file = file_of(*report.files);
  const bool refines = report.question.goal == Question::Goal::kRefines;
  ReportedCase found{refines ? "refinement" : "proof", state_of(proof.verdict),
                     fmt::format("{} by {}", verdict_name(proof.verdict), proof.engine)};
  found.seconds = proof.encode_seconds + proof.solve_seconds;
  if (!proof.detail.empty()) found.message += ": " + proof.detail;
  if (proof.witness) {
    found.message = directed(direction_line(report.direction, report.host), *proof.witness);
    found.detail = proof_text(report);
    found.witness = proof.witness;
    found.only_stricter = report.direction && report.direction->only_stricter();
    if (report.files)
      with_values(report, [&](const Question& question) {
        show_witness(found, question.before[0], question.after[0], *proof.witness, *report.files);
      });
    place_by_rules(found, report.rules);
  }
  if (out.reason.empty()) out.reason = found.message;
  out.cases.push_back(std::move(found));
  add_notes(report.notes, out);
  if (report.oracle) add_oracle(out, *report.oracle);
  if (report.certificate && report.certificate->failed != 0) {
    out.reason = report.certificate->reason;
    // A proof whose requested certificate is missing must not read as success.
    if (exit_code(proof.verdict) == 0) {
      out.verdict = Verdict::kUnknown;
      out.completed = report.exit_status() != exit_code(ErrorCode::kUsage);
    }
  }
  conclude(out);
  return out;
}

}  // namespace secequiv
