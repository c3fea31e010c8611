// Commands as data: their names, texts and options, and what was given. Owns what a declaration
// says and how values become members. It must not know who asks: the command line
// (command_line.h), or a caller with values in another form.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "harness/base/result.h"

namespace secequiv::cli {

// Checks a value, which it may also replace. Returns what is wrong, or "".
struct Check {
  std::function<std::string(std::string&)> problem;
  std::string type = {};  // says more about the values than their C++ type: "{raw,asm}", "SECONDS"

  Check(std::invocable<std::string&> auto check, std::string what = {})
      : problem(std::move(check)), type(std::move(what)) {}
};

inline constexpr std::size_t kAnyNumber = std::size_t{1} << 29;  // of values

// What an option names besides a value.
enum class Writes : std::uint8_t {
  kNothing,
  kFile,
  kFolder,  // files with generated names
};

// One option or argument, with what was given for it.
class Option {
 public:
  using Assign = std::function<bool(const std::vector<std::string>&)>;  // false: not of this type

  enum class Kind : std::uint8_t { kFlag, kOne, kList };

  // `names` is "-o,--output", "--json" or, for an argument, "input". `now` returns the member's
  // value.
  Option(std::string_view names, std::string text, Kind kind, std::string type, Assign assign,
         std::function<std::string()> now = {});

  Option* check(Check check);
  Option* required(bool is = true);
  // Required if none of these other options is given.
  Option* required_unless(const std::vector<std::string>& others);
  Option* expected(std::size_t least, std::size_t most);
  Option* delimiter(char between);
  Option* one_at_a_time();  // each value needs the option's name
  Option* shows_default();  // the value that the member has now
  Option* shows_default(std::string text);
  Option* group(std::string title);
  Option* type_name(std::string name);
  Option* excludes(const std::vector<std::string>& others);
  Option* needs(std::string other);
  Option* writes(Writes what);

  [[nodiscard]] const std::string& name() const { return name_; }  // "--output", "input"
  [[nodiscard]] const std::string& names() const { return names_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] const std::string& type() const { return type_; }
  [[nodiscard]] const std::string& default_text() const { return default_; }
  [[nodiscard]] const std::string& group() const { return group_; }
  [[nodiscard]] bool is_flag() const { return kind_ == Kind::kFlag; }
  [[nodiscard]] bool is_list() const { return kind_ == Kind::kList; }
  [[nodiscard]] bool is_argument() const { return !name_.starts_with('-'); }
  [[nodiscard]] bool is_required() const { return required_; }
  [[nodiscard]] std::size_t least() const { return least_; }
  [[nodiscard]] std::size_t most() const { return most_; }
  [[nodiscard]] bool several_at_a_time() const { return !one_at_a_time_; }
  [[nodiscard]] char delimiter() const { return delimiter_; }
  [[nodiscard]] const std::vector<std::string>& excluded() const { return excluded_; }
  [[nodiscard]] const std::vector<std::string>& needed() const { return needed_; }
  [[nodiscard]] const std::vector<std::string>& replacements() const { return replacements_; }
  [[nodiscard]] Writes writes() const { return writes_; }

  // Runs the checks on a value. Returns what is wrong, or "". An empty value, such as that of an
  // unset shell variable, must not look like an absent option.
  std::string problem(std::string& value) const;
  // Sets the member. Precondition: the values have no problem. Returns false if one is not of the
  // member's type.
  bool give(const std::vector<std::string>& values);
  [[nodiscard]] bool given() const { return !values_.empty(); }
  [[nodiscard]] const std::vector<std::string>& values() const { return values_; }

 private:
  std::string names_;
  std::string name_;
  std::string text_;
  std::string type_;
  std::string default_;
  std::string group_;
  Kind kind_;
  std::size_t least_ = 1;
  std::size_t most_ = 1;
  char delimiter_ = 0;
  bool required_ = false;
  bool one_at_a_time_ = false;
  Writes writes_ = Writes::kNothing;
  std::vector<Check> checks_;
  std::vector<std::string> excluded_;
  std::vector<std::string> needed_;
  std::vector<std::string> replacements_;
  std::vector<std::string> values_;
  Assign assign_;
  std::function<std::string()> now_;
};

namespace values {

template <class T>
struct Element {
  using type = T;
  static constexpr bool kList = false;
};
template <class T>
struct Element<std::optional<T>> : Element<T> {};
template <class T>
struct Element<std::vector<T>> {
  using type = T;
  static constexpr bool kList = true;
};

// These read a whole text, and return false if it is not of the type.
bool parse(const std::string& text, std::string& value);
bool parse(const std::string& text, double& value);
bool parse_unsigned(const std::string& text, std::uint64_t most, std::uint64_t& value);
bool parse_signed(const std::string& text, std::int64_t& value);
template <std::integral T>
bool parse(const std::string& text, T& value) {
  if constexpr (std::is_signed_v<T>) {
    std::int64_t read = 0;
    if (!parse_signed(text, read) || !std::in_range<T>(read)) return false;
    value = static_cast<T>(read);
  } else {
    std::uint64_t read = 0;
    if (!parse_unsigned(text, std::numeric_limits<T>::max(), read)) return false;
    value = static_cast<T>(read);
  }
  return true;
}

template <class T>
bool parse(const std::string& text, std::optional<T>& value) {
  return parse(text, value.emplace());
}

template <class T>
std::string text_of(const T& value) {
  if constexpr (std::convertible_to<T, std::string> || std::integral<T> || std::floating_point<T>)
    return fmt::format("{}", value);
  else
    return {};  // a list, or none
}

template <class T>
std::string type_of() {
  if constexpr (std::floating_point<T>)
    return "FLOAT";
  else if constexpr (std::unsigned_integral<T>)
    return "UINT";
  else
    return std::signed_integral<T> ? "INT" : "TEXT";
}

}  // namespace values

// One command. Members of its options live as long as it does.
class Command {
 public:
  Command(std::string name, std::string text) : name_(std::move(name)), text_(std::move(text)) {}

  template <class T>
  Option* add_option(std::string_view names, T& value, std::string text) {
    using Element = values::Element<T>;
    const auto assign = [&value](const std::vector<std::string>& given) {
      if constexpr (Element::kList) {
        T all(given.size());
        for (std::size_t i = 0; i < given.size(); ++i)
          if (!values::parse(given[i], all[i])) return false;
        value = std::move(all);
        return true;
      } else {
        return values::parse(given.back(), value);
      }
    };
    const auto now = [&value] { return values::text_of(value); };
    return &options_.emplace_back(names, std::move(text),
                                  Element::kList ? Option::Kind::kList : Option::Kind::kOne,
                                  values::type_of<typename Element::type>(), assign, now);
  }
  Option* add_flag(std::string_view names, bool& value, std::string text);

  // Precondition: the option exists.
  Option* get_option(std::string_view name);
  [[nodiscard]] const Option* find(std::string_view name) const;  // or null
  [[nodiscard]] bool given(std::string_view name) const;          // false if it does not exist

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] std::deque<Option>& options() { return options_; }
  [[nodiscard]] const std::deque<Option>& options() const { return options_; }

  std::function<int()> run;  // returns the exit status

 private:
  std::string name_;
  std::string text_;
  std::deque<Option> options_;
};

using Commands = std::deque<Command>;  // whose elements keep their place

}  // namespace secequiv::cli
