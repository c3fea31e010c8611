#include "analyze/campaign.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <unordered_set>

#include "fuzz/pair/corpus.h"
#include "harness/inputs/case_set.h"
#include "verify/dd/engine.h"
#include "verify/decide/feasibility.h"

namespace secequiv {
namespace {

namespace fs = std::filesystem;
using Inputs = std::vector<SeccompData>;
using DistinctInputs = std::unordered_set<SeccompData, detail::InputHash>;

// Uses the folder that a user named, or a temporary one.
class Folder {
 public:
  explicit Folder(std::string given) : path_(std::move(given)), given_(!path_.empty()) {}
  ~Folder() {
    std::error_code ignored;
    if (!given_ && !path_.empty()) fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  Status open() {
    if (given_) return Ok{};
    std::error_code error;
    std::string name = (fs::temp_directory_path(error) / "secequiv-fuzz-XXXXXX").string();
    if (error || ::mkdtemp(name.data()) == nullptr)
      return make_error(ErrorCode::kIo, name, std::strerror(errno));
    path_ = name;
    return Ok{};
  }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
  bool given_;
};

class Campaign {
 public:
  Campaign(const SideReport& before, const SideReport& after, Sameness sameness,
           const CampaignOptions& options)
      : before_(before),
        after_(after),
        pair_{before.program, after.program, sameness},
        options_(options),
        folder_(options.fuzz.corpus) {
    fuzz_.jobs = options.fuzz.jobs;
    fuzz_.seed = options.fuzz.seed;
    fuzz_.corpus = options.fuzz.corpus;
  }

  Result<CheckReport> run(const Derive& derive) {
    RETURN_IF_ERROR(folder_.open());
    ASSIGN_OR_RETURN(auto corpus, pair::read_corpus(folder_.path()));
    fuzz_.stored = corpus.inputs.size();
    inputs_ = corpus.inputs;
    if (refused(before_.program, LengthRule::kUnlimited) ||
        refused(after_.program, LengthRule::kUnlimited))
      return finish("the kernel refuses one of the programs", {});
    RETURN_IF_ERROR(take_seeds());
    if (interrupted()) return finish("interrupted", {});
    ASSIGN_OR_RETURN(auto derived, derive());
    inputs_.insert(inputs_.end(), derived.begin(), derived.end());
    derived_ = derived.size();
    if (interrupted()) return finish("interrupted", {});

    CoverageMap coverage(after_.program);
    const bool differs = run_pair(pair_, inputs_, coverage).witness.has_value();
    fuzz_.derived_seconds = seconds_since(options_.start);
    if (differs) return finish("the programs already differ on the first inputs", {});
    if (interrupted()) return finish("interrupted", {});
    if (options_.check.prove) {
      ASSIGN_OR_RETURN(auto proof, dd::prove(pair_, options_.check.budget.diagrams));
      if (proof.verdict != Verdict::kUnknown) proof_ = std::move(proof);
      if (proof_ && proof_->verdict == Verdict::kDifferent)
        return finish("the programs are proven to differ", {});
    }
    if (interrupted()) return finish("interrupted", {});
    return fuzz(corpus, coverage);
  }

 private:
  bool interrupted() {
    if (options_.fuzz.stop && options_.fuzz.stop()) fuzz_.interrupted = true;
    return fuzz_.interrupted;
  }

  static bool refused(const Program& program, LengthRule length) {
    return refusal_of(program, length).has_value();
  }

  // Adds the prover's inputs: one for each edge that any input can reach.
  Status take_seeds() {
    CoverageMap coverage(after_.program);
    RETURN_IF_ERROR(account_for_edges(coverage, options_.check.engine, options_.check.budget,
                                      [&](const Feasibility& answer) {
                                        if (answer.answer == Feasibility::Answer::kInfeasible)
                                          infeasible_.push_back(answer.obligation);
                                        if (answer.answer != Feasibility::Answer::kFeasible)
                                          return true;
                                        coverage.run(*answer.witness);
                                        inputs_.push_back(*answer.witness);
                                        ++fuzz_.seeds;
                                        return true;
                                      }));
    fuzz_.seeds_met = coverage.covered_count();
    fuzz_.seed_seconds = seconds_since(options_.start);
    return Ok{};
  }

