#include "harness/optimize/pass.h"

#include <algorithm>
#include <array>
#include <vector>

#include "harness/optimize/bytecode/features.h"
#include "harness/optimize/bytecode/passes.h"
#include "harness/optimize/layout/passes.h"
#include "harness/optimize/rules/passes.h"

namespace secequiv {
namespace {

// open and close have the same decision. read, write, mmap and brk also share one. futex is hot.
constexpr std::string_view kSome =
    R"j([{"action": "allow", "rules": {"read": true, "write": true, "open": {"args": {"0": {"le": 9}}}, "close": {"args": {"0": {"le": 9}}}, "mmap": true, "brk": true, "poll": {"args": {"0": {"eq": 3}}}, "lseek": {"args": {"0": {"eq": 4}}}, "ioctl": {"args": {"1": {"eq": 2}}}, "futex": {"args": {"1": {"eq": 1}}}}},
    {"action": "kill_process", "rules": {"ptrace": true}}])j";
constexpr std::string_view kMany =
    R"j([{"action": "allow", "rules": {"read": true, "open": true, "stat": true, "lstat": true, "lseek": true, "mprotect": true, "brk": true, "pread64": true, "readv": true, "access": true, "select": true, "mremap": true, "mincore": true, "shmget": true, "shmctl": true, "dup2": true, "futex": {"args": {"1": {"eq": 1}}}}}])j";

