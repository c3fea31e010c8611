#include "harness/report/describe.h"

#include <memory>

namespace secequiv {
namespace {

Json number(std::string_view type, std::optional<std::uint64_t> least = {},
            std::optional<std::uint64_t> most = {}) {
  Json out{{"type", type}};
  if (least) out["minimum"] = *least;
  if (most) out["maximum"] = *most;
  return out;
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

Shape any_text() { return Shape(Json{{"type", "string"}}); }
Shape matching(std::string_view pattern) {
  return Shape(Json{{"type", "string"}, {"pattern", pattern}});
}
Shape constant(Json value) { return Shape(Json{{"const", std::move(value)}}); }
Shape words(const std::vector<std::string_view>& allowed) { return Shape(Json{{"enum", allowed}}); }
Shape hex32() { return matching("^0x[0-9a-f]{8}$"); }
Shape hex64() { return matching("^0x(0|[1-9a-f][0-9a-f]{0,15})$"); }
Shape decimal() { return matching("^(0|[1-9][0-9]*)$"); }
Shape between(std::uint64_t first, std::uint64_t last) {
  return Shape(number("integer", first, last));
}
Shape at_least(std::uint64_t first) { return Shape(number("integer", first)); }
Shape number32() { return between(0, 0xffffffff); }
Shape number_from(double least) { return Shape(Json{{"type", "number"}, {"minimum", least}}); }
Shape above_zero() { return Shape(Json{{"type", "number"}, {"exclusiveMinimum", 0}}); }
Shape any_number() { return Shape(number("number")); }
Shape any_integer() { return Shape(number("integer")); }

Shape list_of(Shape element, std::size_t least, std::optional<std::size_t> most) {
  return Shape([=](Definitions& definitions) {
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
  return Shape([=](Definitions& definitions) {
    Json out{{"type", "object"},
             {"propertyNames", key.schema(definitions)},
             {"additionalProperties", value.schema(definitions)}};
    if (least > 0) out["minProperties"] = least;
    return out;
  });
}

Shape one_of(std::vector<Shape> alternatives) {
  return Shape([alternatives = std::move(alternatives)](Definitions& definitions) {
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

Json text(std::string_view value) { return std::string(value); }

Shape reference_to(const Rows& (*rows)()) {
  return Shape([rows](Definitions& definitions) { return rows().reference(definitions); });
}

}  // namespace shapes

void Rows::is(std::string_view name, std::string_view meaning) {
  name_ = name;
  meaning_ = meaning;
}

void Rows::document(std::string_view name, int version, std::string_view title,
                    std::string_view meaning) {
  document_ = name;
  title_ = title;
  meaning_ = meaning;
  const std::string schema = "secequiv." + document_ + "/" + std::to_string(version);
  add("schema", "Name and version of this format.", true, constant(schema),
      [schema](const void*) { return shapes::text(schema); });
}

void Rows::rule(Json condition, Json then, Json otherwise) {
  Json out{{"if", std::move(condition)}, {"then", std::move(then)}};
  if (!otherwise.empty()) out["else"] = std::move(otherwise);
  rules_.push_back(std::move(out));
}

void Rows::add(std::string_view name, std::string_view meaning, bool required, Shape shape,
               Value value) {
  rows_.push_back({std::string(name), std::string(meaning), std::move(value),
                   std::move(shape.schema), required && !only_if_, only_if_});
}

void Rows::add(std::string_view name, std::string_view meaning, Rows rows) {
  const auto inner = std::make_shared<const Rows>(std::move(rows));
  add(name, meaning, true,
      Shape([inner](Definitions& definitions) { return inner->schema(definitions); }),
      [inner](const void* it) { return inner->object(it); });
}

void Rows::add(const Rows& part, bool required, PartValue value) {
  for (const Row& row : part.rows_)
    add(row.name, row.meaning, required && row.required, Shape(row.schema),
        [value, &row](const void* it) { return value(row, it); });
  rules_.insert(rules_.end(), part.rules_.begin(), part.rules_.end());
}

void Rows::write(const void* value, Json& out) const {
  for (const Row& row : rows_)
    if (auto field = row.of(value)) out[row.name] = std::move(*field);
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
  for (const Row& row : rows_) {
    if (row.required) required.push_back(row.name);
    properties[row.name] = with_meaning(row.meaning, row.schema(definitions));
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
