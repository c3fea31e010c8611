#include "harness/import/import.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <random>
#include <set>

#include "harness/base/file.h"
#include "harness/policy/compile.h"
#include "harness/policy/json.h"
#include "harness/policy/testing.h"

namespace secequiv::import_import_test {
namespace {

namespace fs = std::filesystem;

// Returns every stored policy of another project; its folder determines the format.
std::vector<std::pair<fs::path, PolicyFormat>> foreign_policies() {
  std::vector<std::pair<fs::path, PolicyFormat>> out;
  const fs::path corpus = fs::path(SECEQUIV_SOURCE_DIR) / "corpus";
  for (const auto& entry : fs::directory_iterator(corpus / "policies" / "oci"))
    out.emplace_back(entry.path(), PolicyFormat::kOci);
  for (const auto& entry : fs::recursive_directory_iterator(corpus / "imports"))
    if (const auto format = policy_format_from_name(entry.path().parent_path().filename().string());
        format && std::set<fs::path>{".json", ".policy", ".pfc"}.contains(entry.path().extension()))
      out.emplace_back(entry.path(), *format);
  std::ranges::sort(out);
  return out;
}

// Selects the first filter in files that have several.
ImportOptions options_for(const fs::path& path) {
  ImportOptions options;
  if (path.filename() == "vmm.json") options.filter = "vmm";
  if (path.filename() == "every.json") options.filter = "oddities";
  return options;
}

std::string content(const fs::path& path) {
  auto text = read_file(path.string());
  EXPECT_TRUE(text) << path;
  return text ? *text : "";
}

TEST(Import, ContentDeterminesTheFormat) {
  std::set<PolicyFormat> seen = {PolicyFormat::kOwn};
  for (const auto& [path, format] : foreign_policies()) {
    seen.insert(format);
    const std::string text = content(path);
    EXPECT_TRUE(is_policy(text)) << path;
    const auto detected = import_policy(text, "file", std::nullopt, options_for(path));
    const auto chosen = import_policy(text, "file", format, options_for(path));
    ASSERT_TRUE(detected && chosen) << path << (detected ? "" : detected.error().text());
    EXPECT_EQ(detected->policy, chosen->policy) << path;
    EXPECT_TRUE(read_policy(write_policy(detected->policy), "written")) << path;
    for (const std::string& other : policy_format_names())
      if (other != policy_format_name(format) && other != "minijail-compiler") {
        EXPECT_FALSE(import_policy(text, "file", policy_format_from_name(other), options_for(path)))
            << path << " as " << other;
      }
  }
  EXPECT_EQ(seen.size(), policy_format_names().size()) << "some format has no file";
}

TEST(Import, AcceptsCarriageReturns) {
  for (const auto& [path, format] : foreign_policies()) {
    std::string text = "\r\n";
    for (const char c : content(path)) text += c == '\n' ? std::string("\r\n") : std::string(1, c);
    const auto detected = import_policy(text, "file", std::nullopt, options_for(path));
    const auto plain = import_policy(content(path), "file", format, options_for(path));
    ASSERT_TRUE(detected && plain) << path << (detected ? "" : detected.error().text());
    EXPECT_EQ(detected->policy, plain->policy) << path;
  }
}

TEST(Import, FormatNamesRoundTrip) {
  for (const std::string& name : policy_format_names()) {
    ASSERT_TRUE(policy_format_from_name(name));
    EXPECT_EQ(policy_format_name(*policy_format_from_name(name)), name);
  }
  EXPECT_FALSE(policy_format_from_name("xml"));
}

TEST(Import, ProgramsAreNotPolicies) {
  for (const char* text :
       {"", "ld [0]\nret #0\n", "ok: ret #0\n", "{ 0x20, 0, 0, 4 },\n", "{ .code = 6 }",
        "1\n6 0 0 0\n", "; read: 1\nret #0", "/* {} */ ret #0", "#define X 1\nBPF_STMT(6, X)",
        "{ BPF_RET, 0, 0, 0 }", "// read: 1\n{ 6, 0, 0, 0 }", "# read\nret #1"})
    EXPECT_FALSE(is_policy(text)) << text;
  EXPECT_FALSE(is_policy(std::string_view("\6\0\0\0\0\0\0\0", 8)));
}

// Truncated or damaged files of every format must be read or give an error.
TEST(Import, DamagedFilesNeverCrash) {
  std::mt19937 random(7);
  for (const auto& [path, format] : foreign_policies()) {
    const std::string whole = content(path);
    const ImportOptions options = options_for(path);
    const auto attempt = [&](const std::string& text) {
      const auto result = import_policy(text, "file", format, options);
      if (result) {
        EXPECT_TRUE(read_policy(write_policy(result->policy), "written")) << path;
      } else {
        EXPECT_FALSE(result.error().detail.empty() || result.error().where.empty()) << path;
      }
      (void)is_policy(text);
    };
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 40);
    for (std::size_t size = 0; size < whole.size(); size += step) attempt(whole.substr(0, size));
    for (int i = 0; i < 40; ++i) {
      std::string text = whole;
      for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
        const std::size_t at = random() % text.size();
        const std::size_t other = random() % text.size();
        switch (random() % 4) {
          case 0:
            text[at] = static_cast<char>(random());
            break;
          case 1:
            text.erase(at, random() % 20);
            break;
          case 2:
            text[at] = text[other];
            break;
          default:
            text.insert(at, text.substr(other, random() % 20));
        }
      }
      attempt(text);
    }
  }
}

}  // namespace
}  // namespace secequiv::import_import_test
