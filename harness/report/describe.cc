#include "harness/report/describe.h"

#include <cstring>
#include <utility>

namespace secequiv {
namespace {

// Returns the elements, or nothing if no schema needs them.
template <class T>
std::vector<T> kept(std::initializer_list<T> all) {
  if constexpr (kSchemas)
    return all;
  else
    return {};
}

Json of_field(std::string_view field, Json condition) {
  return {{"properties", {{std::string(field), std::move(condition)}}}};
}

Json sized(std::size_t least, std::optional<std::size_t> most) {
  Json out = Json::object();
  if (least > 0) out["minItems"] = least;
  if (most) out["maxItems"] = *most;
  return out;
}

Json joined(std::string_view how, std::vector<Json> conditions) {
  if (conditions.size() == 1) return std::move(conditions.front());
  return {{std::string(how), std::move(conditions)}};
}

Json with_meaning(const std::string& meaning, Json schema) {
  if (meaning.empty()) return schema;
  Json out{{"description", meaning}};
  schema.erase("description");  // what a type means in general
  out.update(schema);
  return out;
}

}  // namespace

Json Definitions::reference(const std::string& name,
                            const std::function<Json(Definitions&)>& make) {
  if (all_.try_emplace(name).second) {
    Json made = make(*this);  // may add others
    all_[name] = std::move(made);
  }
  return {{"$ref", "#/$defs/" + name}};
}

Shape any_text() {
  return Shape([](Definitions&) { return Json{{"type", "string"}}; });
}
Shape matching(std::string_view pattern) {
  return Shape([=](Definitions&) { return Json{{"type", "string"}, {"pattern", pattern}}; });
}
Shape constant(std::string_view value) {
  return Shape([=](Definitions&) { return Json{{"const", value}}; });
}
Shape words(std::initializer_list<std::string_view> allowed) {
  return Shape([all = kept(allowed)](Definitions&) { return Json{{"enum", all}}; });
}
Shape words(std::span<const std::string_view> allowed) {
  return Shape([=](Definitions&) { return Json{{"enum", allowed}}; });
}
Shape hex32() { return matching("^0x[0-9a-f]{8}$"); }
Shape hex64() { return matching("^0x(0|[1-9a-f][0-9a-f]{0,15})$"); }
Shape decimal() { return matching("^(0|[1-9][0-9]*)$"); }
Shape between(std::uint64_t first, std::uint64_t last) {
  return Shape([=](Definitions&) {
    return Json{{"type", "integer"}, {"minimum", first}, {"maximum", last}};
  });
}
Shape at_least(std::uint64_t first) {
  return Shape([=](Definitions&) { return Json{{"type", "integer"}, {"minimum", first}}; });
}
Shape number32() { return between(0, 0xffffffff); }
Shape number_from(double least) {
  return Shape([=](Definitions&) { return Json{{"type", "number"}, {"minimum", least}}; });
}
Shape above_zero() {
  return Shape([](Definitions&) { return Json{{"type", "number"}, {"exclusiveMinimum", 0}}; });
}
Shape any_number() {
  return Shape([](Definitions&) { return Json{{"type", "number"}}; });
}
Shape any_integer() {
  return Shape([](Definitions&) { return Json{{"type", "integer"}}; });
}
Shape only_true() {
  return Shape([](Definitions&) { return Json{{"const", true}}; });
}
Shape null() {
  return Shape([](Definitions&) { return Json{{"const", nullptr}}; });
}

Shape list_of(Shape element, std::size_t least, std::optional<std::size_t> most) {
  return Shape([=, element = std::move(element)](Definitions& definitions) {
    Json out{{"type", "array"}, {"items", element.schema(definitions)}};
    out.update(sized(least, most));
    return out;
  });
}

Shape set_of(Shape element, std::size_t least) {
  return Shape([list = list_of(std::move(element), least)](Definitions& definitions) {
    Json out = list.schema(definitions);
    out["uniqueItems"] = true;
    return out;
  });
}

Shape map_of(Shape key, Shape value, std::size_t least) {
  return Shape([least, key = std::move(key), value = std::move(value)](Definitions& definitions) {
    Json out{{"type", "object"},
             {"propertyNames", key.schema(definitions)},
             {"additionalProperties", value.schema(definitions)}};
    if (least > 0) out["minProperties"] = least;
    return out;
  });
}

Shape one_of(std::initializer_list<Shape> alternatives) {
  return Shape([alternatives = kept(alternatives)](Definitions& definitions) {
    Json all = Json::array();
    for (const Shape& one : alternatives) all.push_back(one.schema(definitions));
    return Json{{"oneOf", std::move(all)}};
  });
}

Json is(std::string_view field, Json value) {
  return of_field(field, {{"const", std::move(value)}});
}
Json is_one_of(std::string_view field, std::vector<Json> values) {
  return of_field(field, {{"enum", std::move(values)}});
}
Json count_is(std::string_view field, std::size_t least, std::optional<std::size_t> most) {
  return of_field(field, sized(least, most));
}
Json has(const std::vector<std::string_view>& fields) { return {{"required", fields}}; }
Json lacks(const std::vector<std::string_view>& fields) {
  Json out = Json::object();
  for (const std::string_view field : fields) out[std::string(field)] = false;
  return {{"properties", std::move(out)}};
}
Json lacks_one(const std::vector<std::string_view>& fields) { return none({has(fields)}); }
Json inside(std::string_view field, Json condition) {
  return of_field(field, std::move(condition));
}
Json each_in(std::string_view field, Json condition) {
  return of_field(field, {{"items", std::move(condition)}});
}
Json some_in(std::string_view field, Json condition) {
  return of_field(field, {{"contains", std::move(condition)}});
}
Json together(const std::vector<std::string_view>& fields) {
  return any({has(fields), lacks(fields)});
}
Json all(std::vector<Json> conditions) { return joined("allOf", std::move(conditions)); }
Json any(std::vector<Json> conditions) { return joined("anyOf", std::move(conditions)); }
Json none(std::vector<Json> conditions) { return {{"not", any(std::move(conditions))}}; }

namespace shapes {

void put(Json& out, std::string_view value) { out = std::string(value); }
void put(Json& out, const Rows& rows, const void* value) { out = rows.object(value); }
Json& append(Json& list) { return list.emplace_back(); }

Shape reference_to(const Rows& (*rows)()) {
  return Shape([rows](Definitions& definitions) { return rows().reference(definitions); });
}
Shape some_text() {
  return Shape([](Definitions&) { return Json{{"type", "string"}, {"minLength", 1}}; });
}
Shape some_number() {
  return Shape([](Definitions&) { return Json{{"type", "number"}, {"minimum", 0}}; });
}
Shape truth() {
  return Shape([](Definitions&) { return Json{{"type", "boolean"}}; });
}

}  // namespace shapes

Rows::Rows(Purpose purpose) : purpose_(purpose) {}

void Rows::set_names(std::string_view name, std::string_view meaning) {
  name_ = name;
  meaning_ = meaning;
}

void Rows::add_version(const char* name, int version) {
  struct Version {
    const char* name;
    int number;
  };
  Row row;
  row.name = "schema";
  row.keep(Version{name, version});
  row.put = [](const Row& self, const void*, Json& out) {
    const auto& it = self.kept<Version>();
    shapes::put(out, "secequiv." + std::string(it.name) + "/" + std::to_string(it.number));
    return true;
  };
  add(row);
}

void Rows::set_document(std::string_view name, int version, std::string_view title,
                        std::string_view meaning) {
  document_ = name;
  title_ = title;
  meaning_ = meaning;
  add_shape(
      "Name and version of this format.", true, Shape([=](Definitions&) {
        return Json{{"const", "secequiv." + std::string(name) + "/" + std::to_string(version)}};
      }));
}

void Rows::rule(Json condition, Json then, Json otherwise) {
  Json out{{"if", std::move(condition)}, {"then", std::move(then)}};
  if (!otherwise.empty()) out["else"] = std::move(otherwise);
  rules_.push_back(std::move(out));
}

void Rows::add(std::string_view name, const void* getter, std::size_t size,
               bool (*put)(const Row&, const void* it, Json& out)) {
  Row row;
  row.name = name;
  std::memcpy(row.getter.data(), getter, size);
  row.put = put;
  add(row);
}

void Rows::add(Row row) {
  row.only_if = only_if_;
  rows_.push_back(row);
}

void Rows::add_shape(std::string_view meaning, bool required, Shape shape) {
  described_.push_back({std::string(meaning), required && only_if_ == nullptr, std::move(shape)});
}

void Rows::add_object(std::string_view name, std::string_view meaning, std::unique_ptr<Rows> rows) {
  Row row;
  row.name = name;
  row.object = rows.get();
  row.put = [](const Row& self, const void* it, Json& out) {
    shapes::put(out, *self.object, it);
    return true;
  };
  add(row);
  if (for_schema())
    add_shape(meaning, true, Shape([inner = rows.get()](Definitions& definitions) {
                return inner->schema(definitions);
              }));
  objects_.push_back(std::move(rows));
}

void Rows::include(const Rows& part, bool required, Row row) {
  for (const Row& inner : part.rows_) {
    row.name = inner.name;
    row.inner = &inner;
    add(row);
  }
  if (!for_schema()) return;
  for (const Described& one : part.described_)
    add_shape(one.meaning, required && one.required, one.shape);
  rules_.insert(rules_.end(), part.rules_.begin(), part.rules_.end());
}

void Rows::write(const void* value, Json& out) const {
  for (const Row& row : rows_) {
    Json field;
    if (row.write(value, field)) out[std::string(row.name)] = std::move(field);
  }
}

Json Rows::object(const void* value) const {
  Json out = Json::object();
  write(value, out);
  return out;
}

Json Rows::schema(Definitions& definitions) const {
  Json out = with_meaning(meaning_, {{"type", "object"}});
  Json required = Json::array();
  Json properties = Json::object();
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::string name(rows_[i].name);
    const Described& row = described_[i];
    if (row.required) required.push_back(name);
    properties[name] = with_meaning(row.meaning, row.shape.schema(definitions));
  }
  if (!required.empty()) out["required"] = std::move(required);
  out["additionalProperties"] = false;
  out["properties"] = std::move(properties);
  if (!rules_.empty()) out["allOf"] = rules_;
  return out;
}

Json Rows::reference(Definitions& definitions) const {
  const auto make = [this](Definitions& all) { return schema(all); };
  return name_.empty() ? make(definitions) : definitions.reference(name_, make);
}

Json Rows::document_schema() const {
  Definitions definitions;
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
           {"$id", "https://github.com/secequiv/secequiv/schemas/" + document_ + ".schema.json"},
           {"title", title_}};
  out.update(schema(definitions));
  for (const auto& [name, definition] : definitions.all()) out["$defs"][name] = definition;
  return out;
}

}  // namespace secequiv
