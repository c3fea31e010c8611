#include "harness/report/describe.h"

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

Json conditional(Json condition, Json then, Json otherwise) {
  Json out{{"if", std::move(condition)}, {"then", std::move(then)}};
  if (!otherwise.empty()) out["else"] = std::move(otherwise);
  return out;
}

Json with_meaning(const std::string& meaning, Json schema) {
  if (meaning.empty()) return schema;
  Json out{{"description", meaning}};
  schema.erase("description");  // what a type means in general
  out.update(schema);
  return out;
}

Json object_schema(const std::string& meaning, Json required, Json properties,
                   const std::vector<Json>& rules) {
  Json out = with_meaning(meaning, {{"type", "object"}});
  if (!required.empty()) out["required"] = std::move(required);
  out["additionalProperties"] = false;
  out["properties"] = std::move(properties);
  if (!rules.empty()) out["allOf"] = rules;
  return out;
}

Json document_schema(const std::string& document, const std::string& title, Json object,
                     const Definitions& definitions) {
  Json out{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
           {"$id", "https://github.com/secequiv/secequiv/schemas/" + document + ".schema.json"},
           {"title", title}};
  out.update(object);
  for (const auto& [name, schema] : definitions.all()) out["$defs"][name] = schema;
  return out;
}

}  // namespace shapes
}  // namespace secequiv
