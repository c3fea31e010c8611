// The HTML page about a pair: one file that needs no network. Owns the values that it shows and how
// they are inserted into the files of page/ (frame, style and scripts). It must not prove, count or
// run anything (analyze/page.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/compare/cache_change.h"
#include "harness/compare/difference.h"
#include "harness/compare/direction.h"
#include "harness/compare/verdict.h"
#include "harness/report/cost.h"
#include "harness/report/pair_notes.h"
#include "harness/report/rule.h"
#include "harness/report/side.h"

namespace secequiv {

// The state of an obligation in one program.
struct PageMark {
  enum class State : std::uint8_t { kCovered, kInfeasible, kOpen };
  State state = State::kOpen;
  // kCovered: an input that meets it; kInfeasible: the reason; kOpen: the limit that ran out
  std::string text;
};

struct PageSide {
  SideReport side;
  std::vector<PageMark> marks;  // in the order of CoverageMap::obligations(); empty: not examined
};

// An input whose execution the reader can step through.
struct PageInput {
  std::string label;
  SeccompData data;
};

// A row of the difference: a region or, if the region has few system calls, its part for one of
// them.
struct PageRegion {
  Effect effect = Effect::kChanged;
  std::string call;  // the name of the call, or the names of several, with their architectures
  std::string arch;  // empty: unknown, or several
  std::string before;
  std::string after;
  std::string when;                  // in words: "if arg0 == AF_ALG"
  std::string condition;             // empty: `call` and `arch` are the whole condition
  std::string count;                 // empty: unknown
  RegionRule rules[2];               // the deciding rules, before and after; no text: unknown
  std::optional<std::size_t> input;  // index in Page::inputs
};

struct PageCost {
  std::string profile;  // "each call once", or a file
  CostReport report;    // compares `before` and `after`
};

// A line of the section about the origin of the page.
struct PageFact {
  std::string name;
  std::string value;
};

// A remark about the pair: a warning, or a note about how a file was read.
struct PageNote {
  std::string text;
  bool warning = false;
  std::vector<std::string> places = {};  // "FILE:LINE (syscalls[1])"; not part of the text
};

// An option of the run.
struct PageOption {
  std::string name;    // "--timeout"
  std::string value;   // empty: a flag
  bool given = false;  // false: it has its default
};

struct Page {
  std::string command;  // "check"
  std::string version;
  Verdict verdict = Verdict::kUnknown;
  std::optional<Direction> direction = {};  // empty: nothing differs, or the direction is unknown
  Arch host = Arch::kX86_64;                // for names
  bool interrupted = false;                 // whether an interrupt left out parts of the page
  std::string reason;                       // one sentence: what decided the verdict
  std::string text;                         // the report for people, shortened
  PageSide sides[2];
  std::vector<PageInput> inputs;    // the first is the witness, if there is one
  std::vector<PageRegion> regions;  // in the order shown
  std::string difference;           // a sentence: how many inputs differ, or why that is not known
  std::optional<PageCost> cost;
  std::vector<CacheChange> cache;
  std::vector<PageFact> provenance;
  std::vector<PageOption> options;
  std::string holds_for = {};        // hosts and containers, for the header; may be empty
  std::vector<PageNote> notes = {};  // the header also shows warnings that have places
  std::string link = {};             // opens the pair in the page of play/; may be empty
  std::string limits = {};           // follows the verdict, as in ReportedCases
};

// A region with at most this many calls gets a row for each call.
constexpr std::size_t kMostSplit = 64;
// Returns a row of the page. `region` comes from by_call() with at most kMostSplit calls.
PageRegion page_region(const Change& change, const Region& region, Arch host);
// Adds a note to the page if a change has more than `shown` regions.
void note_shown(const Change& change, std::size_t shown, Page& page);
// Adds the limits of the answer, and a warning about each part that was not compared.
void add_notes(const PairNotes& notes, Page& page);
// Adds a note that the command also prints to standard error, unless the page has it. In `text`, a
// note's first places may follow; the page's note is then recognized by the beginning of `text`.
void add_note(std::string text, bool warning, Page& page);
// Sorts changes by effect: kOpened, kClosed, kChanged. Of the opened ones, those with the most
// permissive new action come first.
void opened_first(std::vector<Change>& changes);

std::string html(const Page& page);

}  // namespace secequiv
