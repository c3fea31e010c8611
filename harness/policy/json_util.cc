#include "harness/policy/json_util.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "harness/base/text.h"
#include "harness/policy/json.h"

namespace secequiv {
namespace {

// gVisor's exported rule trees nest up to 117 levels, because alternatives are added one by one.
constexpr std::size_t kMaxDepth = 1000;

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

std::string place_in_file(const RulePosition& position) {
  std::vector<std::string_view> inside;
  for (const std::string_view part :
       {std::string_view(position.path), std::string_view(position.condition)})
    if (!part.empty()) inside.push_back(part);
  return fmt::format("line {}{}", position.line,
                     inside.empty() ? "" : fmt::format(" ({})", fmt::join(inside, ", ")));
}

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
  return here.at == nullptr ? pointer() : place_in_file(*here.at);
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

  // In these functions, `read` is the number of bytes read so far. The last of these bytes ends the
  // event's token or follows it.
  void key(const std::string& name, std::size_t read) {
    count(read);
    key_ = &open_.back()->members[name];
    key_->line = line_;
  }
  void open(std::size_t read) {
    count(read);
    open_.push_back(&next());
  }
  void value(std::size_t read) {
    count(read);
    next();
  }
  void close() { open_.pop_back(); }

  [[nodiscard]] JsonLines lines() && { return std::move(top_); }

 private:
  void count(std::size_t read) {
    for (; counted_ + 1 < read && counted_ < text_.size(); ++counted_)
      line_ += text_[counted_] == '\n';
  }

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

// Builds a document from the parser's events. The library's own callback searches the whole parent
// after each object that ends, so a long list would take quadratic time.
class Builder {
 public:
  using json = nlohmann::json;

  Builder(std::string_view text, const std::string& name, const std::size_t& read, LineWatch* lines)
      : text_(text), name_(name), read_(read), lines_(lines) {}

  [[nodiscard]] Result<json> document() && {
    if (error_) return *error_;
    return std::move(document_);
  }

  // The library's parser calls these functions, and stops when one returns false.
  bool null() { return add(nullptr); }
  bool boolean(bool value) { return add(value); }
  bool number_integer(std::int64_t value) { return add(value); }
  bool number_unsigned(std::uint64_t value) { return add(value); }
  bool number_float(double value, const std::string& /*text*/) { return add(value); }
  bool string(std::string& value) { return add(std::move(value)); }
  bool binary(json::binary_t& /*value*/) { return false; }  // JSON text has none

  bool start_object(std::size_t /*size*/) { return open(json::object()); }
  bool start_array(std::size_t /*size*/) { return open(json::array()); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }

  bool key(std::string& key) {
    if (!expect_depth()) return false;
    const auto [at, added] = open_.back()->emplace(key, nullptr);
    if (!added)
      return refuse(text_.rfind('"', read_ - 2) + 1,
                    fmt::format("the key '{}' appears twice in one object", key));
    member_ = &*at;
    if (lines_ != nullptr) lines_->key(key, read_);
    return true;
  }

  bool parse_error(std::size_t byte, const std::string& /*token*/, const json::exception& error) {
    std::string detail = error.what();
    // The message starts "[json.exception.parse_error.101] parse error at line 1, column 2: syntax
    // error ...". We replace that position by our own.
    const std::size_t colon = detail.find(": ");
    if (colon != std::string::npos) detail = detail.substr(colon + 2);
    const std::string_view rest = text_.substr(byte == 0 ? 0 : std::min(byte - 1, text_.size()));
    if (rest.starts_with("//") || rest.starts_with("/*")) detail += "; JSON has no comments";
    if (error.id < 200)  // a parse_error, whose numbers begin with 101
      return refuse(byte, std::move(detail));
    error_ = make_error(ErrorCode::kParse, name_, std::move(detail));
    return false;
  }

 private:
  bool refuse(std::size_t byte, std::string detail) {
    error_ = make_error(ErrorCode::kParse, position(text_, byte, name_), std::move(detail));
    return false;
  }

  bool expect_depth() {
    if (open_.size() <= kMaxDepth) return true;
    return refuse(read_, fmt::format("nested deeper than {} levels", kMaxDepth));
  }

  // Stores a value that begins now, and returns where.
  json& store(json value) {
    if (open_.empty()) return document_ = std::move(value);
    if (member_ != nullptr) return *std::exchange(member_, nullptr) = std::move(value);
    open_.back()->push_back(std::move(value));
    return open_.back()->back();
  }

  bool add(json value) {
    if (!expect_depth()) return false;
    store(std::move(value));
    if (lines_ != nullptr) lines_->value(read_);
    return true;
  }

  bool open(json empty) {
    if (!expect_depth()) return false;
    open_.push_back(&store(std::move(empty)));
    if (lines_ != nullptr) lines_->open(read_);
    return true;
  }

  bool close() {
    open_.pop_back();
    if (lines_ != nullptr) lines_->close();
    return true;
  }

  std::string_view text_;
  const std::string& name_;
  const std::size_t& read_;  // how many bytes the parser has read
  LineWatch* lines_;         // may be null
  json document_;
  std::vector<json*> open_;
  json* member_ = nullptr;  // the member whose value comes next
  std::optional<Error> error_;
};

// `lines` may be null.
Result<nlohmann::json> parse(std::string_view text, const std::string& name, LineWatch* lines) {
  std::size_t read = 0;
  Builder builder(text, name, read, lines);
  nlohmann::json::sax_parse(Reading(text.begin(), read), Reading(text.end(), read), &builder);
  return std::move(builder).document();
}

}  // namespace

Result<nlohmann::json> parse_json(std::string_view text, const std::string& name) {
  return parse(without_bom(text), name, nullptr);
}

Result<JsonDocument> parse_json_lines(std::string_view text, const std::string& name) {
  text = without_bom(text);
  LineWatch lines(text);
  ASSIGN_OR_RETURN(auto document, parse(text, name, &lines));
  return JsonDocument{std::move(document), std::move(lines).lines()};
}

}  // namespace secequiv
