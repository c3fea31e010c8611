#include "harness/report/hunt.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <tuple>

#include "harness/base/parts.h"
#include "harness/base/text.h"
#include "harness/bpf/text.h"
#include "harness/report/direction.h"
#include "harness/report/json.h"
#include "harness/report/text.h"
#include "harness/seccomp/annotate.h"

namespace secequiv {
namespace {

using State = ReportedCase::State;

constexpr std::size_t kShownInstructions = 40;

std::string indented(const std::string& text) {
  std::string out;
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += "    " + text.substr(at, end - at) + "\n";
    at = end + 1;
  }
  return out;
}

// Joins the lines of a message, which may quote standard error, and leaves out the middle of a long
// one.
std::string one_line(std::string_view text) {
  constexpr std::size_t kMost = 400;
  std::string out;
  while (!text.empty()) {
    const std::string_view line = trimmed(take_part(text));
    if (line.empty()) continue;
    if (!out.empty()) out += out.ends_with(':') ? " " : " | ";
    out += line;
  }
  if (out.size() > kMost) out.replace(kMost / 2, out.size() - kMost, " ... ");
  return printable(out, false);
}

// Returns the first line of a message, and all others indented below it.
std::string first_and_indented(std::string_view text) {
  std::string out = printable(take_part(text), false) + "\n";
  if (!text.empty()) out += indented(printable(text, true));
  return out;
}

// Returns "different (known)".
std::string label(const HuntReport& report, const Finding& finding) {
  return fmt::format("{}{}", finding_name(finding.kind),
                     finding.known                             ? " (known)"
                     : finding.may_be_known                    ? " (may be known)"
                     : finding.failure && report.knows_earlier ? " (new)"
                     : finding.failure                         ? ""
                                                               : " (not a failure)");
}

std::string program_text(std::string_view title, ProgramView program) {
  std::string out = fmt::format("  {}, {}\n", title, counted(program.size(), "instruction"));
  if (program.size() > kShownInstructions) return out;
  const auto comments = annotate(program);
  return out + indented(write_program(program, Form::kAsm, comments));
}

// Returns the worst known direction of all failures. The failures are sorted by direction, worst
// first.
std::optional<Direction> worst_direction(const HuntReport& report) {
  const auto known = std::ranges::find_if(report.findings, [](const Finding& finding) {
    return finding.failure && finding.direction.has_value();
  });
  return known == report.findings.end() ? std::nullopt : known->direction;
}

std::string finding_text(const HuntReport& report, const Finding& finding) {
  std::string out = direction_line(finding.direction, report.host);
  if (!out.empty()) out += "\n";
  out += fmt::format("{}: {}", label(report, finding), first_and_indented(finding.detail));
  if (!finding.subject.before.empty()) {
    const bool evaluator = report.kind == "evaluator";
    if (report.kind == "compiler" && !finding.subject.policy.empty() &&
        finding.subject.policy.size() < 4000)
      out += "  policy\n" + indented(finding.subject.policy);
    out += program_text(evaluator                   ? "program"
                        : report.kind == "compiler" ? "compiled"
                                                    : "before",
                        finding.subject.before);
    if (!evaluator && finding.after) out += program_text("after", *finding.after);
    if (!evaluator && finding.after && finding.witness) {
      const Pair pair{finding.subject.before, *finding.after};
      out += traces_text(Question(pair), finding.witness->data);
    }
    out += fmt::format("  trial {} ({}), {:.2f} s, by {}; {} before reduction{}\n", finding.trial,
                       printable(finding.subject.name, false), finding.seconds, finding.found_by,
                       counted(finding.original_size, "instruction"),
                       finding.reduced ? "" : ", not fully reduced");
  }
  if (!finding.pass.empty()) out += fmt::format("  pass: {}\n", printable(finding.pass, false));
  if (finding.count > 1) out += fmt::format("  found in {} trials\n", finding.count);
  if (!finding.file.empty()) out += fmt::format("  stored: {}\n", printable(finding.file, false));
  return out;
}

// Names the option that ends hanging requests earlier, if the run took longer than it should.
std::string overtime(const HuntReport& report) {
  const bool hung = std::ranges::find(report.findings, FindingKind::kHung, &Finding::kind) !=
                    report.findings.end();
  if (!hung || report.seconds < report.limit_seconds + 1) return "";
  return fmt::format(
      "time: {:.0f} s instead of {:.0f} s, because requests hung; a lower "
      "--request-timeout (now {} s) ends them earlier",
      report.seconds, report.limit_seconds, report.request_seconds);
}

std::string scaling_text(const HuntReport& report) {
  if (std::ranges::all_of(report.scaling, [](const ScalingRow& row) { return row.sizes.empty(); }))
    return "";
  std::string out = "time by size (ms)";
  const auto longest = std::ranges::max_element(
      report.scaling, {}, [](const ScalingRow& row) { return row.sizes.size(); });
  for (const std::size_t size : longest->sizes) out += fmt::format(" {:>9}", size);
  out += "    growth\n";
  for (const ScalingRow& row : report.scaling) {
    out += fmt::format("  {:<15}", row.family);
    for (const double seconds : row.seconds) out += fmt::format(" {:>9.3f}", seconds * 1e3);
    if (row.exponent > 0) out += fmt::format("   size^{:.1f}", row.exponent);
    out += "\n";
  }
  return out;
}

// Returns one line about the shapes that were tried, and one about those that were never supported.
// A few trials are not worth a summary.
std::string shapes_text(const HuntReport& report) {
  constexpr std::uint64_t kEnough = 100;
  constexpr std::size_t kShown = 6;
  if (report.trials < kEnough || report.shapes.empty()) return "";
  std::vector<ShapeRow> rows = report.shapes;
  std::erase_if(rows, [](const ShapeRow& row) { return row.count == 0; });
  std::ranges::sort(
      rows, {}, [](const ShapeRow& row) { return std::tuple(~row.count, row.group, row.name); });
  std::vector<std::string> shares;
  std::vector<std::string> never;
  for (const ShapeRow& row : rows) {
    const double percent =
        100.0 * static_cast<double>(row.count) / static_cast<double>(report.trials);
    if ((row.group == "instructions" || row.group == "features") && shares.size() < kShown)
      shares.push_back(fmt::format("{} in {:.0f}%", row.name, percent));
    if (row.unsupported == row.count && never.size() < kShown)
      never.push_back(fmt::format("{} {} ({})", row.group, row.name, row.count));
  }
  std::string out = fmt::format("{}: {}; {} of {} {} tried",
                                report.kind == "compiler" ? "features" : "instructions",
                                fmt::join(shares, ", "), rows.size(), report.shapes.size(),
                                report.kind == "compiler" ? "features" : "shapes");
  if (!rows.empty())
    out += fmt::format(", the rarest ({} {}) in {}", rows.back().group, rows.back().name,
                       counted(rows.back().count, "trial"));
  if (!never.empty()) out += fmt::format("\nnever supported: {}", fmt::join(never, ", "));
  return out + "\n";
}

// Returns {"pairs": {"stx, ld M": 12, ...}, ...}.
Json shapes_json(const HuntReport& report, std::uint64_t ShapeRow::* count) {
  Json out = Json::object();
  for (const ShapeRow& row : report.shapes) out[row.group][row.name] = row.*count;
  return out;
}

Shape shapes_shape() { return map_of(any_text(), map_of(any_text(), at_least(0))); }

// Returns the error, which names the file.
std::string unread_text(const UnreadFile& file) {
  const std::string text = file.error.text();
  return text.starts_with(file.path) ? text : file.path + ": " + text;
}

struct Unread {
  const UnreadFile& file;
};
void describe(Fields<Unread>& unread) {
  unread("file", "Its path.", [](const Unread& it) { return it.file.path; });
  unread("error", "Why it could not be read, with its path and the place in it.",
         [](const Unread& it) { return printable(unread_text(it.file), true); });
}

struct Feedback {
  std::uint64_t new_edges;
  std::uint64_t kept;
};
void describe(Fields<Feedback>& feedback) {
  feedback("new_edges", "How many edges were reached for the first time after the first trials.",
           &Feedback::new_edges);
  feedback("kept",
           "How many programs reached them; later programs are often changed copies of these.",
           &Feedback::kept);
}

// Each instruction is code, jt, jf, k of struct sock_filter.
std::vector<std::vector<std::uint32_t>> numbers_of(ProgramView program) {
  std::vector<std::vector<std::uint32_t>> out;
  out.reserve(program.size());
  for (const Insn& in : program) out.push_back({in.code, in.jt, in.jf, in.k});
  return out;
}

Shape program_shape() { return list_of(list_of(at_least(0), 4, 4)); }

struct ShownFinding {
  const HuntReport& report;
  const Finding& found;
};

void describe(Fields<ShownFinding>& finding) {
  using Shown = ShownFinding;
  finding.is("finding",
             "One reduced finding. Findings with the same shape and the same faulty pass are "
             "counted as one.");
  finding(
      "kind", "The kind of failure or note.",
      [](const Shown& it) { return finding_name(it.found.kind); },
      names_of(finding_name, FindingKind::kNotIdempotent));
  finding("failure", "Whether the finding fails the run; if false, it is only a note.",
          [](const Shown& it) { return it.found.failure; });
  finding("known", "Whether an earlier run found it (--known); then it is not a failure.",
          [](const Shown& it) { return it.found.known; });
  finding(
      "detail", "One sentence; for a crash, also the last lines of standard error.",
      [](const Shown& it) { return printable(it.found.detail, true); }, any_text());
  finding(
      "group",
      "The same text for findings whose reduced programs have the same shape and, if it is known, "
      "the same faulty pass.",
      [](const Shown& it) { return printable(it.found.group, false); }, any_text());
  finding("count", "Trials that it explains.", [](const Shown& it) { return it.found.count; });
  finding(
      "found_by", "The method that found it.", [](const Shown& it) { return it.found.found_by; },
      words({"inputs", "proof", "answer", "scaling"}));
  finding(
      "subject",
      "The file it came from, or 'generated'; for a finding of kind 'slow', the family of "
      "programs.",
      [](const Shown& it) { return it.found.subject.name; }, any_text());
  finding("trial", "The first trial that showed it, from 1.",
          [](const Shown& it) { return it.found.trial; });
  finding("seconds", "From the start to the first trial that showed it.",
          [](const Shown& it) { return it.found.seconds; });
  finding("reduced", "Whether no smaller program shows it; false if time or steps ran out first.",
          [](const Shown& it) { return it.found.reduced; });
  finding("original_instructions", "Instructions of the program before it was reduced.",
          [](const Shown& it) { return it.found.original_size; });
  finding(
      "text", "The finding as the text report shows it.",
      [](const Shown& it) { return printable(finding_text(it.report, it.found), true); },
      any_text());
  finding(
      "may_be_known",
      "It is unknown whether an earlier run found it (--known). The finding is then not a failure, "
      "but the verdict is not a pass.",
      [](const Shown& it) { return if_true(it.found.may_be_known); }, only_true());
  finding("pass",
          "The first pass whose output shows the failure, if the optimizer reports its passes.",
          [](const Shown& it) { return unless_empty(printable(it.found.pass, false)); });
  finding(
      "before",
      "The reduced program; for a compiler, the reduced policy, compiled without optimization. "
      "Each instruction is code, jt, jf, k of struct sock_filter.",
      [](const Shown& it) { return unless_empty(numbers_of(it.found.subject.before)); },
      program_shape());
  finding(
      "policy", "The reduced policy, in our JSON format.",
      [](const Shown& it) { return unless_empty(it.found.subject.policy); }, any_text());
  finding(
      "after", "The answer, in the same form as the program.",
      [](const Shown& it) -> std::optional<std::vector<std::vector<std::uint32_t>>> {
        if (!it.found.after) return std::nullopt;
        return numbers_of(*it.found.after);
      },
      program_shape());
  finding("direction", "",
          [](const Shown& it) { return shown_direction(it.found.direction, it.report.host); });
  finding("witness", "", [](const Shown& it) { return it.found.witness; });
  finding(
      "file", "Where it was stored.", [](const Shown& it) { return unless_empty(it.found.file); },
      any_text());
}

}  // namespace

