#include "test/test.hpp"

// Every function of the loader's list is defined: this does not link otherwise.
TEST(every_function_is_there) {
#define STANDIN_ADDRESS(name, parameters, arguments) reinterpret_cast<void*>(&name),
#define STANDIN_TEXT_ADDRESS(library, name) reinterpret_cast<void*>(&name),
  const std::vector<void*> all = {NV_FUNCTIONS(STANDIN_ADDRESS) NV_TEXTS(STANDIN_TEXT_ADDRESS)};
  for (void* f : all) EQUAL(f != nullptr, true);
}
