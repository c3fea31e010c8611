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
//
// Only schemas need meanings, shapes and rules. Rows that only write documents keep none of them.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace secequiv {

using Json = nlohmann::ordered_json;

// Whether this build prints schemas. If not, meanings, shapes and rules leave no code in it.
#ifdef SECEQUIV_WASM
inline constexpr bool kSchemas = false;
#else
inline constexpr bool kSchemas = true;
#endif

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
class Shape {
 public:
  Shape() = default;
  template <std::invocable<Definitions&> Make>
  explicit Shape(Make make) : make_(std::move(make)) {}
  [[nodiscard]] Json schema(Definitions& definitions) const { return make_(definitions); }

 private:
  // In place of the function, in a build without schemas.
  struct Nothing {
    Nothing() = default;
    template <class Make>
    explicit Nothing(const Make&) {}
    Json operator()(Definitions&) const { return {}; }
  };
  std::conditional_t<kSchemas, std::function<Json(Definitions&)>, Nothing> make_;
};

// Shapes of texts.
Shape any_text();                          // may be empty
Shape matching(std::string_view pattern);  // a constant text, as all texts here
Shape constant(std::string_view value);
Shape words(std::initializer_list<std::string_view> allowed);
Shape words(std::span<const std::string_view> allowed);  // which must remain
// The names of all values of an enumeration, from 0 to `last`.
template <class Enum>
Shape names_of(std::string_view (*name)(Enum), Enum last) {
  return Shape([=](Definitions&) {
    Json all = Json::array();
    for (int i = 0; i <= static_cast<int>(last); ++i) all.push_back(name(static_cast<Enum>(i)));
    return Json{{"enum", std::move(all)}};
  });
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
Shape one_of(std::initializer_list<Shape> alternatives);
Shape only_true();
Shape null();

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

// Returns the rows of a type: those that write documents, and those with everything for schemas.
template <class T>
const Rows& fields_of();
template <class T>
const Rows& schema_of();

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

// Writes a value.
void put(Json& out, std::string_view value);
void put(Json& out, const Rows& rows, const void* value);
Json& append(Json& list);

// Writes the value unless it is missing; returns whether it is there.
template <class T>
bool put_value(Json& out, const T& value) {
  if constexpr (IsOptional<T>::value) {
    return value && put_value(out, *value);
  } else {
    if constexpr (Described<T>) {
      put(out, fields_of<T>(), &value);
    } else if constexpr (Text<T>) {
      put(out, std::string_view(value));
    } else if constexpr (List<T>) {
      out = Json::array();
      for (const auto& one : value) put_value(append(out), one);
    } else {
      out = value;
    }
    return true;
  }
}

Shape reference_to(const Rows& (*rows)());
Shape some_text();
Shape truth();
Shape some_number();

// Returns the shape that follows from a type.
template <class T>
Shape shape_of() {
  if constexpr (IsOptional<T>::value) {
    return shape_of<typename T::value_type>();
  } else if constexpr (Described<T>) {
    return reference_to(schema_of<T>);
  } else if constexpr (Text<T>) {
    return some_text();
  } else if constexpr (std::same_as<T, bool>) {
    return truth();
  } else if constexpr (std::floating_point<T>) {
    return some_number();
  } else if constexpr (std::integral<T>) {
    return at_least(0);
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
  enum class Purpose : std::uint8_t { kWrite, kSchema };
  explicit Rows(Purpose purpose);

  // Whether these rows make a schema. Only then a description needs to go on to its rules, which
  // stand at its end.
  [[nodiscard]] bool for_schema() const { return kSchemas && purpose_ == Purpose::kSchema; }

  // Names the definition in schemas. An object without a name is described where it is used.
  void is(std::string_view name, std::string_view meaning) {
    if (for_schema()) set_names(name, meaning);
  }
  // Makes this a document "secequiv.NAME/VERSION".
  void document(const char* name, int version, std::string_view title, std::string_view meaning) {
    add_version(name, version);
    if (for_schema()) set_document(name, version, title, meaning);
  }
  // If `condition` holds for the document, `then` does, too; otherwise `otherwise`.
  void rule(Json condition, Json then, Json otherwise = Json::object());
  // This always holds.
  void always(Json condition) { rules_.push_back(std::move(condition)); }

  // Writes the fields of the value, whose type is that of the rows.
  void write(const void* value, Json& out) const;
  [[nodiscard]] Json object(const void* value) const;
  // These need rows for schemas.
  [[nodiscard]] Json schema(Definitions& definitions) const;
  [[nodiscard]] Json reference(Definitions& definitions) const;
  // Returns the whole schema of a document.
  [[nodiscard]] Json document_schema() const;

 protected:
  using Condition = bool (*)(const void*);
  // How a field is written. `put` gets a value of the described type and returns whether the field
  // is there.
  struct Row {
    std::string_view name;
    bool (*put)(const Row&, const void* it, Json& out) = nullptr;
    Condition only_if = nullptr;
    const Row* inner = nullptr;    // of an included part
    const Rows* object = nullptr;  // fields of the same type
    alignas(void*) std::array<std::byte, 2 * sizeof(void*)> getter{};

    template <class Get>
    static constexpr void check() {
      static_assert(sizeof(Get) <= sizeof getter && std::is_trivially_copyable_v<Get>,
                    "a function that returns a field keeps at most two pointers");
    }
    template <class Get>
    void keep(const Get& get) {
      check<Get>();
      std::memcpy(getter.data(), static_cast<const void*>(&get), sizeof get);
    }
    template <class Get>
    [[nodiscard]] const Get& kept() const {
      return *std::launder(reinterpret_cast<const Get*>(getter.data()));
    }
    [[nodiscard]] bool write(const void* it, Json& out) const {
      return (only_if == nullptr || only_if(it)) && put(*this, it, out);
    }
  };

  // A row needs a shape if the rows are for a schema.
  void add(Row row);
  void add(std::string_view name, const void* getter, std::size_t size,
           bool (*put)(const Row&, const void* it, Json& out));
  void add_shape(std::string_view meaning, bool required, Shape shape);
  void add_object(std::string_view name, std::string_view meaning, std::unique_ptr<Rows> rows);
  // Adds the rows of a part, which `row` writes.
  void include(const Rows& part, bool required, Row row);
  [[nodiscard]] Purpose purpose() const { return purpose_; }
  void set_condition(Condition condition) { only_if_ = condition; }

 private:
  // What schemas say about a row.
  struct Described {
    std::string meaning;
    bool required;
    Shape shape;
  };
  void add_version(const char* name, int version);
  void set_names(std::string_view name, std::string_view meaning);
  void set_document(std::string_view name, int version, std::string_view title,
                    std::string_view meaning);

  Purpose purpose_;
  Condition only_if_ = nullptr;
  std::vector<Row> rows_;
  std::vector<std::unique_ptr<const Rows>> objects_;
  // For schemas. `described_` has an element for each row.
  std::string name_;
  std::string meaning_;
  std::string document_;
  std::string title_;
  std::vector<Described> described_;
  std::vector<Json> rules_;
};

template <class T>
class Fields : public Rows {
 public:
  using Rows::Rows;

  // Adds a field. `name` is a constant text. `get` is a member, or a function that returns the
  // value, perhaps std::optional.
  template <class Get>
  void operator()(std::string_view name, std::string_view meaning, Get get) {
    add_row(name, get);
    if (for_schema()) add_shape(meaning, kRequired<Get>, shapes::shape_of<Got<Get>>());
  }
  template <class Get>
  void operator()(std::string_view name, std::string_view meaning, Get get, Shape shape) {
    add_row(name, get);
    if (for_schema()) add_shape(meaning, kRequired<Get>, std::move(shape));
  }
  // Adds an object for some values of the same T; `rows` adds its fields.
  void object(std::string_view name, std::string_view meaning, void (*rows)(Fields&)) {
    auto inner = std::make_unique<Fields>(purpose());
    rows(*inner);
    add_object(name, meaning, std::move(inner));
  }
  // Adds all fields and rules of a part, which `get` returns (perhaps in std::optional), among the
  // fields of this type.
  template <class Get>
  void include(Get get) {
    using Part = typename shapes::WithoutOptional<Got<Get>>::type;
    Row row;
    row.keep(get);
    row.put = [](const Row& self, const void* it, Json& out) {
      const auto& part = std::invoke(self.kept<Get>(), from(it));
      if constexpr (shapes::IsOptional<Got<Get>>::value)
        return part && self.inner->write(&*part, out);
      else
        return self.inner->write(&part, out);
    };
    Rows::include(for_schema() ? schema_of<Part>() : fields_of<Part>(), kRequired<Get>, row);
  }
  // The fields that follow are missing if `condition` does not hold for the value; nullptr ends
  // this.
  template <class Condition>
  void only_if(Condition) {
    set_condition([](const void* it) { return Condition()(from(it)); });
  }
  void only_if(std::nullptr_t) { set_condition(nullptr); }

 private:
  template <class Get>
  using Got = std::remove_cvref_t<std::invoke_result_t<Get, const T&>>;
  template <class Get>
  static constexpr bool kRequired = !shapes::IsOptional<Got<Get>>::value;
  static const T& from(const void* it) { return *static_cast<const T*>(it); }

  template <class Get>
  void add_row(std::string_view name, const Get& get) {
    Row::check<Get>();
    add(name, static_cast<const void*>(&get), sizeof get,
        [](const Row& self, const void* it, Json& out) {
          return shapes::put_value<Got<Get>>(out, std::invoke(self.kept<Get>(), from(it)));
        });
  }
};

namespace shapes {

template <class T>
const Rows* described(Rows::Purpose purpose) {
  auto* fields = new Fields<T>(purpose);  // remains until the end: destructors would take space
  describe(*fields);
  return fields;
}

}  // namespace shapes

template <class T>
const Rows& fields_of() {
  static const Rows* const made = shapes::described<T>(Rows::Purpose::kWrite);
  return *made;
}

template <class T>
const Rows& schema_of() {
  static const Rows* const made = shapes::described<T>(Rows::Purpose::kSchema);
  return *made;
}

template <Described T>
Json to_json(const T& value) {
  return fields_of<T>().object(&value);
}

}  // namespace secequiv