std::string hunt_status(const HuntReport& report) {
  std::uint64_t failures = 0;
  for (const Finding& finding : report.findings) failures += finding.failure ? 1 : 0;
  const double rate = report.seconds > 0 ? static_cast<double>(report.trials) / report.seconds : 0;
  return fmt::format("{:.0f} s: {} ({:.0f}/s), {} proven, {} unsupported, {}, {} of failure",
                     report.seconds, counted(report.trials, "trial"), rate, report.proven,
                     report.unsupported, counted(report.evaluations, "evaluation"),
                     counted(failures, "kind"));
}

std::string hunt_text(const HuntReport& report) {
  std::string out = direction_line(worst_direction(report), report.host);
  if (!out.empty()) out += "\n";
  out += fmt::format("{}: {}\nsubjects: {} (seed {})\n", report.kind,
                     printable(report.target, false), report.subjects, report.seed);
  for (const Finding& finding : report.findings) out += "\n" + finding_text(report, finding);
  if (!report.findings.empty()) out += "\n";
  for (const UnreadFile& file : report.unread)
    out += fmt::format("not tested: {}\n", one_line(unread_text(file)));
  if (report.not_reduced > 0)
    out += fmt::format("{} failed; no finding above explains {}\n",
                       counted(report.not_reduced, "more trial"),
                       report.not_reduced == 1 ? "it, and no time was left to reduce it"
                                               : "them, and no time was left to reduce them");
  for (const std::string& name : report.gone)
    out += fmt::format("no longer fails: {}\n", printable(name, false));
  out += scaling_text(report) + shapes_text(report);
  if (report.feedback)
    out += fmt::format(
        "feedback: {} reached {} of the {} and served as models for later programs\n",
        counted(report.kept, "program"), counted(report.new_edges, "new edge"), report.kind);
  out += fmt::format("trials: {} in {:.2f} s", report.trials, report.seconds);
  if (!report.trials_of_processes.empty())
    out += fmt::format(" ({} by process)", fmt::join(report.trials_of_processes, " + "));
  out += fmt::format("; {} answered", report.answered);
  if (report.kind != "evaluator")
    out += fmt::format(", {} proven equivalent, {} compared on inputs only", report.proven,
                       report.undecided);
  if (report.unsupported > 0)
    out += fmt::format(", {} unsupported ({})", report.unsupported,
                       printable(report.unsupported_example, false));
  out += fmt::format("; {}\n", counted(report.evaluations, "evaluation"));
  if (const std::string over = overtime(report); !over.empty()) out += over + "\n";
  out += fmt::format("verdict: {} ({})\n", verdict_name(report.verdict), one_line(report.reason));
  return out;
}

