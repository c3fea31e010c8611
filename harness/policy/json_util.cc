#include "harness/policy/json_util.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <vector>

#include "harness/base/text.h"
#include "harness/policy/json.h"

namespace secequiv {
namespace {

// gVisor's rule trees, exported as they are, nest to 117 levels (alternatives added one by one).
constexpr int kMaxDepth = 1000;

std::string escape_pointer(const std::string& key) {
  std::string out;
  for (const char c : key) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string position(std::string_view text, std::size_t byte, const std::string& name) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
  }
  return fmt::format("{}:{}:{}", name, line, column);
}

// Hands the text to the parser and counts what it has read, which its callbacks do not say.
class Reading {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Reading(std::string_view::const_iterator at, std::size_t& count) : at_(at), count_(&count) {}
  reference operator*() const { return *at_; }
  Reading& operator++() {
    ++at_;
    ++*count_;
    return *this;
  }
  friend bool operator==(const Reading& a, const Reading& b) { return a.at_ == b.at_; }

 private:
  std::string_view::const_iterator at_;
  std::size_t* count_;
};

}  // namespace

JsonCursor JsonCursor::at(const std::string& key) const {
  return {value_->at(key), file_, pointer_ + "/" + escape_pointer(key)};
}

JsonCursor JsonCursor::at(std::size_t index) const {
  return {value_->at(index), file_, fmt::format("{}/{}", pointer_, index)};
}

Error JsonCursor::fail(std::string detail) const {
  return make_error(ErrorCode::kPolicy,
                    fmt::format("{}#{}", file_, pointer_.empty() ? "/" : pointer_),
                    std::move(detail));
}

Error JsonCursor::expected(std::string_view what) const {
  std::string found = value_->dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  if (found.size() > 60) found = found.substr(0, 57) + "...";
  return fail(fmt::format("expected {}, found {}", what, found));
}

Result<std::string> JsonCursor::string(std::string_view what) const {
  if (!value_->is_string()) return expected(what);
  return value_->get<std::string>();
}

Result<std::uint32_t> JsonCursor::number32(std::string_view what) const {
  if (!value_->is_number_unsigned() ||
      value_->get<std::uint64_t>() > std::numeric_limits<std::uint32_t>::max())
    return expected(what);
  return value_->get<std::uint32_t>();
}

Result<std::uint64_t> JsonCursor::number64() const {
  if (!value_->is_number_unsigned()) return expected("a number from 0 to 2^64-1");
  return value_->get<std::uint64_t>();
}

Status JsonCursor::required(std::initializer_list<const char*> keys) const {
  for (const char* key : keys)
    if (!has(key)) return fail(fmt::format("the key '{}' is missing", key));
  return Ok{};
}

Status JsonCursor::object_with(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object()) return expected("an object");
  for (const auto& item : value_->items())
    if (std::ranges::find(known, item.key()) == known.end())
      return at(item.key())
          .fail(fmt::format("unknown key '{}'; known here: {}{}", item.key(),
                            fmt::join(known, ", "),
                            did_you_mean(similar_names(item.key(), known))));
  return Ok{};
}

Status JsonCursor::array(std::string_view what) const {
  if (!value_->is_array()) return expected(what);
  return Ok{};
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& name) {
  using nlohmann::json;
  text = without_bom(text);
  std::vector<std::set<std::string>> keys;
  std::size_t read = 0;
  std::optional<Error> refused;
  const auto refuse = [&](std::size_t byte, std::string detail) {
    if (!refused)
      refused = make_error(ErrorCode::kParse, position(text, byte, name), std::move(detail));
  };
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) refuse(read, fmt::format("nested deeper than {} levels", kMaxDepth));
    if (refused) return false;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second)
      refuse(text.rfind('"', read - 2) + 1,
             fmt::format("the key '{}' appears twice in one object", parsed.get<std::string>()));
    return true;
  };
  json document;
  // The library reports syntax errors by exception only; nothing else of this project throws.
  try {
    document = json::parse(Reading(text.begin(), read), Reading(text.end(), read), watch);
  } catch (const json::exception& error) {
    std::string detail = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...":
    // position is ours to give.
    const std::size_t colon = detail.find(": ");
    if (colon != std::string::npos) detail = detail.substr(colon + 2);
    const auto* syntax = dynamic_cast<const json::parse_error*>(&error);
    return make_error(ErrorCode::kParse,
                      syntax != nullptr ? position(text, syntax->byte, name) : name,
                      std::move(detail));
  }
  if (refused) return *refused;
  return document;
}

}  // namespace secequiv
