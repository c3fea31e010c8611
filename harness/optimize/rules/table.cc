#include <array>

#include "harness/optimize/rules/passes.h"

namespace secequiv::detail {
namespace {

constexpr std::array kRows = {
    RulePassRow{
        "unwrap-single", "An any_of or all_of with only one condition equals this condition.",
        R"({"any_of":[{"args":{"0":{"eq":1}}}]})", R"({"args":{"0":{"eq":1}}})", unwrap_single},
    RulePassRow{
        "flatten-nested",
        "An any_of within an any_of can be merged into it, and so can an all_of within an all_of.",
        R"({"any_of":[{"args":{"0":{"eq":1}}},{"any_of":[{"args":{"0":{"eq":5}}},{"args":{"1":{"eq":2}}}]}]})",
        R"({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"0":{"eq":5}}},{"args":{"1":{"eq":2}}}]})",
        flatten_nested},
    RulePassRow{
        "drop-duplicates",
        "A condition that appears twice in one any_of or all_of is needed only once.",
        R"({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"1":{"eq":1}}},{"args":{"0":{"eq":1}}}]})",
        R"({"any_of":[{"args":{"0":{"eq":1}}},{"args":{"1":{"eq":1}}}]})", drop_duplicates},
    RulePassRow{"any-of-match-all",
                "If one branch of any_of always matches, the others have no effect.",
                R"({"any_of":[{"args":{"0":{"eq":1}}},true]})", "true", any_of_match_all},
    RulePassRow{"all-of-match-all", "A condition that always holds needs no test.",
                R"({"all_of":[{"args":{"0":{"eq":1}}},true,{"args":{"1":{"eq":2}}}]})",
                R"({"all_of":[{"args":{"0":{"eq":1}}},{"args":{"1":{"eq":2}}}]})",
                all_of_match_all},
    RulePassRow{
        "all-any-args",
        "A test that every value passes can be removed; a rule without tests always matches.",
        R"({"args":{"0":{"ge":0},"1":{"masked_eq":{"mask":0,"value":0}}}})", "true", all_any_args},
    RulePassRow{
        "fd-as-bits",
        "Tests for non-negative descriptors and bit allowlists only test whether certain bits are "
        "0.",
        R"({"args":{"0":"non_negative_fd","1":{"bits_allowlist":3,"bits":32}}})",
        R"({"args":{"0":{"masked_eq":{"mask":18446744071562067968,"value":0}},"1":{"masked_eq":{"mask":4294967292,"value":0},"bits":32}}})",
        fd_as_bits},
    RulePassRow{
        "split-halves",
        "Two words are equal, with or without a mask, if both of their halves are equal.",
        R"({"args":{"0":{"eq":4294967303}}})",
        R"({"all_of":[{"args":{"0":{"masked_eq":{"mask":18446744069414584320,"value":4294967296}}}},{"args":{"0":{"eq":7,"bits":32}}}]})",
        split_halves},
    RulePassRow{
        "extract-common",
        "A condition that several branches of any_of share needs only one test, before the rest of "
        "these branches.",
        R"({"any_of":[{"args":{"0":{"eq":1},"1":{"eq":5}}},{"args":{"0":{"eq":1},"1":{"eq":9}}},{"args":{"2":{"eq":3}}}]})",
        R"({"any_of":[{"all_of":[{"args":{"0":{"eq":1}}},{"any_of":[{"args":{"1":{"eq":5}}},{"args":{"1":{"eq":9}}}]}]},{"args":{"2":{"eq":3}}}]})",
        extract_common},
    RulePassRow{
        "value-set-to-bits",
        "If a set contains all values that differ only in certain bits, the other bits alone "
        "decide.",
        R"({"any_of":[{"args":{"1":{"eq":0,"bits":32}}},{"args":{"1":{"eq":1,"bits":32}}},{"args":{"1":{"eq":128,"bits":32}}},{"args":{"1":{"eq":129,"bits":32}}}]})",
        R"({"args":{"1":{"masked_eq":{"mask":4294967166,"value":0},"bits":32}}})",
        value_set_to_bits},
};

}  // namespace

std::span<const RulePassRow> rule_pass_rows() { return kRows; }

}  // namespace secequiv::detail
