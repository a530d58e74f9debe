// Tests of device memory: allocation and release.
#include <algorithm>
#include <thread>

#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace memory_test {

class MemoryTest : public CtsTest {};

TEST_P(MemoryTest, AddressesAreAlignedAndSizesAreExact) {
  std::vector<std::unique_ptr<hal::Memory>> memories;
  for (const uint64_t bytes : {1, 7, 127, 128, 129, 4095, 4096, 100'001}) {
    memories.push_back(Memory(bytes));
    ASSERT_NE(nullptr, memories.back());
    EXPECT_EQ(bytes, memories.back()->size());
    EXPECT_NE(0u, memories.back()->address());
    EXPECT_EQ(0u, memories.back()->address() % hal::kDeviceAlignment);
  }
}

TEST_P(MemoryTest, RangesDoNotOverlap) {
  std::vector<std::unique_ptr<hal::Memory>> memories;
  for (int i = 1; i <= 200; ++i) memories.push_back(Memory(i * 37));
  std::sort(memories.begin(), memories.end(), [](const auto& a, const auto& b) { return a->address() < b->address(); });
  for (size_t i = 1; i < memories.size(); ++i) {
    EXPECT_GE(memories[i]->address(), memories[i - 1]->address() + memories[i - 1]->size());
  }
}

TEST_P(MemoryTest, ZeroBytesAreRefused) {
  ExpectError(device().AllocateMemory(0).status(), absl::StatusCode::kInvalidArgument, "0 bytes");
}

TEST_P(MemoryTest, ExhaustionNamesRequestedAndFreeBytes) {
  const auto held = Memory(kMemoryBytes / 2);
  const uint64_t asked = kMemoryBytes / 2 + 1;
  const absl::Status status = device().AllocateMemory(asked).status();
  ExpectError(status, absl::StatusCode::kResourceExhausted, absl::StrCat(asked));
  ExpectError(status, absl::StatusCode::kResourceExhausted, absl::StrCat(kMemoryBytes / 2));
  ExpectError(status, absl::StatusCode::kResourceExhausted, "HPU_MEMORY_MB");
  ExpectError(device().AllocateMemory(~uint64_t{0}).status(), absl::StatusCode::kResourceExhausted);
  EXPECT_TRUE(device().AllocateMemory(kMemoryBytes / 2).ok());
}

TEST_P(MemoryTest, AllMemoryCanBeReallocated) {
  EXPECT_EQ(kMemoryBytes, device().info().memory_bytes);
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(device().AllocateMemory(kMemoryBytes).ok());
}

TEST_P(MemoryTest, InfoCountsAllocatedBytes) {
  EXPECT_EQ(kMemoryBytes, device().memory_info().total_bytes);
  EXPECT_EQ(kMemoryBytes, device().memory_info().free_bytes);
  {
    const auto memory = Memory(1000);
    EXPECT_EQ(kMemoryBytes - 1024, device().memory_info().free_bytes);
  }
  EXPECT_EQ(kMemoryBytes, device().memory_info().free_bytes);
}

TEST_P(MemoryTest, FreedNeighboursAreMergedInAnyOrder) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    std::vector<std::unique_ptr<hal::Memory>> quarters;
    for (int i = 0; i < 4; ++i) quarters.push_back(Memory(kMemoryBytes / 4));
    for (const int i : order) quarters[i].reset();
    ASSERT_TRUE(device().AllocateMemory(kMemoryBytes).ok());
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(MemoryTest, FragmentedMemoryIsReportedAsSuch) {
  std::vector<std::unique_ptr<hal::Memory>> quarters;
  for (int i = 0; i < 4; ++i) quarters.push_back(Memory(kMemoryBytes / 4));
  quarters[0].reset();
  quarters[2].reset();
  EXPECT_EQ(kMemoryBytes / 2, device().memory_info().free_bytes);
  ExpectError(device().AllocateMemory(kMemoryBytes / 2).status(), absl::StatusCode::kResourceExhausted,
              "largest free block");
}

TEST_P(MemoryTest, SeveralThreadsAllocateAndFree) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      std::vector<std::unique_ptr<hal::Memory>> held(16);
      uint32_t state = t + 1;
      for (int i = 0; i < 2000; ++i) {
        state = state * 1664525u + 1013904223u;
        auto& slot = held[(state >> 8) % held.size()];
        slot.reset();
        if (state >> 31) slot = Memory(1 + (state >> 12) % 100'000);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(kMemoryBytes, device().memory_info().free_bytes);
  EXPECT_TRUE(device().AllocateMemory(kMemoryBytes).ok());
}

TEST_P(MemoryTest, ReleaseWaitsForQueuedWork) {
  const auto stream = Stream();
  auto first = Memory(kMemoryBytes / 2);
  const hal::DeviceAddress address = first->address();
  ASSERT_OK(stream->Fill(address, 1, kMemoryBytes / 2));
  ASSERT_OK(stream->Fill(address, 2, kMemoryBytes / 2));
  first.reset();
  // Work queued by the old owner must not reach the new owner's memory.
  const auto second = Memory(kMemoryBytes / 2);
  ASSERT_EQ(address, second->address());
  const auto other = Stream(hal::StreamKind::kHostToDevice);
  ASSERT_OK(other->Fill(address, 3, 4096));
  ASSERT_OK(other->Synchronize());
  ExpectContents(address, std::vector<uint8_t>(4096, 3));
}

HPU_CTS_SUITE(MemoryTest);

}  // namespace memory_test
}  // namespace hpu::cts
