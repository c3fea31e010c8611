// The HTML page about a pair: one file that needs no network. Owns the values that it shows and how
// they get into the file (page/: the frame, style and scripts). It must not prove, count or run
// anything (analyze/page.h).
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/cache_change.h"
#include "harness/compare/difference.h"
#include "harness/compare/verdict.h"
#include "harness/coverage/cost.h"
#include "harness/report/side.h"

namespace secequiv {

// The state of an obligation in one program.
struct PageMark {
  enum class State : std::uint8_t { kCovered, kInfeasible, kOpen };
  State state = State::kOpen;
  std::string text;  // kCovered: an input that meets it; kInfeasible: why; kOpen: what ran out
};

struct PageSide {
  SideReport side;
  std::vector<PageMark> marks;  // in the order of CoverageMap::obligations(); empty: not examined
};

// An input that can be stepped through.
struct PageInput {
  std::string label;
  SeccompData data;
};

// What a difference does to the caller.
enum class Effect : std::uint8_t { kOpened, kClosed, kChanged };
Effect effect_of(const ReturnValue& before, const ReturnValue& after);

// One region of the difference, limited to one system call if it consists of few.
struct PageRegion {
  Effect effect = Effect::kChanged;
  std::string call;  // a name, or the names of several, with their architectures
  std::string arch;  // empty: unknown, or several
  std::string before;
  std::string after;
  std::string when;  // in words: "if arg0 == AF_ALG"
  std::string condition;
  std::string count;                 // empty: unknown
  std::string rules[2];              // that decide before and after; empty: unknown
  std::optional<std::size_t> input;  // of Page::inputs
};

struct PageCost {
  std::string profile;             // "each call once", or a file
  std::string programs[2];         // the two that are counted, with their lengths
  std::vector<CallCost> calls[2];  // of before and after, the same calls in the same order
  WorstInput worst[2];
  bool exact[2] = {true, true};  // over all inputs, or of derived ones only
};

// A line of the section about the origin of the page.
struct PageFact {
  std::string name;
  std::string value;
};

// An option of the run.
struct PageOption {
  std::string name;    // "--timeout"
  std::string value;   // empty: a flag
  bool given = false;  // or at its default
};

struct Page {
  std::string command;  // "check"
  std::string version;
  Verdict verdict = Verdict::kUnknown;
  std::string direction;  // the headline; empty: nothing differs, or it is not known
  std::string reason;     // one sentence: what decided the verdict
  std::string text;       // the report for people, shortened
  PageSide sides[2];
  std::vector<PageInput> inputs;    // the first is the witness, if there is one
  std::vector<PageRegion> regions;  // in the order shown
  std::array<bool, 3> partial{};    // by Effect: some of its regions are not among these
  std::string difference;           // a sentence: how many inputs differ, or why that is not known
  std::optional<PageCost> cost;
  std::vector<CacheChange> cache;
  std::vector<PageFact> provenance;
  std::vector<PageOption> options;
};

constexpr std::size_t kMostSplit = 64;  // calls of a region that have a row each
// `region`: one of by_call(), at most kMostSplit calls.
PageRegion page_region(const Change& change, const Region& region, Arch host);
// Notes on the page if `shown` regions of a change are not all.
void note_shown(const Change& change, std::size_t shown, Page& page);
// Sorts what is more permissive now before what is less.
void opened_first(std::vector<Change>& changes);

std::string html(const Page& page);

}  // namespace secequiv
