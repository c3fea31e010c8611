#include "harness/policy/json_util.h"

#include <algorithm>
#include <limits>
#include <set>
#include <vector>

#include "harness/policy/json.h"

namespace secequiv {
namespace {

constexpr int kMaxDepth = 100;

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

Status JsonCursor::object_with(std::initializer_list<std::string_view> known) const {
  if (!value_->is_object()) return expected("an object");
  for (const auto& item : value_->items())
    if (std::ranges::find(known, item.key()) == known.end())
      return at(item.key())
          .fail(
              fmt::format("unknown key '{}'; known here: {}", item.key(), fmt::join(known, ", ")));
  return Ok{};
}

Status JsonCursor::array(std::string_view what) const {
  if (!value_->is_array()) return expected(what);
  return Ok{};
}

Result<nlohmann::json> parse_json(std::string_view text, const std::string& name) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;
  std::string duplicate;
  bool too_deep = false;
  const auto watch = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kMaxDepth) too_deep = true;
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && duplicate.empty() &&
        !keys.back().insert(parsed.get<std::string>()).second)
      duplicate = parsed.get<std::string>();
    return !too_deep;
  };
  json document;
  // The library reports syntax errors by exception only; nothing else of this project throws.
  try {
    document = json::parse(text.begin(), text.end(), watch);
  } catch (const json::parse_error& error) {
    std::string detail = error.what();
    // "[json.exception.parse_error.101] parse error at line 1, column 2: syntax error ...":
    // position is ours to give.
    const std::size_t colon = detail.find(": ");
    if (colon != std::string::npos) detail = detail.substr(colon + 2);
    return make_error(ErrorCode::kParse, position(text, error.byte, name), std::move(detail));
  }
  if (too_deep)
    return make_error(ErrorCode::kParse, name,
                      fmt::format("nested deeper than {} levels", kMaxDepth));
  if (!duplicate.empty())
    return make_error(ErrorCode::kParse, name,
                      fmt::format("the key '{}' appears twice in one object", duplicate));
  return document;
}

}  // namespace secequiv