void describe(Fields<ScalingRow>& row) {
  row("family", "Its name.", &ScalingRow::family, any_text());
  row("instructions", "Sizes.", &ScalingRow::sizes, list_of(at_least(1)));
  row("seconds", "The shortest of several measured times, for each size.", &ScalingRow::seconds);
  row("exponent", "Exponent of the growth over the last sizes; 0 if it is unknown.",
      &ScalingRow::exponent, any_number());
}

void describe(Fields<HuntReport>& report) {
  using Report = HuntReport;
  report.document("fuzz", 1, "secequiv fuzz --json",
                  "The findings about an optimizer, a compiler or an evaluator.");
  report(
      "verdict",
      "Exit status: 0 for pass, 1 for different and fail, 3 for unknown, 4 for rejected, 5 for "
      "crashed.",
      [](const Report& it) { return verdict_name(it.verdict); },
      words({"pass", "different", "fail", "unknown", "rejected", "crashed"}));
  report(
      "reason", "One sentence.", [](const Report& it) { return printable(it.reason, true); },
      any_text());
  report("kind", "The kind of code under test.", &Report::kind,
         words({"optimizer", "compiler", "evaluator"}));
  report("target", "The code under test, as the command line names it.", &Report::target,
         any_text());
  report("subjects", "Where programs or policies came from.", &Report::subjects, any_text());
  report("unread",
         "Files in the folders of --programs or --policies that could not be read. Then the "
         "verdict is never pass.",
         [](const Report& it) {
           std::vector<Unread> out;
           out.reserve(it.unread.size());
           for (const UnreadFile& file : it.unread) out.push_back({file});
           return out;
         });
  report("seed", "Seed of the random choices.", &Report::seed);
  report("trials", "Programs or policies tried.", &Report::trials);
  report("answered", "Trials with an answer.", &Report::answered);
  report("unsupported", "Trials that the code under test reported as unsupported.",
         &Report::unsupported);
  report("proven", "Answers proven equivalent.", &Report::proven);
  report("undecided", "Answers compared on inputs only.", &Report::undecided);
  report("evaluations", "Inputs run.", &Report::evaluations);
  report("repeated", "Requests made twice.", &Report::repeated);
  report("not_reduced",
         "Failed trials that no finding explains, because no time was left to reduce them.",
         &Report::not_reduced);
  report(
      "feedback",
      "null: the code under test does not report the edges of its own code that it reaches.",
      [](const Report& it) -> Json {
        if (!it.feedback) return nullptr;
        return to_json(Feedback{it.new_edges, it.kept});
      },
      one_of({null(), shapes::shape_of<Feedback>()}));
  report("interrupted", "Whether the run was stopped early.", &Report::interrupted);
  report("seconds", "Seconds of the whole run.", &Report::seconds);
  report("request_timeout", "Seconds after which a request counts as hung.",
         &Report::request_seconds);
  report("findings", "Failures first.", [](const Report& it) {
    std::vector<ShownFinding> out;
    out.reserve(it.findings.size());
    for (const Finding& found : it.findings) out.push_back({it, found});
    return out;
  });
  report("no_longer_fails",
         "Findings of earlier runs (--known) that the code under test no longer shows.",
         &Report::gone, list_of(any_text()));
  report("scaling", "How time grows with the size of programs; optimizers only.", &Report::scaling);
  report(
      "shapes",
      "What the programs or policies were like: groups of classes, and for each class the number "
      "of trials with it.",
      [](const Report& it) { return shapes_json(it, &ShapeRow::count); }, shapes_shape());
  report(
      "unsupported_shapes",
      "The same groups and classes, with the number of trials that the code under test reported as "
      "unsupported.",
      [](const Report& it) { return shapes_json(it, &ShapeRow::unsupported); }, shapes_shape());
  report("trials_of_processes", "With --jobs: the trials of each process. Their sum is `trials`.",
         [](const Report& it) { return unless_empty(it.trials_of_processes); });
}

