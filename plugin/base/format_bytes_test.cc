#include "plugin/base/format_bytes.h"

#include <gtest/gtest.h>

namespace hpu {
namespace format_bytes_test {

TEST(FormatBytesTest, UsesOneUnitFromOneMebibyteOn) {
  EXPECT_EQ("0 bytes", FormatBytes(0));
  EXPECT_EQ("1048575 bytes", FormatBytes((1 << 20) - 1));
  EXPECT_EQ("1 MiB", FormatBytes(1 << 20));
  EXPECT_EQ("1 MiB", FormatBytes((1 << 20) + 1));
  EXPECT_EQ("1.5 MiB", FormatBytes(3 << 19));
  EXPECT_EQ("98304 MiB", FormatBytes(uint64_t{96} << 30));
  EXPECT_EQ("17592186044415.9 MiB", FormatBytes(UINT64_MAX));
}

}  // namespace format_bytes_test
}  // namespace hpu
