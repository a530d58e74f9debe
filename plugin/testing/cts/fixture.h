// CtsTest: test fixture of the conformance suites, with helpers.
#ifndef HPU_PLUGIN_TESTING_CTS_FIXTURE_H_
#define HPU_PLUGIN_TESTING_CTS_FIXTURE_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <list>
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

// Returns the value. An error fails the test; Value then returns T().
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

// Fails the test unless `status` has the code and its message contains `part`.
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

// Bytes that vary with position and seed.
std::vector<uint8_t> Pattern(uint64_t bytes, uint8_t seed = 0);

// Acquires a device of the backend for each test. Skips tests in the backend's list of unsupported tests.
class CtsTest : public testing::TestWithParam<BackendUnderTest> {
 protected:
  static constexpr uint64_t kMemoryBytes = uint64_t{256} << 20;

  void SetUp() override;

  const BackendUnderTest& backend() const { return GetParam(); }
  hal::Device& device() { return *device_; }
  // Acquires one more device of the backend.
  absl::StatusOr<std::unique_ptr<hal::Device>> Acquire(const hal::AcquireOptions& options = {});
  // Replaces device() by a device with these faults (HPU_FAULTS).
  void AcquireWithFaults(const std::string& faults);
  void ReleaseDevice() { device_.reset(); }

  std::unique_ptr<hal::Memory> Memory(uint64_t bytes) { return Value(device().AllocateMemory(bytes)); }
  std::unique_ptr<hal::HostBuffer> Host(uint64_t bytes) { return Value(device().AllocateHost(bytes)); }
  // Mapped host memory with these contents.
  std::unique_ptr<hal::HostBuffer> Host(const std::vector<uint8_t>& contents);
  std::unique_ptr<hal::Stream> Stream(hal::StreamKind kind = hal::StreamKind::kCompute) {
    return Value(device().CreateStream(kind));
  }
  std::unique_ptr<hal::Event> Event() { return Value(device().CreateEvent()); }

  // Copies device memory to the host on a separate stream.
  std::vector<uint8_t> Read(hal::DeviceAddress address, uint64_t bytes);
  void Write(hal::DeviceAddress address, const std::vector<uint8_t>& contents);
  // Checks that device memory holds these bytes, if the backend holds data.
  void ExpectContents(hal::DeviceAddress address, const std::vector<uint8_t>& expected);
  // Queues about 10 ms of work on the stream, if the backend does any work.
  absl::Status QueueSlowWork(hal::Stream& stream);

 private:
  std::list<ScopedVariable> settings_;
  std::unique_ptr<hal::Device> device_;
  std::map<hal::Stream*, std::unique_ptr<hal::Memory>> slow_work_;
};

// Instantiates a suite for all backends.
#define HPU_CTS_SUITE(Suite)                                 \
  INSTANTIATE_TEST_SUITE_P(                                  \
      Cts, Suite, testing::ValuesIn(::hpu::cts::Backends()), \
      [](const testing::TestParamInfo<::hpu::cts::BackendUnderTest>& info) { return info.param.name; })

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_FIXTURE_H_
