// Access to JSON documents for our policy reader and the importers. Owns the cursor, which knows
// its JSON pointer and names it in the errors of its typed getters. It must not know any policy
// format.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "harness/base/result.h"
#include "harness/policy/policy.h"

namespace secequiv {

// The line of a JSON value, and the lines of the values inside it. A member of an object has its
// key's line.
struct JsonLines {
  std::size_t line = 1;
  std::map<std::string, JsonLines, std::less<>> members = {};
  std::vector<JsonLines> items = {};
};

struct JsonDocument {
  nlohmann::json value;
  JsonLines lines;
};

// Like parse_json (json.h), but also returns the lines of all values.
Result<JsonDocument> parse_json_lines(std::string_view text, const std::string& name);

// The problem with a policy whose architectures are x32 without x86_64.
inline constexpr std::string_view kLoneX32 =
    "x32 needs x86_64 beside it: both have the same architecture value, so a policy for x32 also "
    "decides the calls of x86_64";

// Returns "line 12 (syscalls[3], includes CAP_KILL)", without the file.
std::string place_in_file(const RulePosition& position);

// A JSON value and its position in the document. The position is computed only when an error needs
// it. A cursor must not outlive its parent.
class JsonCursor {
 public:
  // A document that was not read from text has no lines, and its values have no positions.
  JsonCursor(const nlohmann::json& value, std::string file)
      : value_(&value), file_(std::move(file)) {}
  JsonCursor(const JsonDocument& document, std::string file)
      : value_(&document.value), lines_(&document.lines), file_(std::move(file)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return parent_ != nullptr ? parent_->file() : file_; }
  JsonCursor at(const std::string& key) const;
  JsonCursor at(std::size_t index) const;
  std::string pointer() const;
  // Returns the path as people write it: "rule_sets[0].rules.read".
  [[nodiscard]] std::string path() const;
  // Returns a position with this line and the path `path`, if the document has lines.
  [[nodiscard]] PositionRef position(const std::string& path) const;
  // Returns the place in the file for notes, or the JSON pointer if the document has no lines.
  [[nodiscard]] std::string place() const;
  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  // Returns whether the key has a value other than null.
  bool given(const std::string& key) const { return has(key) && !value_->at(key).is_null(); }

  // Returns a kPolicy error with this position.
  Error fail(std::string detail) const;
  // Returns the error "expected WHAT, found VALUE", with the value shortened.
  Error expected(std::string_view what) const;

  Result<std::string> string(std::string_view what) const;
  Result<std::uint32_t> number32(std::string_view what) const;
  Result<std::uint64_t> number64() const;
  // Returns an error for keys that are not in `known`.
  Status object_with(std::initializer_list<std::string_view> known) const;
  // Returns an error if the object lacks one of `keys`.
  Status required(std::initializer_list<const char*> keys) const;
  Status array(std::string_view what) const;

 private:
  JsonCursor(const nlohmann::json& value, const JsonLines* lines, const JsonCursor& parent,
             const std::string* key, std::size_t index)
      : value_(&value), lines_(lines), parent_(&parent), key_(key), index_(index) {}

  const nlohmann::json* value_;
  const JsonLines* lines_ = nullptr;
  std::string file_;  // set in the root cursor only
  const JsonCursor* parent_ = nullptr;
  const std::string* key_ = nullptr;  // the key in the parent; null if the parent is an array
  std::size_t index_ = 0;
};

}  // namespace secequiv
