#include "harness/base/text.h"

#include <gtest/gtest.h>

#include <array>

#include "harness/base/result.h"

namespace secequiv::base_text_test {
namespace {

TEST(BaseText, ParsesNumbersUpTo64Bits) {
  EXPECT_EQ(parse_unsigned("18446744073709551615"), ~std::uint64_t{0});
  EXPECT_EQ(parse_unsigned("0X1f"), 31u);
  EXPECT_EQ(parse_number("-1"), ~std::uint64_t{0});
  EXPECT_EQ(parse_number("-0x8000000000000000"), std::uint64_t{1} << 63);
  for (const char* bad : {"", "-", "0x", "+1", "--1", " 1", "1 ", "18446744073709551616",
                          "-9223372036854775809", "1u"})
    EXPECT_FALSE(parse_number(bad)) << bad;
  EXPECT_FALSE(parse_unsigned("-1"));
}

TEST(BaseText, CountsInTheSingularAndThePlural) {
  EXPECT_EQ(counted(0, "byte"), "0 bytes");
  EXPECT_EQ(counted(1, "byte"), "1 byte");
  EXPECT_EQ(counted("1", "input"), "1 input");
  EXPECT_EQ(counted("2^448", "input"), "2^448 inputs");
}

TEST(BaseText, RemovesOnlyACompleteByteOrderMark) {
  EXPECT_EQ(without_bom("\xef\xbb\xbf{}"), "{}");
  EXPECT_EQ(without_bom("\xef\xbb{}"), "\xef\xbb{}");
}

TEST(BaseText, PrintableEscapesTerminalControls) {
  EXPECT_EQ(printable("a\x1b[31m\x7f\a", true), "a\\x1b[31m\\x7f\\x07");
  EXPECT_EQ(printable("a\n\tb", true), "a\n\tb");
  EXPECT_EQ(printable("a\nb", false), "a\\x0ab");
  EXPECT_EQ(printable("ünï €\U0001f600", false), "ünï €\U0001f600");
  EXPECT_EQ(printable("\xc2\x9b"
                      "\xc0\x80"
                      "\xed\xa0\x80"
                      "\xf4\x90\x80\x80"
                      "\xc3",
                      false),
            "\\xc2\\x9b\\xc0\\x80\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80\\xc3");
  // XML allows the last of these three and forbids the others.
  EXPECT_EQ(printable("\xef\xbf\xbe\xef\xbf\xbf\xef\xbf\xbd", false),
            "\\xef\\xbf\\xbe\\xef\\xbf\\xbf\xef\xbf\xbd");
  const Error error = make_error(ErrorCode::kParse, "f\n.asm:1:1", "found '\x1b'");
  EXPECT_EQ(error.text(), "f\\x0a.asm:1:1: found '\\x1b'");
}

TEST(BaseText, PrintableEscapesInvisibleCharacters) {
  EXPECT_EQ(printable("a\u202etxt\u200b\ufeff\u061c", true),
            "a\\xe2\\x80\\xaetxt\\xe2\\x80\\x8b\\xef\\xbb\\xbf\\xd8\\x9c");
  EXPECT_EQ(printable("\U000e0041", false), "\\xf3\\xa0\\x81\\x81");
  EXPECT_EQ(printable("\u200a\u2010\u2070\u061b", false), "\u200a\u2010\u2070\u061b");
}

TEST(BaseText, EscapesMarkup) {
  EXPECT_EQ(escaped("<a b=\"1\">&amp;'\n\xff"), "&lt;a b=&quot;1&quot;&gt;&amp;amp;'\n\xff");
}

// The authors of FNV-1a published these values.
TEST(BaseText, HashMatchesPublishedValues) {
  EXPECT_EQ(hash_of(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hash_of("a"), 0xaf63dc4c8601ec8cu);
  EXPECT_EQ(hash_of("foobar"), 0x85944171f73967e8u);
}

TEST(BaseText, SuggestsSimilarNames) {
  EXPECT_EQ(edit_distance("raed", "read"), 1u) << "a swap of neighbours is one edit";
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
  constexpr std::array<std::string_view, 3> kNames = {"args", "names", "includes"};
  EXPECT_EQ(similar_names("include", kNames), std::vector<std::string>{"includes"});
  EXPECT_EQ(similar_names("zzz", kNames), std::vector<std::string>{});
  constexpr std::array<std::string_view, 3> kLong = {"last-fix-up-off-by-one", "alpha", "alpine"};
  EXPECT_EQ(similar_names("last-fixup-off-byone", kLong).size(), 1u)
      << "long names allow more edits";
  EXPECT_EQ(similar_names("alpa", kLong), std::vector<std::string>{"alpha"})
      << "short names allow one edit";
  EXPECT_EQ(similar_names("alpaha", kLong), std::vector<std::string>{"alpha"});
  constexpr std::array<std::string_view, 5> kMany = {"open1", "open2", "open3", "open4", "opn"};
  EXPECT_EQ(similar_names("open5", kMany).size(), 3u);
  constexpr std::array<std::string_view, 2> kWorse = {"capability", "cability"};
  EXPECT_EQ(similar_names("capability", kWorse), std::vector<std::string>{"capability"});
  constexpr std::array<std::string_view, 2> kCases = {"looser", "AF_ALG"};
  EXPECT_EQ(similar_names("LOSER", kCases), std::vector<std::string>{"looser"});
  EXPECT_EQ(similar_names("af_alg", kCases), std::vector<std::string>{"AF_ALG"});
  EXPECT_EQ(did_you_mean({"a", "b"}), "; did you mean a or b?");
  EXPECT_EQ(did_you_mean({}), "");
}

}  // namespace
}  // namespace secequiv::base_text_test
