// Tests the page's header and tables with values made by hand.
#include "harness/report/page.h"

#include <gtest/gtest.h>

#include "harness/report/direction.h"
#include "harness/report/page_header.h"
#include "harness/report/page_tables.h"

namespace secequiv::report_page_test {
namespace {

Direction::Part calls(std::uint32_t count) {
  Direction::Part out;
  for (std::uint32_t nr = 0; nr < count; ++nr) out.calls.push_back({Arch::kX86_64, nr, true});
  return out;
}

Page different() {
  Page out;
  out.verdict = Verdict::kDifferent;
  out.sides[0].side.name = "a";
  out.sides[1].side.name = "b";
  out.direction.emplace();
  return out;
}

TEST(PageHeader, TitleAndColourFollowTheDirection) {
  Page page = different();
  page.direction->stricter = calls(1);
  EXPECT_EQ(title_html(page), "only stricter: a → b");
  EXPECT_EQ(tone(page), "closed");
  page.direction->complete = false;  // other inputs may have become more permissive
  EXPECT_EQ(title_html(page), "different: a → b");
  EXPECT_EQ(tone(page), "changed");
  page.direction->looser = calls(1);
  EXPECT_EQ(title_html(page), "LOOSER: a → b");
  EXPECT_EQ(tone(page), "opened");
  page.verdict = Verdict::kRejected;
  EXPECT_EQ(title_html(page), "rejected, LOOSER: a → b");
  *page.direction = Direction();
  page.direction->changed = calls(1);
  page.verdict = Verdict::kDifferent;
  EXPECT_EQ(title_html(page), "only data changed: a → b");
  EXPECT_EQ(tone(page), "changed");
  page.direction.reset();
  page.verdict = Verdict::kEquivalent;
  EXPECT_EQ(title_html(page), "equivalent: a → b");
  EXPECT_EQ(tone(page), "good");
}

TEST(PageHeader, LongListsOfNamesCanBeClosedAndLoseNoName) {
  Page page = different();
  page.direction->allowed = calls(35);
  std::string text = direction_html(page);
  // It reads as one list if the summary is not shown.
  EXPECT_NE(text.find("<details open><summary> <span>and 25 more</span></summary>, "),
            std::string::npos)
      << text;
  for (const Direction::Call& call : page.direction->allowed.calls)
    EXPECT_NE(text.find(syscall_name(call.arch, call.nr)), std::string::npos) << call.nr;
  page.direction->allowed = calls(11);
  EXPECT_EQ(direction_html(page).find("<details"), std::string::npos);
}

TEST(PageHeader, ShowsThatTheRunWasInterrupted) {
  Page page = different();
  EXPECT_EQ(interrupted_html(page), "");
  page.interrupted = true;
  EXPECT_NE(html(page).find("The run was interrupted"), std::string::npos);
}

TEST(PageHeader, ShowsLimitsBesideTheVerdictAndLinksThePartsNotCompared) {
  Page page = different();
  EXPECT_EQ(verdict_html(page), "<span class=\"verdict\">different</span>");
  PairNotes notes;
  for (const std::size_t line : {7u, 9u})
    notes.not_compared.push_back({"<a>.json", line, "syscalls[2]"});
  add_notes(notes, page);
  EXPECT_EQ(verdict_html(page),
            "<span class=\"verdict\">different</span><span class=\"limits\"> for these "
            "capabilities and this kernel (2 entries were not compared)</span>");
  EXPECT_NE(interrupted_html(page).find(": <a href=\"#notes\">2 parts</a></p>"), std::string::npos)
      << interrupted_html(page);
  // The same warning with its first places, as on standard error, adds nothing.
  add_note(notes.short_warning(), true, page);
  add_note("skipped <b>", false, page);
  add_note("skipped <b>", false, page);
  const std::string text = notes_html(page.notes);
  for (const char* const part :
       {"<li><code>&lt;a&gt;.json:7 (syscalls[2])</code></li>\n<li><code>&lt;a&gt;.json:9 ",
        "<summary>1 note about how the files were read</summary>\n<ul>\n<li>skipped "
        "&lt;b&gt;</li>"})
    EXPECT_NE(text.find(part), std::string::npos) << text;
  EXPECT_EQ(text.find("which were not compared"), text.rfind("which were not compared"));
  EXPECT_EQ(notes_html({}), "");
}

// The cards count calls as the line does, not rows of the table.
TEST(PageCards, CountCallsAsTheDirectionDoes) {
  Page page = different();
  page.direction->allowed = calls(3);
  page.direction->looser = calls(2);  // two of the three, for other arguments
  page.direction->stricter = calls(static_cast<std::uint32_t>(380));
  page.direction->stricter.unnamed = {Arch::kX86_64};
  const std::string text = difference_html(page);
  EXPECT_NE(text.find("<span class=\"card opened\"><b>3</b> calls opened</span>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<b>0</b> calls changed"), std::string::npos);
  const CallCount closed =
      count_calls(*page.direction, Arch::kX86_64,
                  std::vector<const Direction::Part*>{&page.direction->stricter});
  EXPECT_NE(text.find("<b>" + closed.calls + "</b> calls closed <small>and numbers without a name"),
            std::string::npos)
      << text;
  EXPECT_NE(direction_line(*page.direction, Arch::kX86_64).find("stricter: " + closed.calls),
            std::string::npos);
  page.direction->complete = false;
  EXPECT_NE(difference_html(page).find("at least <b>3</b> calls opened"), std::string::npos);
}

TEST(PageCards, ShowTheWordEveryIfAllCallsAreAffected) {
  Page page = different();
  page.direction->by_number = true;
  for (const Arch arch : {Arch::kX86_64, Arch::kX32})
    for (const SyscallEntry& entry : arch_info(arch).syscalls)
      page.direction->allowed.calls.push_back({arch, entry.nr, true});
  for (const SyscallEntry& entry : arch_info(Arch::kI386).syscalls)
    if (!has_name(Arch::kX86_64, entry.nr))
      page.direction->allowed.calls.push_back({Arch::kI386, entry.nr, true});
  page.direction->allowed.unnamed = {Arch::kX86_64};
  EXPECT_NE(difference_html(page).find("<b>every</b> call opened"), std::string::npos);
}

TEST(PageDifference, RowsListCallsAlphabeticallyUnlessAllAreAffected) {
  const auto call = [](std::vector<WordSet> words) {
    const Change change{{0, 0}, {0x7fff0000, 0x7fff0000}, {}};
    return page_region(change, Region{std::move(words), ""}, Arch::kX86_64).call;
  };
  WordSet arg;
  arg.word = 4;
  arg.intervals = {{3, 3}};
  WordSet arch = arg;
  arch.word = kArchWord;
  arch.intervals = {{0xc000003e, 0xc000003e}};
  WordSet nr = arg;
  nr.word = kNrWord;
  nr.intervals = {{0, 3}};
  EXPECT_EQ(call({arg}), "every system call");
  EXPECT_EQ(call({arch, arg}), "every system call on x86_64");
  EXPECT_EQ(call({nr, arch}), "x86_64 close, open, read, write");
}

TEST(PageDifference, LongMasksOfFlagsMayBreakAfterEachFlag) {
  Page page = different();
  page.regions.resize(1);
  page.regions[0].when = "if arg0 & (A|B) != 0";
  page.regions[0].condition = "nr == 3 && arg0 & (A|B) != 0";
  const std::string text = difference_html(page);
  EXPECT_NE(text.find("if arg0 &amp; (A|<wbr>B) != 0"), std::string::npos) << text;
  EXPECT_NE(text.find("nr == 3 &amp;&amp; arg0 &amp; (A|<wbr>B) != 0</small>"), std::string::npos);
}

TEST(PageDifference, RowsHaveShortNamesOfFilesAndTheWholePathAsTitle) {
  Page page = different();
  const auto rule = [](const char* file) {
    RegionRule out{{"a rule", {}, false}, true};
    out.rule.position.at = std::make_shared<RulePosition>(RulePosition{file, 7, "syscalls[2]"});
    return out;
  };
  page.regions.resize(1);
  page.regions[0].rules[0] = rule("/long/way/old.json");
  page.regions[0].rules[1] = rule("/long/<way>/new.json");
  std::string text = difference_html(page);
  EXPECT_NE(text.find("<small title=\"/long/way/old.json\">old.json:7 (syscalls[2])</small>"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<small title=\"/long/&lt;way&gt;/new.json\">new.json:7 "),
            std::string::npos);
  page.regions[0].rules[1] = rule("/long/other/old.json");
  text = difference_html(page);
  EXPECT_NE(text.find("\">way/old.json:7 ("), std::string::npos) << text;
  EXPECT_NE(text.find("\">other/old.json:7 ("), std::string::npos) << text;
}

TEST(PageCost, MarksInexactCosts) {
  PageCost cost{"each call once", {}};
  for (const bool exact : {true, false}) {
    CostReport::Side& side = cost.report.sides.emplace_back();
    side.name = exact ? "a.json" : "b.bpf";
    side.filters = {{side.name, exact ? "compiled, not optimized" : "", 9}};
    CallCost& call = side.calls.emplace_back();
    call.name = "read";
    call.calls = 1;
    call.least = call.most = 4;
    call.mean = 4;
    side.exact = {exact ? std::optional(ExactCost{}) : std::nullopt};
    side.worst = {SeccompData{}, 11};
    side.worst_exact = exact;
  }
  const std::string text = cost_html(cost);
  EXPECT_NE(text.find("Worst case: 11 before ("), std::string::npos) << text;
  EXPECT_NE(text.find("11 or more after ("), std::string::npos) << text;
  EXPECT_NE(text.find("</span>4 / 4.0 / 4<"), std::string::npos) << text;
  EXPECT_NE(text.find("</span>4 / 4.0 / 4 ~<"), std::string::npos) << text;
  EXPECT_NE(text.find(">1.00~<"), std::string::npos) << text;
  EXPECT_LT(text.find("<b>~</b> over derived inputs only"), text.find("<table>")) << text;
  EXPECT_NE(text.find("Before: a.json, compiled, not optimized, 9 instructions."),
            std::string::npos);
}

}  // namespace
}  // namespace secequiv::report_page_test