constexpr std::array kLayoutPasses = {
    Pass{"drop-default-calls", "The list can omit numbers that get the default decision.", kSome,
         "list: read ALLOW, write ALLOW, open ?2, close ?3, poll ?4, lseek ?5, mmap ALLOW, brk "
         "ALLOW, ioctl ?8, futex ?9\n",
         detail::drop_default_calls},
    Pass{"share-equal-code", "Numbers with the same decision can share one piece of code.", kSome,
         "list: read ALLOW, write ALLOW, open ?2, close ?2, poll ?4, lseek ?5, mmap ALLOW, brk "
         "ALLOW, ioctl ?8, futex ?9\n",
         detail::share_equal_code},
    Pass{"hot-first", "No number is listed twice, so the most frequent ones may be tested first.",
         kSome,
         "list: futex ?9\n"
         "list: read ALLOW, write ALLOW, open ?2, close ?2, poll ?4, lseek ?5, mmap ALLOW, brk "
         "ALLOW, ioctl ?8\n",
         detail::hot_first},
    Pass{"cacheable-last",
         "No number is listed twice, so calls that the kernel allows from its cache may be tested "
         "last.",
         kSome,
         "list: futex ?9\n"
         "list: open ?2, close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read ALLOW, write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::cacheable_last},
    Pass{"search-trees",
         "A sorted list allows a binary search, which may test frequent numbers first.", kSome,
         "list: futex ?9\n"
         "tree: open ?2, close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read ALLOW, write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::search_trees},
    Pass{"single-tree", "A sorted list allows a binary search, however frequent each call is.",
         kMany,
         "tree: read ALLOW, open ALLOW, stat ALLOW, lstat ALLOW, lseek ALLOW, mprotect ALLOW, brk "
         "ALLOW, pread64 ALLOW, readv ALLOW, access ALLOW, select ALLOW, mremap ALLOW, mincore "
         "ALLOW, shmget ALLOW, shmctl ALLOW, dup2 ALLOW, futex ?16\n",
         detail::single_tree},
    Pass{"merge-neighbours", "Consecutive numbers with the same code can be found by their bounds.",
         kSome,
         "list: futex ?9\n"
         "tree: open..close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read..write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::merge_neighbours},
    Pass{"pinned-bounds",
         "If the bounds of a search leave only one possible number, no test is needed.", kSome,
         "list: futex ?9\n"
         "tree pinned: open..close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read..write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::pinned_bounds},
    Pass{"large-code-apart",
         "Code may be placed anywhere after the jumps to it, and moving long code out of a search "
         "shortens the jumps of the search.",
         kSome,
         "list: futex ?9\n"
         "tree pinned apart>16: open..close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read..write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::large_code_apart},
    Pass{"code-apart", "Code may be placed anywhere after the jumps to it.", kSome,
         "list: futex ?9\n"
         "tree pinned apart: open..close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read..write ALLOW, mmap ALLOW, brk ALLOW\n",
         detail::code_apart},
    Pass{"value-trees",
         "Branches for different values of one argument exclude each other, so a binary search can "
         "find the value.",
         kSome,
         "list: futex ?9\n"
         "tree pinned apart>16: open..close ?2, poll ?4, lseek ?5, ioctl ?8\n"
         "list: read..write ALLOW, mmap ALLOW, brk ALLOW\n"
         "trees of values\n",
         detail::value_trees},
};

constexpr std::array kBytecodePasses = {
    Pass{"thread-conditional-jumps",
         "A conditional jump to an unconditional jump may go directly to the target of the latter, "
         "if the offset fits into 8 bits.",
         "ld [0]\njeq #1, z, b\nz: ja c\nb: ret #0\nc: ret #1\n",
         "ld [0]\njeq #1, c, b\nz: ja c\nb: ret #0\nc: ret #1\n", detail::thread_conditional_jumps,
         detail::has_jumps},
    Pass{"thread-jumps",
         "An unconditional jump to another may jump directly to the end of the chain.",
         "ja z\nret #0\nz: ja b\nret #1\nb: ret #2\n", "ja b\nret #0\nz: ja b\nret #1\nb: ret #2\n",
         detail::thread_jumps, detail::has_jumps},
    Pass{"skip-redundant-loads",
         "A jump to a load of the input word that A already holds may skip the load.",
         "ld [0]\njeq #1, z, b\nret #9\nz: ld [0]\nb: ret a\n",
         "ld [0]\njeq #1, b, b\nret #9\nz: ld [0]\nb: ret a\n", detail::skip_redundant_loads,
         detail::loads_again},
    Pass{"skip-decided-tests",
         "If the condition of a jump decides the test at its target, the jump may go directly to "
         "the outcome of that test.",
         "ld [0]\njgt #7, z, b\nb: ret #0\nz: jgt #5, c, d\nc: ret #1\nd: ret #2\n",
         "ld [0]\njgt #7, c, b\nb: ret #0\nz: jgt #5, c, d\nc: ret #1\nd: ret #2\n",
         detail::skip_decided_tests, nullptr, true},
    Pass{"fewer-tests",
         "Tests of A against constants only find the range of A, and fewer tests may find the "
         "same ranges.",
         "ld [0]\njge #7, z, y\ny: jeq #6, d, c\nz: jgt #7, c, d\nc: ret #1\nd: ret #2\n",
         "ld [0]\njeq #6, d, z\nz: jeq #7, d, c\nc: ret #1\nd: ret #2\n", detail::fewer_tests,
         nullptr, true},
    Pass{"merge-equal-targets",
         "A conditional jump with two equal targets is an unconditional jump.",
         "ld [0]\njeq #1, z, z\nz: ret #0\n", "ld [0]\nja z\nz: ret #0\n",
         detail::merge_equal_targets, detail::has_equal_targets},
    Pass{"replace-jumps-to-returns", "A return may replace a jump to it.",
         "ja z\nret #0\nz: ret #1\n", "ret #1\nret #0\nz: ret #1\n",
         detail::replace_jumps_to_returns, detail::has_jumps},
    Pass{"remove-null-jumps", "An unconditional jump to the next instruction does nothing.",
         "ld [0]\nja z\nz: ret a\n", "ld [0]\nret a\n", detail::remove_null_jumps,
         detail::has_null_jumps},
    Pass{"remove-unreachable", "An instruction that no path reaches never runs.",
         "ret #1\nld [0]\nret a\n", "ret #1\n", detail::remove_unreachable},
    Pass{"remove-redundant-loads",
         "Loading the input word that A already holds on every path changes nothing.",
         "ld [0]\njeq #1, z, b\nz: ld [0]\nb: ret a\n", "ld [0]\njeq #1, b, b\nb: ret a\n",
         detail::remove_redundant_loads, detail::loads_again},
    Pass{"remove-dead-writes", "Writing a register that nothing reads afterwards changes nothing.",
         "ld [4]\nldx #1\nld [0]\nret a\n", "ld [0]\nret a\n", detail::remove_dead_writes},
    Pass{
        "merge-returns",
        "Equal returns are interchangeable, so the pass keeps only as many as the jumps can reach.",
        "ld [0]\njeq #1, z, b\nb: jeq #2, c, d\nz: ret #1\nc: ret #1\nd: ret #0\n",
        "ld [0]\njeq #1, c, b\nb: jeq #2, c, d\nz: ret #1\nc: ret #1\nd: ret #0\n",
        detail::merge_returns},
    Pass{"merge-equal-code",
         "If the same instructions follow at two places, a jump may go to either place.",
         "ld [0]\njeq #1, z, b\nz: ld [4]\nret a\nb: ld [8]\njeq #2, c, d\nc: ld [4]\nret a\nd: "
         "ret #0\n",
         "ld [0]\njeq #1, c, b\nz: ld [4]\nret a\nb: ld [8]\njeq #2, c, d\nc: ld [4]\nret a\nd: "
         "ret #0\n",
         detail::merge_equal_code},
};

const std::vector<Pass>& table() {
  static const std::vector<Pass> passes = [] {
    std::vector<Pass> out;
    for (const detail::RulePassRow& row : detail::rule_pass_rows())
      out.push_back({row.name, row.law, row.example_before, row.example_after, row.run});
    out.insert(out.end(), kLayoutPasses.begin(), kLayoutPasses.end());
    out.insert(out.end(), kBytecodePasses.begin(), kBytecodePasses.end());
    return out;
  }();
  return passes;
}

std::span<const Pass> of_kind(Pass::Kind kind) {
  const auto all = std::ranges::equal_range(table(), kind, {}, &Pass::kind);
  return {all.begin(), all.end()};
}

}  // namespace

std::span<const Pass> all_passes() { return table(); }
std::span<const Pass> rule_passes() { return of_kind(Pass::Kind::kRules); }
std::span<const Pass> layout_passes() { return of_kind(Pass::Kind::kLayout); }
std::span<const Pass> bytecode_passes() { return of_kind(Pass::Kind::kBytecode); }

const Pass* find_pass(std::string_view name) {
  const auto found = std::ranges::find(table(), name, &Pass::name);
  return found == table().end() ? nullptr : &*found;
}

std::string_view kind_name(Pass::Kind kind) {
  constexpr std::array<std::string_view, 3> kNames = {"rules", "layout", "bytecode"};
  return kNames[static_cast<std::size_t>(kind)];
}

}  // namespace secequiv