  // `coverage` holds what the inputs so far covered in the optimized program.
  Result<CheckReport> fuzz(const pair::Corpus& corpus, const CoverageMap& coverage) {
    // Stored inputs come first, so that none is stored again under another name.
    const DistinctInputs stored(corpus.inputs.begin(), corpus.inputs.end());
    for (const SeccompData& data : pair::one_per_edge(after_.program, inputs_, feasible()))
      if (!stored.contains(data))
        RETURN_IF_ERROR(pair::add_input(folder_.path(), pair::kSeedPrefix, data, false));

    const pair::PairSession session(pair_, inputs_);
    if (interrupted()) return finish("interrupted", {});
    pair::FuzzOptions fuzzing = options_.fuzz;
    fuzzing.corpus = folder_.path();
    fuzzing.seen = outcomes(session, coverage);
    ASSIGN_OR_RETURN(auto result, pair::fuzz(session, fuzzing));
    fuzz_.seconds = result.status.seconds;
    fuzz_.runs = result.status.runs;
    fuzz_.evaluations = result.status.evaluations;
    fuzz_.interrupted = result.interrupted;
    fuzz_.last_edge_seconds = result.status.last_edge_seconds;
    for (const Obligation& obligation : infeasible_)
      if (obligation.kind != Obligation::Kind::kLine &&
          result.seen[session.edge(obligation.pc, obligation.kind == Obligation::Kind::kTrue)] != 0)
        return contradiction(fmt::format("an input reached '{}', which is proven infeasible",
                                         describe(obligation, after_.program)));
    if (result.witness && proof_)
      return contradiction(fmt::format("the programs are proven equivalent, but differ on {}",
                                       describe(result.witness->data)));
    return finish({}, result.witness);
  }

  // Returns the number of obligations that are not proven infeasible, so that inputs may meet them.
  [[nodiscard]] std::size_t feasible() const {
    return CoverageMap(after_.program).obligations().size() - infeasible_.size();
  }

  static std::vector<std::uint8_t> outcomes(const pair::PairSession& session,
                                            const CoverageMap& coverage) {
    std::vector<std::uint8_t> out(session.edges());
    for (const Obligation& obligation : coverage.obligations())
      if (obligation.kind != Obligation::Kind::kLine && coverage.covered(obligation))
        out[session.edge(obligation.pc, obligation.kind == Obligation::Kind::kTrue)] = 1;
    return out;
  }

  static Error contradiction(const std::string& what) {
    return make_error(ErrorCode::kInternal, "fuzz", what + "; please report this");
  }

  // Reports a check of all inputs that were run. After an interrupt, nothing more is proven.
  Result<CheckReport> finish(const std::string& not_run, const std::optional<Witness>& found) {
    fuzz_.not_run = not_run;
    ASSIGN_OR_RETURN(auto corpus, pair::read_corpus(folder_.path()));
    CheckOptions checking = options_.check;
    if (checking.engine == Engine::kDd) checking.proof = proof_;
    checking.infeasible = infeasible_;
    checking.inputs_name = "stored inputs, derived inputs or inputs from the prover";
    if (found) {
      checking.inputs_name = "fuzzing";
      inputs_ = {found->data};
    } else {
      inputs_.insert(inputs_.end(), corpus.inputs.begin(), corpus.inputs.end());
    }
    if (!interrupted()) distinct();  // after an interrupt few inputs run, so duplicates cost little
    auto report = check_pair(before_, after_, pair_.sameness, inputs_, checking);
    if (!report) return report;
    fuzz_.added = corpus.inputs.size() - std::min(fuzz_.stored, corpus.inputs.size());
    if (report->witness && !options_.fuzz.corpus.empty()) {
      const SeccompData& data = report->witness->data;
      RETURN_IF_ERROR(pair::add_input(folder_.path(), pair::kFindingPrefix, data));
      if (std::ranges::find(corpus.inputs, data) == corpus.inputs.end()) ++fuzz_.added;
    }
    if (options_.minimize && report->verdict != Verdict::kDifferent && not_run.empty()) {
      const Inputs kept = pair::one_per_edge(after_.program, inputs_, feasible());
      if (!interrupted()) {  // after an interrupt, `kept` may lack inputs
        RETURN_IF_ERROR(pair::replace_inputs(folder_.path(), corpus, kept));
        fuzz_.kept = kept.size();
      }
    }
    if (interrupted() && !checking.prove && report->verdict == Verdict::kPass) {
      report->verdict = Verdict::kUnknown;
      report->reason = "interrupted; " + report->reason;
    }
    report->inputs = derived_;
    report->own_inputs.insert(report->own_inputs.end(), inputs_.begin(), inputs_.end());
    report->fuzz = fuzz_;
    return report;
  }

  void distinct() {
    DistinctInputs seen;
    seen.reserve(inputs_.size());
    std::erase_if(inputs_, [&](const SeccompData& data) { return !seen.insert(data).second; });
  }

  const SideReport& before_;
  const SideReport& after_;
  Pair pair_;
  const CampaignOptions& options_;
  Folder folder_;
  Inputs inputs_;
  std::size_t derived_ = 0;
  std::vector<Obligation> infeasible_;
  std::optional<Proof> proof_;  // made with diagrams before fuzzing
  CampaignReport fuzz_;
};

}  // namespace

Result<CheckReport> campaign(const SideReport& before, const SideReport& after, Sameness sameness,
                             const Derive& derive, const CampaignOptions& options) {
  if (!pair::can_fuzz())
    return make_error(ErrorCode::kUnavailable, "fuzz", "this program was built without libFuzzer");
  return Campaign(before, after, sameness, options).run(derive);
}

}  // namespace secequiv
