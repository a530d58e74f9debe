// Tests of copies and fills, in every direction and size.
#include <algorithm>
#include <cstring>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace copy_test {

constexpr uint64_t kSizes[] = {0, 1, 3, 127, 128, 129, 4096, 4097, 65'537, (uint64_t{1} << 20) + 1};

class CopyTest : public CtsTest {};

TEST_P(CopyTest, ToDeviceAndBack) {
  for (const uint64_t bytes : kSizes) {
    SCOPED_TRACE(bytes);
    const auto memory = Memory(bytes + 1);
    const std::vector<uint8_t> pattern = Pattern(bytes + 1);
    const auto source = Host(pattern);
    const auto stream = Stream(hal::StreamKind::kHostToDevice);
    ASSERT_OK(stream->CopyToDevice(source->data(), memory->address(), bytes));
    ASSERT_OK(stream->Synchronize());
    ExpectContents(memory->address(), std::vector<uint8_t>(pattern.begin(), pattern.begin() + bytes));
  }
}

TEST_P(CopyTest, OnDevice) {
  for (const uint64_t bytes : kSizes) {
    SCOPED_TRACE(bytes);
    const auto source = Memory(bytes + 1);
    const auto destination = Memory(bytes + 1);
    const std::vector<uint8_t> pattern = Pattern(bytes);
    Write(source->address(), pattern);
    const auto stream = Stream();
    ASSERT_OK(stream->CopyOnDevice(source->address(), destination->address(), bytes));
    ASSERT_OK(stream->Synchronize());
    ExpectContents(destination->address(), pattern);
  }
}

TEST_P(CopyTest, OverlappingOnDevice) {
  const auto memory = Memory(10'000);
  const std::vector<uint8_t> pattern = Pattern(9'000);
  const auto stream = Stream();
  for (const bool forwards : {true, false}) {
    const uint64_t from = forwards ? 0 : 1'000;
    const uint64_t to = forwards ? 1'000 : 0;
    Write(memory->address() + from, pattern);
    ASSERT_OK(stream->CopyOnDevice(memory->address() + from, memory->address() + to, pattern.size()));
    ASSERT_OK(stream->Synchronize());
    ExpectContents(memory->address() + to, pattern);
  }
}

TEST_P(CopyTest, PartialCopiesLeaveOtherBytes) {
  const auto memory = Memory(1000);
  std::vector<uint8_t> expected = Pattern(1000, 1);
  Write(memory->address(), expected);
  const std::vector<uint8_t> part = Pattern(301, 2);
  Write(memory->address() + 99, part);
  std::copy(part.begin(), part.end(), expected.begin() + 99);
  ExpectContents(memory->address(), expected);
}

TEST_P(CopyTest, PartOfAHostBuffer) {
  const std::vector<uint8_t> pattern = Pattern(1000);
  const auto host = Host(pattern);
  const auto memory = Memory(10);
  const auto stream = Stream();
  ASSERT_OK(stream->CopyToDevice(static_cast<char*>(host->data()) + 990, memory->address(), 10));
  ASSERT_OK(stream->CopyToHost(memory->address(), static_cast<char*>(host->data()) + 1, 10));
  ASSERT_OK(stream->Synchronize());
  std::vector<uint8_t> expected = pattern;
  for (int i = 0; i < 10; ++i) expected[1 + i] = backend().holds_data ? pattern[990 + i] : 0;
  EXPECT_EQ(0, std::memcmp(expected.data(), host->data(), expected.size()));
}

TEST_P(CopyTest, FillSetsExactlyTheRange) {
  for (const uint64_t bytes : kSizes) {
    SCOPED_TRACE(bytes);
    const auto memory = Memory(bytes + 2);
    std::vector<uint8_t> expected = Pattern(bytes + 2);
    Write(memory->address(), expected);
    const auto stream = Stream();
    ASSERT_OK(stream->Fill(memory->address() + 1, 0xA5, bytes));
    ASSERT_OK(stream->Synchronize());
    std::fill_n(expected.begin() + 1, bytes, 0xA5);
    ExpectContents(memory->address(), expected);
  }
}

TEST_P(CopyTest, MappedMemoryOfTheCaller) {
  std::vector<uint8_t> own = Pattern(10'000);
  const auto mapping = Value(device().MapHost(own.data(), own.size()));
  ASSERT_NE(nullptr, mapping);
  EXPECT_EQ(own.data(), mapping->data());
  EXPECT_EQ(own.size(), mapping->size());
  const auto memory = Memory(own.size());
  const auto stream = Stream();
  ASSERT_OK(stream->CopyToDevice(own.data(), memory->address(), own.size()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(memory->address(), Pattern(10'000));
}

TEST_P(CopyTest, EveryStreamKindCopiesInEveryDirection) {
  const std::vector<uint8_t> pattern = Pattern(100);
  const auto host = Host(pattern);
  for (const auto kind : {hal::StreamKind::kCompute, hal::StreamKind::kHostToDevice, hal::StreamKind::kDeviceToHost}) {
    const auto memory = Memory(200);
    const auto stream = Stream(kind);
    EXPECT_EQ(kind, stream->kind());
    ASSERT_OK(stream->CopyToDevice(host->data(), memory->address(), 100));
    ASSERT_OK(stream->CopyOnDevice(memory->address(), memory->address() + 100, 100));
    ASSERT_OK(stream->Fill(memory->address(), 0, 100));
    ASSERT_OK(stream->Synchronize());
    ExpectContents(memory->address() + 100, pattern);
  }
}

TEST_P(CopyTest, OneGigabyte) {
  constexpr uint64_t kGigabyte = uint64_t{1} << 30;
  ReleaseDevice();
  hal::AcquireOptions options;
  options.memory_bytes = kGigabyte;
  const auto large = Value(Acquire(options));
  ASSERT_NE(nullptr, large);
  const auto memory = Value(large->AllocateMemory(kGigabyte));
  const auto host = Value(large->AllocateHost(kGigabyte));
  const auto stream = Value(large->CreateStream(hal::StreamKind::kCompute));
  // A mark in every 4 KiB, so that a missing page is detected.
  auto* words = static_cast<uint64_t*>(host->data());
  constexpr uint64_t kStep = 4096 / sizeof(uint64_t);
  constexpr uint64_t kWords = kGigabyte / sizeof(uint64_t);
  for (uint64_t i = 0; i < kWords; i += kStep) words[i] = i + 1;
  ASSERT_OK(stream->CopyToDevice(words, memory->address(), kGigabyte));
  ASSERT_OK(stream->Synchronize());
  for (uint64_t i = 0; i < kWords; i += kStep) words[i] = ~uint64_t{0};
  ASSERT_OK(stream->CopyToHost(memory->address(), words, kGigabyte));
  ASSERT_OK(stream->Synchronize());
  uint64_t wrong = 0;
  for (uint64_t i = 0; i < kWords; i += kStep) wrong += words[i] != (backend().holds_data ? i + 1 : 0);
  EXPECT_EQ(0u, wrong);
}

HPU_CTS_SUITE(CopyTest);

}  // namespace copy_test
}  // namespace hpu::cts
