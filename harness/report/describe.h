// Descriptions of documents: each field of a report has one row with its name, its meaning, where
// its value comes from, and which values are possible. Owns what follows from a row: the field in
// JSON, and its place in the schema. It must not know any report.
//
// A type is described by a function beside it:
//
//   void describe(Fields<Side>& side) {
//     side.is("side", "One program.");
//     side("name", "Where it came from.", &Side::name);
//     side("instructions", "Its length.", [](const Side& it) { return it.program.size(); });
//   }
//
// The type of a value says what the schema permits: a text is not empty, a number is not negative,
// std::optional may be missing, a list has elements of one type, and a described type is an object.
// A Shape says more.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace secequiv {

using Json = nlohmann::ordered_json;

// The definitions of a schema, by name.
class Definitions {
 public:
  // Returns a reference to the definition, which `make` gives if it is new.
  Json reference(const std::string& name, const std::function<Json(Definitions&)>& make);
  [[nodiscard]] const std::map<std::string, Json>& all() const { return all_; }

 private:
  std::map<std::string, Json> all_;
};

// Which values are possible, as a JSON Schema.
struct Shape {
  std::function<Json(Definitions&)> schema;
  explicit Shape(std::function<Json(Definitions&)> make) : schema(std::move(make)) {}
  explicit Shape(Json fixed) : schema([fixed = std::move(fixed)](Definitions&) { return fixed; }) {}
};

// Shapes of texts.
Shape any_text();  // may be empty
Shape matching(std::string_view pattern);
Shape constant(Json value);
Shape words(const std::vector<std::string_view>& allowed);
// The names of all values of an enumeration, from 0 to `last`.
template <class Enum>
Shape names_of(std::string_view (*name)(Enum), Enum last) {
  std::vector<std::string_view> all;
  for (int i = 0; i <= static_cast<int>(last); ++i) all.push_back(name(static_cast<Enum>(i)));
  return words(all);
}
Shape hex32();    // "0x0000002a"
Shape hex64();    // "0x2a"
Shape decimal();  // a count of any size: "340282366920938463463374607431768211456"
// Shapes of numbers. Both ends are included.
Shape between(std::uint64_t first, std::uint64_t last);
Shape at_least(std::uint64_t first);
Shape number32();
Shape number_from(double least);  // with a fraction
Shape above_zero();               // with a fraction
Shape any_number();               // with a fraction, or negative
Shape any_integer();              // perhaps negative
// A list. Without `most` it may have any length from `least` on.
Shape list_of(Shape element, std::size_t least = 0, std::optional<std::size_t> most = {});
Shape set_of(Shape element, std::size_t least = 0);  // a list without repetitions
// An object with any keys.
Shape map_of(Shape key, Shape value, std::size_t least = 0);
Shape one_of(std::vector<Shape> alternatives);

// Conditions on a whole object, for Fields::rule(). A missing field meets is(), count_is() and
// similar conditions.
Json is(std::string_view field, Json value);
Json is_one_of(std::string_view field, std::vector<Json> values);
Json count_is(std::string_view field, std::size_t least, std::optional<std::size_t> most = {});
inline Json is_empty(std::string_view field) { return count_is(field, 0, 0); }
inline Json is_filled(std::string_view field) { return count_is(field, 1); }
Json has(const std::vector<std::string_view>& fields);
Json lacks(const std::vector<std::string_view>& fields);  // none of them
Json lacks_one(const std::vector<std::string_view>& fields);
Json inside(std::string_view field, Json condition);         // an object meets the condition
Json each_in(std::string_view field, Json condition);        // every element of a list does
Json some_in(std::string_view field, Json condition);        // at least one element does
Json together(const std::vector<std::string_view>& fields);  // all of them or none
Json all(std::vector<Json> conditions);
Json any(std::vector<Json> conditions);
Json none(std::vector<Json> conditions);

class Rows;
template <class T>
class Fields;

// Types with a function describe().
template <class T>
concept Described = requires(Fields<T>& fields) { describe(fields); };

// Returns the text, list or map, or nothing if it is empty.
template <class T>
std::optional<T> unless_empty(T value) {
  if (value.empty()) return std::nullopt;
  return value;
}

// Returns the number, or nothing if it is 0.
template <std::integral T>
std::optional<T> unless_zero(T value) {
  if (value == 0) return std::nullopt;
  return value;
}

// Returns true, or nothing.
inline std::optional<bool> if_true(bool value) {
  return value ? std::optional(true) : std::nullopt;
}

template <class T>
const Rows& fields_of();

// Returns the value in JSON; nothing if it is missing.
template <Described T>
Json to_json(const T& value);

namespace shapes {

template <class T>
struct IsOptional : std::false_type {};
template <class T>
struct IsOptional<std::optional<T>> : std::true_type {};
template <class T>
struct WithoutOptional {
  using type = T;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using type = T;
};
template <class T>
concept Text = std::convertible_to<T, std::string_view>;
template <class T>
concept List = !Text<T> && !std::same_as<T, Json> && requires(const T& list) {
  list.begin() != list.end();
  *list.begin();
};

Json text(std::string_view value);

template <class T>
std::optional<Json> value_of(const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value ? value_of(*value) : std::nullopt;
  } else if constexpr (Described<T>) {
    return to_json(value);
  } else if constexpr (Text<T>) {
    return text(value);
  } else if constexpr (List<T>) {
    Json out = Json::array();
    for (const auto& one : value) out.push_back(*value_of(one));
    return out;
  } else {
    return Json(value);
  }
}

