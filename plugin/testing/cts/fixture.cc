#include "plugin/testing/cts/fixture.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/testing/cts/verdicts.h"

namespace hpu::cts {

void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(code, status.code()) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), part)) << status << "\n lacks \"" << part << "\"";
}

ScopedVariable::ScopedVariable(const char* name, const std::string& value) : name_(name) {
  const char* previous = std::getenv(name);
  was_set_ = previous != nullptr;
  if (was_set_) previous_ = previous;
  setenv(name, value.c_str(), 1);
}

ScopedVariable::~ScopedVariable() {
  if (was_set_) {
    setenv(name_, previous_.c_str(), 1);
  } else {
    unsetenv(name_);
  }
}

std::vector<uint8_t> Pattern(uint64_t bytes, uint8_t seed) {
  std::vector<uint8_t> pattern(bytes);
  uint32_t state = 2654435769u * (seed + 1u);
  for (uint8_t& byte : pattern) {
    state = state * 1664525u + 1013904223u;
    byte = static_cast<uint8_t>(state >> 24);
  }
  return pattern;
}

void CtsTest::SetUp() {
  const auto* info = testing::UnitTest::GetInstance()->current_test_info();
  if (const Listed* listed = Find(backend().unsupported, PlainName(*info))) GTEST_SKIP() << listed->reason;
  for (const auto& [name, value] : backend().settings) settings_.emplace_back(name, value);
  auto device = Acquire();
  ASSERT_TRUE(device.ok()) << device.status();
  device_ = std::move(device).value();
}

absl::StatusOr<std::unique_ptr<hal::Device>> CtsTest::Acquire(const hal::AcquireOptions& options) {
  auto found = hal::GetBackend(backend().spec);
  if (!found.ok()) return found.status();
  hal::AcquireOptions with_size = options;
  if (with_size.memory_bytes == 0) with_size.memory_bytes = kMemoryBytes;
  return (*found)->Acquire(with_size);
}

void CtsTest::AcquireWithFaults(const std::string& faults) {
  const ScopedVariable variable("HPU_FAULTS", faults);
  slow_work_.clear();
  device_.reset();
  device_ = Value(Acquire());
  ASSERT_NE(nullptr, device_);
}

std::unique_ptr<hal::HostBuffer> CtsTest::Host(const std::vector<uint8_t>& contents) {
  auto buffer = Host(std::max<uint64_t>(contents.size(), 1));
  std::copy(contents.begin(), contents.end(), static_cast<uint8_t*>(buffer->data()));
  return buffer;
}

std::vector<uint8_t> CtsTest::Read(hal::DeviceAddress address, uint64_t bytes) {
  const auto buffer = Host(std::vector<uint8_t>(bytes, 0xEE));
  const auto stream = Stream(hal::StreamKind::kDeviceToHost);
  EXPECT_OK(stream->CopyToHost(address, buffer->data(), bytes));
  EXPECT_OK(stream->Synchronize());
  const auto* data = static_cast<const uint8_t*>(buffer->data());
  return std::vector<uint8_t>(data, data + bytes);
}

void CtsTest::Write(hal::DeviceAddress address, const std::vector<uint8_t>& contents) {
  const auto buffer = Host(contents);
  const auto stream = Stream(hal::StreamKind::kHostToDevice);
  EXPECT_OK(stream->CopyToDevice(buffer->data(), address, contents.size()));
  EXPECT_OK(stream->Synchronize());
}

void CtsTest::ExpectContents(hal::DeviceAddress address, const std::vector<uint8_t>& expected) {
  const std::vector<uint8_t> zeros(expected.size(), 0);
  // Not EXPECT_EQ, which would print every byte.
  EXPECT_TRUE(Read(address, expected.size()) == (backend().holds_data ? expected : zeros));
}

absl::Status CtsTest::QueueSlowWork(hal::Stream& stream) {
  constexpr uint64_t kBytes = uint64_t{64} << 20;
  std::unique_ptr<hal::Memory>& memory = slow_work_[&stream];  // streams that share memory would race
  if (memory == nullptr) memory = Memory(kBytes);
  return stream.Fill(memory->address(), 1, kBytes);
}

}  // namespace hpu::cts
