// Tests of address checks: wrong addresses fail at the call, with the value and the bound.
#include <algorithm>
#include <utility>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace address_test {

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;

class AddressTest : public CtsTest {
 protected:
  void SetUp() override {
    CtsTest::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    memory_ = Memory(kBytes);
    host_ = Host(kBytes);
    stream_ = Stream();
  }
  void TearDown() override {
    // A rejected call leaves no error on the stream.
    if (stream_ != nullptr) EXPECT_OK(stream_->Synchronize());
    stream_.reset();
    host_.reset();
    memory_.reset();
  }

  static constexpr uint64_t kBytes = 4096;
  std::unique_ptr<hal::Memory> memory_;
  std::unique_ptr<hal::HostBuffer> host_;
  std::unique_ptr<hal::Stream> stream_;
};

TEST_P(AddressTest, UnmappedHostMemory) {
  uint64_t local = 0;
  ExpectError(stream_->CopyToDevice(&local, memory_->address(), 8), kInvalid, "not mapped");
  ExpectError(stream_->CopyToHost(memory_->address(), &local, 8), kInvalid, "not mapped");
  ExpectError(stream_->CopyToDevice(nullptr, memory_->address(), 8), kInvalid, "not mapped");
  auto mapping = Value(device().MapHost(&local, sizeof(local)));
  ASSERT_OK(stream_->CopyToDevice(&local, memory_->address(), 8));
  ASSERT_OK(stream_->Synchronize());
  mapping.reset();
  ExpectError(stream_->CopyToDevice(&local, memory_->address(), 8), kInvalid, "not mapped");
}

TEST_P(AddressTest, HostRangesThatCrossTheEnd) {
  char* data = static_cast<char*>(host_->data());
  EXPECT_OK(stream_->CopyToDevice(data + kBytes - 4, memory_->address(), 4));
  ExpectError(stream_->CopyToDevice(data + kBytes - 4, memory_->address(), 5), kInvalid, "exceed the");
  ExpectError(stream_->CopyToHost(memory_->address(), data + kBytes - 4, 5), kInvalid, "exceed the");
  ExpectError(stream_->CopyToHost(memory_->address(), data, ~uint64_t{0}), kInvalid);
}

TEST_P(AddressTest, OverlappingMappingsCountOneByOne) {
  std::vector<char> own(1000);
  auto first = Value(device().MapHost(own.data(), 600));
  const auto second = Value(device().MapHost(own.data() + 400, 600));
  const auto again = Value(device().MapHost(own.data(), 600));
  EXPECT_OK(stream_->CopyToDevice(own.data() + 500, memory_->address(), 500));
  EXPECT_OK(stream_->CopyToDevice(own.data(), memory_->address(), 600));
  ExpectError(stream_->CopyToDevice(own.data(), memory_->address(), 601),
              kInvalid);  // no single mapping contains the range
  first.reset();
  EXPECT_OK(stream_->CopyToDevice(own.data(), memory_->address(), 600));
  EXPECT_OK(stream_->CopyToDevice(own.data() + 400, memory_->address(), 600));
  ASSERT_OK(stream_->Synchronize());
}

TEST_P(AddressTest, MappingsNeedAnAddressAndASize) {
  char byte;
  ExpectError(device().MapHost(nullptr, 8).status(), kInvalid);
  ExpectError(device().MapHost(&byte, 0).status(), kInvalid);
  ExpectError(device().MapHost(&byte, ~uint64_t{0}).status(), kInvalid);
  ExpectError(device().AllocateHost(0).status(), kInvalid);
}

TEST_P(AddressTest, DeviceRangesThatCrossTheEnd) {
  const hal::DeviceAddress end = memory_->address() + kBytes;
  EXPECT_OK(stream_->CopyToDevice(host_->data(), end - 4, 4));
  ExpectError(stream_->CopyToDevice(host_->data(), end - 4, 5), kInvalid, "exceed the");
  ExpectError(stream_->CopyToHost(end - 4, host_->data(), 5), kInvalid, "exceed the");
  ExpectError(stream_->Fill(end - 4, 0, 5), kInvalid, "exceed the");
  ExpectError(stream_->Fill(end - 4, 0, ~uint64_t{0}), kInvalid, "exceed the");
  ExpectError(stream_->CopyOnDevice(memory_->address(), end - 4, 5), kInvalid, "exceed the");
  ExpectError(stream_->CopyOnDevice(end - 4, memory_->address(), 5), kInvalid, "exceed the");
}

TEST_P(AddressTest, RangesMayNotSpanTwoAllocations) {
  const auto first = Memory(hal::kDeviceAlignment);
  const auto second = Memory(hal::kDeviceAlignment);
  const hal::DeviceAddress low = std::min(first->address(), second->address());
  const hal::DeviceAddress high = std::max(first->address(), second->address());
  ExpectError(stream_->Fill(low, 0, high - low + 1), kInvalid, "exceed the");
}

TEST_P(AddressTest, AddressesOutsideAnyMemory) {
  ExpectError(stream_->Fill(0, 0, 1), kInvalid, "null address");
  ExpectError(stream_->Fill(reinterpret_cast<uint64_t>(host_->data()), 0, 1), kInvalid, "host pointer");
  ExpectError(stream_->CopyToHost(~uint64_t{0}, host_->data(), 1), kInvalid);
  const hal::DeviceAddress freed = Memory(64)->address();
  ExpectError(stream_->CopyToHost(freed, host_->data(), 1), kInvalid, "freed");
}

TEST_P(AddressTest, EmptyRangesAreValidAnywhere) {
  EXPECT_OK(stream_->CopyToDevice(nullptr, 0, 0));
  EXPECT_OK(stream_->CopyToHost(0, nullptr, 0));
  EXPECT_OK(stream_->CopyOnDevice(0, memory_->address() + kBytes, 0));
  EXPECT_OK(stream_->Fill(0, 1, 0));
}

TEST_P(AddressTest, HostBuffersArePageAlignedAndZero) {
  const auto buffer = Host(5000);
  EXPECT_EQ(0u, reinterpret_cast<uint64_t>(buffer->data()) % 4096);
  EXPECT_EQ(5000u, buffer->size());
  const auto* bytes = static_cast<const uint8_t*>(buffer->data());
  EXPECT_TRUE(std::all_of(bytes, bytes + buffer->size(), [](uint8_t byte) { return byte == 0; }));
}

TEST_P(AddressTest, HostBuffersAreCommittedAsTheyAreTouched) {
  // 1 TiB, more than most machines' memory: a pool of TF_CPU_ALLOCATOR_SIZE_G only costs address space.
  const auto pool = Value(device().AllocateHost(uint64_t{1} << 40));
  ASSERT_NE(nullptr, pool);
  char* middle = static_cast<char*>(pool->data()) + pool->size() / 2;
  *middle = 1;
  EXPECT_OK(stream_->CopyToDevice(middle, memory_->address(), 1));
  ASSERT_OK(stream_->Synchronize());
}

HPU_CTS_SUITE(AddressTest);

}  // namespace address_test
}  // namespace hpu::cts