Shape reference_to(const Rows& (*rows)());

// Returns the shape that follows from a type.
template <class T>
Shape shape_of() {
  if constexpr (IsOptional<T>::value) {
    return shape_of<typename T::value_type>();
  } else if constexpr (Described<T>) {
    return reference_to(fields_of<T>);
  } else if constexpr (Text<T>) {
    return Shape(Json{{"type", "string"}, {"minLength", 1}});
  } else if constexpr (std::same_as<T, bool>) {
    return Shape(Json{{"type", "boolean"}});
  } else if constexpr (std::floating_point<T>) {
    return Shape(Json{{"type", "number"}, {"minimum", 0}});
  } else if constexpr (std::integral<T>) {
    return Shape(Json{{"type", "integer"}, {"minimum", 0}});
  } else {
    static_assert(List<T>, "this type needs a Shape");
    return list_of(shape_of<std::remove_cvref_t<decltype(*std::declval<const T&>().begin())>>());
  }
}

}  // namespace shapes

// The shape of a list whose elements have a described type.
template <Described T>
Shape list_of(std::size_t least = 0, std::optional<std::size_t> most = {}) {
  return list_of(shapes::shape_of<T>(), least, most);
}

// The rows of a type, in the order of the document, without the type: what is compiled once for
// all.
class Rows {
 public:
  // Names the definition in schemas. An object without a name is described where it is used.
  void is(std::string_view name, std::string_view meaning);
  // Makes this a document "secequiv.NAME/VERSION".
  void document(std::string_view name, int version, std::string_view title,
                std::string_view meaning);
  // If `condition` holds for the document, `then` does, too; otherwise `otherwise`.
  void rule(Json condition, Json then, Json otherwise = Json::object());
  // This always holds.
  void always(Json condition) { rules_.push_back(std::move(condition)); }

  // Writes the fields of the value, whose type is that of the rows.
  void write(const void* value, Json& out) const;
  [[nodiscard]] Json object(const void* value) const;
  [[nodiscard]] Json schema(Definitions& definitions) const;
  [[nodiscard]] Json reference(Definitions& definitions) const;
  // Returns the whole schema of a document.
  [[nodiscard]] Json document_schema() const;

 protected:
  using Value = std::function<std::optional<Json>(const void*)>;
  using Condition = std::function<bool(const void*)>;
  struct Row {
    std::string name;
    std::string meaning;
    Value value;
    std::function<Json(Definitions&)> schema;
    bool required = true;
    Condition only_if;
    [[nodiscard]] std::optional<Json> of(const void* it) const {
      return only_if && !only_if(it) ? std::nullopt : value(it);
    }
  };
  using PartValue = std::function<std::optional<Json>(const Row&, const void*)>;

  void add(std::string_view name, std::string_view meaning, bool required, Shape shape,
           Value value);
  void add(std::string_view name, std::string_view meaning, Rows rows);
  void add(const Rows& part, bool required, PartValue value);
  void set_condition(Condition condition) { only_if_ = std::move(condition); }

 private:
  std::string name_;
  std::string meaning_;
  std::string document_;
  std::string title_;
  std::vector<Row> rows_;
  std::vector<Json> rules_;
  Condition only_if_;
};

template <class T>
class Fields : public Rows {
 public:
  // Adds a field. `get` is a member, or a function that returns the value, perhaps std::optional.
  template <class Get>
  void operator()(std::string_view name, std::string_view meaning, Get get) {
    (*this)(name, meaning, get, shapes::shape_of<Got<Get>>());
  }
  template <class Get>
  void operator()(std::string_view name, std::string_view meaning, Get get, Shape shape) {
    add(name, meaning, !shapes::IsOptional<Got<Get>>::value, std::move(shape),
        [get](const void* it) { return shapes::value_of<Got<Get>>(std::invoke(get, from(it))); });
  }
  // Adds an object for some values of the same T; `rows` adds its fields.
  void object(std::string_view name, std::string_view meaning, void (*rows)(Fields&)) {
    Fields inner;
    rows(inner);
    add(name, meaning, std::move(inner));
  }
  // Adds all fields and rules of a part, which `get` returns (perhaps in std::optional), among the
  // fields of this type.
  template <class Get>
  void include(Get get) {
    constexpr bool kOptional = shapes::IsOptional<Got<Get>>::value;
    add(fields_of<typename shapes::WithoutOptional<Got<Get>>::type>(), !kOptional,
        [get](const Row& row, const void* it) -> std::optional<Json> {
          const auto& part = std::invoke(get, from(it));
          if constexpr (kOptional)
            return part ? row.of(&*part) : std::nullopt;
          else
            return row.of(&part);
        });
  }
  // The fields that follow are missing if `condition` does not hold for the value; {} ends this.
  void only_if(std::function<bool(const T&)> condition) {
    if (!condition) return set_condition({});
    set_condition(
        [condition = std::move(condition)](const void* it) { return condition(from(it)); });
  }

 private:
  template <class Get>
  using Got = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>;
  static const T& from(const void* it) { return *static_cast<const T*>(it); }
};

template <class T>
const Rows& fields_of() {
  static const Fields<T> made = [] {
    Fields<T> fields;
    describe(fields);
    return fields;
  }();
  return made;
}

template <Described T>
Json to_json(const T& value) {
  return fields_of<T>().object(&value);
}

}  // namespace secequiv
