#include "harness/policy/json_util.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/policy/json.h"

namespace secequiv {
namespace {

// gVisor's exported rule trees nest up to 117 levels, because alternatives are added one by one.
constexpr int kMaxDepth = 1000;

std::string position(std::string_view text, std::size_t byte, const std::string& name) {
  std::size_t line = 1;
  std::size_t column = 1;
  for (std::size_t i = 0; i + 1 < byte && i < text.size(); ++i) {
    column = text[i] == '\n' ? 1 : column + 1;
    line += text[i] == '\n';
  }
  return fmt::format("{}:{}:{}", name, line, column);
}

// Passes the text to the parser and counts the bytes that it has read, because the parser's
// callbacks do not report this number.
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
  const auto found = value_->find(key);
  return {found.value(), lines_ == nullptr ? nullptr : &lines_->members.at(key), *this,
          &found.key(), 0};
}

JsonCursor JsonCursor::at(std::size_t index) const {
  return {value_->at(index), lines_ == nullptr ? nullptr : &lines_->items.at(index), *this, nullptr,
          index};
}

std::string JsonCursor::pointer() const {
  if (parent_ == nullptr) return {};
  const nlohmann::json::json_pointer own;
  return parent_->pointer() + (key_ != nullptr ? own / *key_ : own / index_).to_string();
}

std::string JsonCursor::path() const {
  if (parent_ == nullptr) return {};
  const std::string out = parent_->path();
  if (key_ == nullptr) return out + fmt::format("[{}]", index_);
  return out + (out.empty() ? "" : ".") + *key_;
}

Error JsonCursor::fail(std::string detail) const {
  return make_error(
      ErrorCode::kPolicy,
      fmt::format("{}{}#{}", file(), lines_ == nullptr ? "" : fmt::format(":{}", lines_->line),
                  parent_ == nullptr ? "/" : pointer()),
      std::move(detail));
}

PositionRef JsonCursor::position(const std::string& path) const {
  if (lines_ == nullptr) return {};
  return {std::make_shared<const RulePosition>(RulePosition{file(), lines_->line, path})};
}

std::string JsonCursor::place() const {
  const PositionRef here = position(path());
  return here.at == nullptr ? pointer() : here.at->text();
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

namespace {

// Collects the lines of all values from the parser's events.
class LineWatch {
 public:
  explicit LineWatch(std::string_view text) : text_(text) {}

  // `read` is the number of bytes read so far. The last of these bytes ends the event's token or
  // follows it.
  void add(nlohmann::json::parse_event_t event, std::size_t read, const nlohmann::json& parsed) {
    using Event = nlohmann::json::parse_event_t;
    for (; counted_ + 1 < read && counted_ < text_.size(); ++counted_)
      line_ += text_[counted_] == '\n';
    switch (event) {
      case Event::key:
        key_ = &open_.back()->members[parsed.get<std::string>()];
        key_->line = line_;
        break;
      case Event::object_start:
      case Event::array_start:
        open_.push_back(&next());
        break;
      case Event::object_end:
      case Event::array_end:
        open_.pop_back();
        break;
      case Event::value:
        next();
        break;
    }
  }

  [[nodiscard]] JsonLines lines() && { return std::move(top_); }

 private:
  // Returns where to store the line of the value that begins now.
  JsonLines& next() {
    if (open_.empty()) {
      top_.line = line_;
      return top_;
    }
    if (key_ != nullptr) return *std::exchange(key_, nullptr);
    open_.back()->items.push_back({line_});
    return open_.back()->items.back();
  }

  std::string_view text_;
  std::size_t counted_ = 0;
  std::size_t line_ = 1;
  JsonLines top_;
  std::vector<JsonLines*> open_;
  JsonLines* key_ = nullptr;  // the key of the member whose value comes next
};

// `lines` may be null.
Result<nlohmann::json> parse(std::string_view text, const std::string& name, LineWatch* lines) {
  using nlohmann::json;
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
    if (lines != nullptr && !refused) lines->add(event, read, parsed);
    return true;
  };
  json document;
  // The library reports syntax errors only as exceptions. No other part of this project uses
  // exceptions.
  try {
    document = json::parse(Reading(text.begin(), read), Reading(text.end(), read), watch);
  } catch (const json::exception& error) {
    std::string detail = error.what();
    // The message starts "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
    // error ...". We replace that position by our own.
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

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& name) {
  return parse(without_bom(text), name, nullptr);
}

Result<JsonDocument> parse_json_lines(std::string_view text, const std::string& name) {
  text = without_bom(text);
  LineWatch lines(text);
  auto document = parse(text, name, &lines);
  if (!document) return document.error();
  return JsonDocument{std::move(*document), std::move(lines).lines()};
}

}  // namespace secequiv
