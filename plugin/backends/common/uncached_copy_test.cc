#include "plugin/backends/common/uncached_copy.h"

#include <gtest/gtest.h>

#include <string>

namespace hpu::common {
namespace {

TEST(UncachedCopyTest, CopiesExactlyTheRange) {
  constexpr uint64_t kMax = (uint64_t{300} << 10) + 200;
  std::string source(kMax + 64, '\0');
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7 + i / 251);
  for (const uint64_t bytes : {uint64_t{0}, uint64_t{1}, uint64_t{200}, kMax - 129, kMax}) {
    for (const uint64_t shift : {0, 1, 16, 63}) {
      std::string destination(kMax + 128, '!');
      CopyUncached(destination.data() + shift, source.data() + 3, bytes);
      const std::string expected = std::string(shift, '!') + source.substr(3, bytes);
      EXPECT_EQ(expected + std::string(destination.size() - expected.size(), '!'), destination)
          << bytes << " bytes at " << shift;
    }
  }
}

}  // namespace
}  // namespace hpu::common
