// Programs for the tests of recipes and loops. XLA's headers stay in the .cc file.
#ifndef HPU_PLUGIN_TESTING_CTS_PROGRAMS_H_
#define HPU_PLUGIN_TESTING_CTS_PROGRAMS_H_

#include <cstdint>
#include <string>

#include "plugin/hal/recipe.h"

namespace hpu::cts {

// float a[n], b[n] -> (a + b, a * b)
hal::Program SumAndProduct(int64_t n);
// float x[n], d[n] -> (x + d), where the result may alias x
hal::Program AddInPlace(int64_t n);
// As AddInPlace, plus a number whose computation needs temporaries of 256 TiB.
hal::Program AddInPlaceOutOfMemory(int64_t n);
// `count` scalars -> (their sum)
hal::Program SumOfScalars(int count);
// float x[n], limit -> (x doubled until its first element is at least limit), where the result may alias x
hal::Program DoubleUntil(int64_t n);
// () -> (int32 scalar 7)
hal::Program Constant();
// float e[0], x[2] -> (-e, -x)
hal::Program WithEmptyArray();
// Returns one array instead of a tuple of arrays: an invalid program.
hal::Program WithoutTuple();

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_PROGRAMS_H_
