// Tests of host accesses to device memory, which must fail on every backend.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace host_access_test {

class HostAccessTest : public CtsTest {};

TEST_P(HostAccessTest, ReadsFault) {
  const auto memory = Memory(4096);
  const auto* pointer = reinterpret_cast<const volatile char*>(memory->address());
  EXPECT_DEATH(static_cast<void>(*pointer), "");
}

TEST_P(HostAccessTest, WritesFault) {
  const auto memory = Memory(4096);
  auto* pointer = reinterpret_cast<volatile char*>(memory->address());
  EXPECT_DEATH(*pointer = 1, "");
}

TEST_P(HostAccessTest, SystemCallsRefuseDeviceAddresses) {
  const auto memory = Memory(4096);
  Write(memory->address(), Pattern(4096));
  auto* pointer = reinterpret_cast<char*>(memory->address());
  // Uses a pipe, because writing to /dev/null does not read the source.
  int ends[2];
  ASSERT_EQ(0, pipe2(ends, O_CLOEXEC));
  errno = 0;
  EXPECT_EQ(-1, write(ends[1], pointer, 16));
  EXPECT_EQ(EFAULT, errno);
  ASSERT_EQ(3, write(ends[1], "abc", 3));
  errno = 0;
  EXPECT_EQ(-1, read(ends[0], pointer, 3));
  EXPECT_EQ(EFAULT, errno);
  close(ends[0]);
  close(ends[1]);
}

HPU_CTS_SUITE(HostAccessTest);

}  // namespace host_access_test
}  // namespace hpu::cts
