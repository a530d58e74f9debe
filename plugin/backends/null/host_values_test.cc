// Tests of HostValues: writes, fills, copies, reads and freed ranges.
#include "plugin/backends/null/host_values.h"

#include <gtest/gtest.h>

#include <string>

namespace hpu::null {
namespace host_values_test {

std::string Read(const HostValues& values, hal::DeviceAddress address, uint64_t bytes) {
  std::string contents(bytes, '?');
  values.Read(address, contents.data(), bytes);
  for (char& byte : contents) byte = byte == '\0' ? '0' : byte;
  return contents;
}

TEST(HostValuesTest, ReadsWrittenValuesAndZeros) {
  HostValues values;
  EXPECT_EQ("00", Read(values, 8192, 2));
  values.Write(8192, "abcd", 4);
  values.Write(8198, "ef", 2);
  EXPECT_EQ("0abcd00ef0", Read(values, 8191, 10));
  EXPECT_EQ("cd00e", Read(values, 8194, 5));
  values.Copy(8193, 100, 3);
  EXPECT_EQ("bcd", Read(values, 100, 3));
  values.Fill(100, 'x', 2);  // an overlap drops the whole earlier value
  EXPECT_EQ("xx0", Read(values, 100, 3));
}

TEST(HostValuesTest, LargeWritesAndFreedRangesAreErased) {
  HostValues values;
  values.Write(100, "abcd", 4);
  values.RangeFreed(104, 8);
  values.RangeFreed(92, 8);
  EXPECT_EQ("abcd", Read(values, 100, 4));
  values.RangeFreed(103, 1);
  EXPECT_EQ("0000", Read(values, 100, 4));
  const std::string large(HostValues::kMaxBytes + 1, 'y');
  values.Write(100, large.data(), HostValues::kMaxBytes);
  EXPECT_EQ("yy", Read(values, 100 + HostValues::kMaxBytes - 2, 2));
  values.Write(50, large.data(), large.size());
  EXPECT_EQ("00", Read(values, 100, 2));
}

}  // namespace host_values_test
}  // namespace hpu::null