namespace {

// Returns the counts of the trials in one sentence.
std::string tried_text(const HuntReport& report) {
  std::string out =
      fmt::format("{}: {} answered, {} proven, {} undecided, {} (seed {})",
                  counted(report.trials, "trial"), report.answered, report.proven, report.undecided,
                  counted(report.evaluations, "evaluation"), report.seed);
  if (const std::string over = overtime(report); !over.empty()) out += "; " + over;
  return out;
}

// Adds a case for the trials. If findings fail, adds the trials to the reason instead, because the
// case would pass.
void add_trials(const HuntReport& report, ReportedCases& out) {
  ReportedCase tried{"fuzzing", State::kPass, tried_text(report)};
  tried.seconds = report.seconds;
  if (report.verdict == Verdict::kUnknown || report.answered == 0) {
    tried.state = State::kUnknown;
    tried.message =
        (report.answered == 0 ? "nothing was answered" : report.reason) + "; " + tried.message;
  } else if (state_of(report.verdict) == State::kFail) {
    out.reason += "; " + tried.message;
    return;
  }
  out.cases.push_back(std::move(tried));
}

ReportedCase finding_case(const HuntReport& report, const Finding& found) {
  const std::string direction = direction_line(found.direction, report.host);
  ReportedCase one{"finding", found.failure ? State::kFail : State::kWarning,
                   fmt::format("{}: {}{}", label(report, found),
                               direction.empty() ? "" : direction + "; ", found.detail)};
  one.name = short_name(found);
  if (!found.pass.empty()) one.message += "; pass: " + found.pass;
  constexpr std::size_t kShort = 90;  // characters; a long shape says no more than the program
  if (!found.shape.empty() && found.shape.size() <= kShort)
    one.message += "; shape: " + found.shape;
  one.detail = fmt::format("before\n{}", write_program(found.subject.before, Form::kAsm));
  if (found.after) one.detail += fmt::format("after\n{}", write_program(*found.after, Form::kAsm));
  one.witness = found.witness;
  if (!found.file.empty()) one.place = ReportedCase::Place{found.file, false, {}, {}};
  return one;
}

}  // namespace

ReportedCases reported(const HuntReport& report) {
  ReportedCases out{"fuzz", report.target, report.verdict, exit_code(report.verdict), report.reason,
                    {}};
  add_trials(report, out);
  set_direction(worst_direction(report), report.host, out);
  for (const Finding& found : report.findings) {
    ReportedCase one = finding_case(report, found);
    if (out.cases.empty()) one.seconds = report.seconds;  // no case has the time of the trials
    out.cases.push_back(std::move(one));
  }
  for (const UnreadFile& file : report.unread) {
    ReportedCase one{"unread", State::kUnknown, unread_text(file)};
    one.name = file.path;
    one.place = place_of(file.error.where);
    one.place->path = file.path;
    out.cases.push_back(std::move(one));
  }
  conclude(out);
  return out;
}

}  // namespace secequiv
