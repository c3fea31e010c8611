// Shared by our policy reader and the importers: a position in a JSON document that knows its
// pointer, and typed access whose errors name that pointer. It must not know any policy format.
#pragma once

#include <fmt/format.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>

#include "harness/base/result.h"

namespace secequiv {

// A JSON value and where it stands.
class JsonCursor {
 public:
  JsonCursor(const nlohmann::json& value, std::string file)
      : value_(&value), file_(std::move(file)) {}

  const nlohmann::json& value() const { return *value_; }
  const std::string& file() const { return file_; }
  JsonCursor at(const std::string& key) const;
  JsonCursor at(std::size_t index) const;
  const std::string& pointer() const { return pointer_; }
  bool has(const std::string& key) const { return value_->is_object() && value_->contains(key); }
  // Has the key a value other than null?
  bool given(const std::string& key) const { return has(key) && !value_->at(key).is_null(); }

  // kPolicy error here.
  Error fail(std::string detail) const;
  // "expected WHAT, found VALUE" (the value shortened).
  Error expected(std::string_view what) const;

  Result<std::string> string(std::string_view what) const;
  Result<std::uint32_t> number32(std::string_view what) const;
  Result<std::uint64_t> number64() const;
  // Refuses keys not in `known`.
  Status object_with(std::initializer_list<std::string_view> known) const;
  // Refuses an object that lacks one of `keys`.
  Status required(std::initializer_list<const char*> keys) const;
  Status array(std::string_view what) const;

 private:
  JsonCursor(const nlohmann::json& value, std::string file, std::string pointer)
      : value_(&value), file_(std::move(file)), pointer_(std::move(pointer)) {}

  const nlohmann::json* value_;
  std::string file_;
  std::string pointer_;
};

}  // namespace secequiv
