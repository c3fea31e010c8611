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

ordered_json to_json(const CertificateReport& report) {
  ordered_json out{{"path", report.directory}, {"written", !report.files.empty()}};
  if (!report.reason.empty()) out["reason"] = report.reason;
  if (report.files.empty()) return out;
  std::size_t bytes = 0;
  ordered_json list = ordered_json::array();
  for (const CertificateReport::File& file : report.files) {
    list.push_back({{"name", file.name}, {"bytes", file.text.size()}});
    bytes += file.text.size();
  }
  out["files"] = std::move(list);
  out["bytes"] = bytes;
  out["seconds"] = report.seconds;
  return out;
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

ordered_json to_json(const ProveReport& report) {
  if (report.rejection)
    return {{"schema", "secequiv.prove/2"},
            {"verdict", "rejected"},
            {"file", report.rejection->name},
            {"detail", report.rejection->detail}};
  ordered_json out = to_json(concluded(report));
  out["question"] = to_json(report.question);
  if (report.direction) out["direction"] = to_json(*report.direction, report.host);
  if (!report.proof.symbols.empty())
    out["witness"]["symbols"] = symbols_json(report.question, report.proof.symbols);
  out["before"] = json_list(report.before);
  out["after"] = json_list(report.after);
  if (report.certificate) out["certificate"] = to_json(*report.certificate);
  if (report.oracle) out["oracle"] = to_json(*report.oracle);
  add_notes(report.notes, out);
  return out;
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
