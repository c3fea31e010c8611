#include "cli/question.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <utility>

#include "harness/base/text.h"

namespace secequiv::cli {

Option::Option(std::string_view names, std::string text, Kind kind, std::string type, Assign assign,
               std::function<std::string()> now)
    : names_(names),
      name_(names.substr(names.find(',') + 1)),  // npos + 1 is 0
      text_(std::move(text)),
      type_(std::move(type)),
      kind_(kind),
      least_(kind == Kind::kFlag ? 0 : 1),
      most_(kind == Kind::kFlag  ? 0
            : kind == Kind::kOne ? 1
                                 : kAnyNumber),
      assign_(std::move(assign)),
      now_(std::move(now)) {}

Option* Option::check(Check check) {
  if (!check.type.empty()) type_ += ":" + check.type;
  checks_.push_back(std::move(check));
  return this;
}

Option* Option::required(bool is) {
  required_ = is;
  return this;
}

Option* Option::required_unless(const std::vector<std::string>& others) {
  replacements_ = others;
  return required();
}

Option* Option::expected(std::size_t least, std::size_t most) {
  least_ = least;
  most_ = most;
  return this;
}

Option* Option::delimiter(char between) {
  delimiter_ = between;
  return this;
}

Option* Option::one_at_a_time() {
  one_at_a_time_ = true;
  return this;
}

Option* Option::shows_default() { return shows_default(now_()); }

Option* Option::shows_default(std::string text) {
  default_ = std::move(text);
  return this;
}

Option* Option::group(std::string title) {
  group_ = std::move(title);
  return this;
}

Option* Option::type_name(std::string name) {
  type_ = std::move(name);
  return this;
}

Option* Option::excludes(const std::vector<std::string>& others) {
  excluded_.insert(excluded_.end(), others.begin(), others.end());
  return this;
}

Option* Option::needs(std::string other) {
  needed_.push_back(std::move(other));
  return this;
}

Option* Option::writes(Writes what) {
  writes_ = what;
  return this;
}

std::string Option::problem(std::string& value) const {
  for (const Check& check : checks_)
    if (std::string problem = check.problem(value); !problem.empty()) return problem;
  return value.empty() ? "expected a value, found ''" : "";
}

bool Option::give(const std::vector<std::string>& values) {
  values_ = values;
  return assign_(values);
}

namespace values {

bool parse(const std::string& text, std::string& value) {
  value = text;
  return true;
}

bool parse(const std::string& text, double& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

bool parse_unsigned(const std::string& text, std::uint64_t most, std::uint64_t& value) {
  const auto found = secequiv::parse_unsigned(text);
  if (!found || *found > most) return false;
  value = *found;
  return true;
}

bool parse_signed(const std::string& text, std::int64_t& value) {
  const bool negative = text.starts_with('-');
  const auto found = secequiv::parse_unsigned(text.substr(negative ? 1 : 0));
  if (!found || *found > std::numeric_limits<std::int64_t>::max()) return false;
  value = static_cast<std::int64_t>(*found);
  if (negative) value = -value;
  return true;
}

}  // namespace values

Option* Command::add_flag(std::string_view names, bool& value, std::string text) {
  const auto assign = [&value](const std::vector<std::string>& given) {
    value = given.back() == "true";
    return true;
  };
  return &options_.emplace_back(names, std::move(text), Option::Kind::kFlag, "", assign);
}

Option* Command::get_option(std::string_view name) {
  const auto found = std::ranges::find(options_, name, &Option::name);
  if (found == options_.end()) std::abort();
  return &*found;
}

const Option* Command::find(std::string_view name) const {
  const auto found = std::ranges::find(options_, name, &Option::name);
  return found == options_.end() ? nullptr : &*found;
}

bool Command::given(std::string_view name) const {
  const Option* option = find(name);
  return option != nullptr && option->given();
}

}  // namespace secequiv::cli
