#include "harness/report/describe.h"

#include <gtest/gtest.h>

namespace secequiv {
namespace {

struct Place {
  std::string file;
  int line = 0;
};
void describe(Fields<Place>& place) {
  place("file", "Its path.", &Place::file);
  place("line", "From 1.", &Place::line, at_least(1));
}

struct Part {
  std::string name;
  std::optional<std::string> detail;
};
void describe(Fields<Part>& part) {
  part.is("part", "One part.");
  part("name", "", &Part::name);
  part("detail", "Why it failed.", &Part::detail);
}

struct Sample {
  Place place;
  std::optional<Place> origin;
  std::vector<Part> parts;
  bool counted = false;
  std::uint64_t count = 0;
};
void describe(Fields<Sample>& sample) {
  sample.document("sample", 3, "A sample", "What it means.");
  sample.include(&Sample::place);
  sample("origin", "", &Sample::origin);
  sample("parts", "All parts.", &Sample::parts, list_of<Part>(1));
  sample("counted", "", &Sample::counted);
  sample.only_if([](const Sample& it) { return it.counted; });
  sample("count", "How many.", &Sample::count);
  sample.object("totals", "Sums.", [](Fields<Sample>& totals) {
    totals("parts", "", [](const Sample& it) { return it.parts.size(); });
  });
  sample.only_if(nullptr);
  if (!sample.for_schema()) return;
  sample.rule(is("counted", true), has({"count", "totals"}), lacks({"count", "totals"}));
}

const Sample kSample{{"a", 1}, {}, {{"p", {}}, {"q", "late"}}};

template <class T>
Json written(const Fields<T>& fields, const T& value) {
  Json out = Json::object();
  fields.write(&value, out);
  return out;
}

TEST(Describe, WritesTheFieldsInTheOrderOfTheirRows) {
  EXPECT_EQ(to_json(kSample).dump(),
            R"({"schema":"secequiv.sample/3","file":"a","line":1,"parts":[{"name":"p"},)"
            R"({"name":"q","detail":"late"}],"counted":false})");
  Sample counted = kSample;
  counted.counted = true;
  counted.count = 7;
  counted.origin = {"b", 2};
  const Json json = to_json(counted);
  EXPECT_EQ(json["origin"].dump(), R"({"file":"b","line":2})");
  EXPECT_EQ(json["count"], 7);
  EXPECT_EQ(json["totals"].dump(), R"({"parts":2})");
}

TEST(Describe, TheSchemaFollowsFromTheRows) {
  const Json schema = schema_of<Sample>().document_schema();
  EXPECT_EQ(schema["title"], "A sample");
  EXPECT_EQ(schema["description"], "What it means.");
  EXPECT_EQ(schema["required"].dump(), R"(["schema","file","line","parts","counted"])");
  EXPECT_EQ(schema["additionalProperties"], false);
  const Json& fields = schema["properties"];
  EXPECT_EQ(fields["schema"]["const"], "secequiv.sample/3");
  EXPECT_EQ(fields["line"].dump(), R"({"description":"From 1.","type":"integer","minimum":1})");
  EXPECT_EQ(fields["parts"].dump(),
            R"({"description":"All parts.","type":"array","items":{"$ref":"#/$defs/part"},)"
            R"("minItems":1})");
  EXPECT_EQ(fields["origin"]["required"].dump(), R"(["file","line"])");  // it has no name
  EXPECT_EQ(schema["$defs"]["part"]["required"].dump(), R"(["name"])");
  EXPECT_EQ(schema["allOf"][0].dump(), R"({"if":{"properties":{"counted":{"const":true}}},)"
                                       R"("then":{"required":["count","totals"]},)"
                                       R"("else":{"properties":{"count":false,"totals":false}}})");
}

TEST(Describe, ThePartOfAReportKeepsItsRules) {
  struct Whole {
    Sample sample;
  };
  Fields<Whole> whole(Rows::Purpose::kSchema);
  whole.include(&Whole::sample);
  Definitions definitions;
  EXPECT_EQ(whole.schema(definitions)["allOf"], schema_of<Sample>().document_schema()["allOf"]);
  EXPECT_EQ(written(whole, Whole{kSample}), to_json(kSample));
}

TEST(Describe, AnOptionalPartRequiresNothing) {
  struct Whole {
    std::optional<Place> place;
  };
  Fields<Whole> whole(Rows::Purpose::kSchema);
  whole.include(&Whole::place);
  Definitions definitions;
  EXPECT_FALSE(whole.schema(definitions).contains("required"));
  EXPECT_EQ(written(whole, Whole()).dump(), "{}");
  EXPECT_EQ(written(whole, Whole{Place{"a", 1}}), to_json(Place{"a", 1}));
}

TEST(Describe, ConditionsAreSchemas) {
  EXPECT_EQ(is_empty("a").dump(), R"({"properties":{"a":{"maxItems":0}}})");
  EXPECT_EQ(is_filled("a").dump(), R"({"properties":{"a":{"minItems":1}}})");
  EXPECT_EQ(lacks_one({"a", "b"}).dump(), R"({"not":{"required":["a","b"]}})");
  EXPECT_EQ(together({"a", "b"}).dump(),
            R"({"anyOf":[{"required":["a","b"]},{"properties":{"a":false,"b":false}}]})");
  EXPECT_EQ(some_in("a", is("b", 1)).dump(),
            R"({"properties":{"a":{"contains":{"properties":{"b":{"const":1}}}}}})");
  EXPECT_EQ(all({has({"a"})}), has({"a"}));
}

}  // namespace
}  // namespace secequiv
