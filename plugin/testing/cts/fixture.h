// What the suites of the conformance tests share.
#ifndef HPU_PLUGIN_TESTING_CTS_FIXTURE_H_
#define HPU_PLUGIN_TESTING_CTS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "plugin/hal/backend.h"
#include "plugin/hal/device.h"
#include "plugin/testing/cts/backends.h"

namespace hpu::cts {

// A failed precondition of the test itself, in functions that return a value.
template <typename T>
T Value(absl::StatusOr<T> value) {
  if (!value.ok()) {
    ADD_FAILURE() << value.status();
    return T();
  }
  return std::move(value).value();
}

#define EXPECT_OK(expression) EXPECT_EQ(absl::OkStatus(), (expression))
#define ASSERT_OK(expression) ASSERT_EQ(absl::OkStatus(), (expression))

// Code and a part of the message.
void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part = "");

// Sets an environment variable for a scope.
class ScopedVariable {
 public:
  ScopedVariable(const char* name, const std::string& value);
  ~ScopedVariable();
  ScopedVariable(const ScopedVariable&) = delete;
  ScopedVariable& operator=(const ScopedVariable&) = delete;

 private:
  const char* const name_;
  std::string previous_;
  bool was_set_;
};

// Bytes that differ from place to place and from seed to seed.
std::vector<uint8_t> Pattern(uint64_t bytes, uint8_t seed = 0);

// A device of the backend, acquired for the test; skips what the backend's list says.
class CtsTest : public testing::TestWithParam<BackendUnderTest> {
 protected:
  static constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;

  void SetUp() override;

  const BackendUnderTest& backend() const { return GetParam(); }
  hal::Device& device() { return *device_; }
  // A second look at acquiring: with other options, or while a fault is asked for.
  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options = {});
  // Replaces device() by one with these faults (HPU_EMULATOR_FAULTS).
  void AcquireWithFaults(const std::string& faults);
  void ReleaseDevice() { device_.reset(); }

  std::unique_ptr<hal::Memory> Memory(uint64_t bytes) { return Value(device().AllocateMemory(bytes)); }
  std::unique_ptr<hal::HostBuffer> Host(uint64_t bytes) { return Value(device().AllocateHost(bytes)); }
  // Mapped host memory with these bytes in it.
  std::unique_ptr<hal::HostBuffer> Host(const std::vector<uint8_t>& contents);
  std::unique_ptr<hal::Stream> Stream(hal::StreamKind kind = hal::StreamKind::kCompute) {
    return Value(device().CreateStream(kind));
  }
  std::unique_ptr<hal::Event> Event() { return Value(device().CreateEvent()); }

  // Copies device memory to the host through a stream of its own.
  std::vector<uint8_t> Read(hal::DeviceAddress address, uint64_t bytes);
  void Write(hal::DeviceAddress address, const std::vector<uint8_t>& contents);
  // That device memory holds these bytes, where the backend holds data.
  void ExpectContents(hal::DeviceAddress address, const std::vector<uint8_t>& expected);
  // Work that keeps a stream busy for some 10 ms, where the backend works at all.
  absl::Status QueueSlowWork(hal::Stream& stream);

 private:
  std::unique_ptr<hal::Device> device_;
  std::map<hal::Stream*, std::unique_ptr<hal::Memory>> slow_work_;
};

// Instantiates a suite over all backends.
#define HPU_CTS_SUITE(Suite)                                 \
  INSTANTIATE_TEST_SUITE_P(                                  \
      Cts, Suite, testing::ValuesIn(::hpu::cts::Backends()), \
      [](const testing::TestParamInfo<::hpu::cts::BackendUnderTest>& info) { return info.param.name; })

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_FIXTURE_H_
