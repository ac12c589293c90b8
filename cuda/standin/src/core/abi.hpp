// Declares the entry points from the loader's own list, so that a definition with
// another signature does not compile.
#pragma once

#include "core/library.hpp"
#include "nv.h"

#define STANDIN_DECLARE(name, parameters, arguments) STANDIN_API int32_t name parameters;
#define STANDIN_DECLARE_TEXT(library, name) STANDIN_API const char* name(int32_t status);

NV_FUNCTIONS(STANDIN_DECLARE)
NV_TEXTS(STANDIN_DECLARE_TEXT)
