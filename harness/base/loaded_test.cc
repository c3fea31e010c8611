// Tests libraries that are loaded when they are first needed.
#include "harness/base/loaded.h"

#include <gtest/gtest.h>

#include <string>

namespace secequiv::loaded_test {
namespace {

double (*rounded_down)(double) = nullptr;

TEST(Loaded, StoresTheFunctionsOfALibrary) {
  const LoadedFunction functions[] = {{"floor", reinterpret_cast<void**>(&rounded_down)}};
  ASSERT_TRUE(load_functions("libm.so.6", functions));
  EXPECT_EQ(rounded_down(2.5), 2);
}

TEST(Loaded, ErrorsNameTheLibraryOrTheFunction) {
  void* address = nullptr;
  const LoadedFunction functions[] = {{"no_such_function", &address}};
  const Status library = load_functions("no_such_library.so.7", functions);
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().text().find("no_such_library.so.7"), std::string::npos);
  const Status function = load_functions("libm.so.6", functions);
  ASSERT_FALSE(function);
  EXPECT_NE(function.error().text().find("no_such_function"), std::string::npos);
}

}  // namespace
}  // namespace secequiv::loaded_test
