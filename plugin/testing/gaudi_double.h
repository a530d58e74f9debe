// Test fixtures that run the Gaudi backend over the Synapse double of each release.
#ifndef HPU_PLUGIN_TESTING_GAUDI_DOUBLE_H_
#define HPU_PLUGIN_TESTING_GAUDI_DOUBLE_H_

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/backends/gaudi/device/device.h"
#include "plugin/backends/gaudi/device/runtime.h"

namespace hpu::gaudi {

// Checks the code and a part of the message.
inline void ExpectError(const absl::Status& status, absl::StatusCode code, const std::string& part) {
  EXPECT_EQ(code, status.code()) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), part)) << status << "\n lacks \"" << part << "\"";
}

// Starts a double for each test, and sets environment variables for the test. Each test has separate lock files.
class DoubleTest : public testing::TestWithParam<const char*> {
 protected:
  DoubleTest() : folder_(std::filesystem::temp_directory_path() / absl::StrCat("hpu_gaudi_test.", getpid())) {
    std::filesystem::create_directories(folder_ / "devices");
    Set("HPU_MODULE_LOCK_DIR", (folder_ / "locks").string());
    Set("SYNAPSE_DOUBLE_LOCKS", (folder_ / "devices").string());
    Set("SYNAPSE_DOUBLE_DEVICES", "2");
    Set("SYNAPSE_DOUBLE_STRICT", "abort");
  }
  ~DoubleTest() override {
    runtime_.reset();
    for (const std::string& name : variables_) unsetenv(name.c_str());
    std::filesystem::remove_all(folder_);
  }

  void Set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    variables_.push_back(name);
  }

  // The double's runtime, started at the first call. The double reads its switches when it starts.
  Runtime& runtime() {
    if (runtime_ == nullptr) {
      auto started = Runtime::Start(GetParam());
      EXPECT_TRUE(started.ok()) << started.status();
      runtime_ = *std::move(started);
    }
    return *runtime_;
  }
  // Makes the double read its switches again. The device must have been released.
  void RestartRuntime() { runtime_.reset(); }
  // Folder of the double's lock files, module-0.lock and so on.
  std::filesystem::path devices() const { return folder_ / "devices"; }

  absl::StatusOr<std::unique_ptr<GaudiDevice>> Acquire(const hal::AcquireOptions& options) {
    return GaudiDevice::Acquire(runtime(), options, "gaudi");
  }

 private:
  const std::filesystem::path folder_;
  std::vector<std::string> variables_;
  std::unique_ptr<Runtime> runtime_;
};

// Acquires a device of 64 MiB at the first use.
class GaudiDeviceTest : public DoubleTest {
 protected:
  static constexpr uint64_t kMemoryBytes = uint64_t{64} << 20;

  GaudiDevice& device() {
    if (device_ == nullptr) {
      hal::AcquireOptions options;
      options.memory_bytes = kMemoryBytes;
      auto acquired = Acquire(options);
      EXPECT_TRUE(acquired.ok()) << acquired.status();
      device_ = *std::move(acquired);
    }
    return *device_;
  }
  void ReleaseDevice() { device_.reset(); }

  std::unique_ptr<hal::Memory> Memory(uint64_t bytes) { return *device().AllocateMemory(bytes); }
  std::unique_ptr<hal::HostBuffer> Host(uint64_t bytes) { return *device().AllocateHost(bytes); }
  std::unique_ptr<hal::Stream> Stream(hal::StreamKind kind = hal::StreamKind::kCompute) {
    return *device().CreateStream(kind);
  }
  std::unique_ptr<hal::Event> Event() { return *device().CreateEvent(); }

  // Device memory as the host sees it.
  std::vector<uint8_t> Read(hal::DeviceAddress address, uint64_t bytes) {
    const auto host = Host(bytes);
    const auto stream = Stream(hal::StreamKind::kDeviceToHost);
    EXPECT_EQ(absl::OkStatus(), stream->CopyToHost(address, host->data(), bytes));
    EXPECT_EQ(absl::OkStatus(), stream->Synchronize());
    const auto* data = static_cast<const uint8_t*>(host->data());
    return std::vector<uint8_t>(data, data + bytes);
  }

 private:
  std::unique_ptr<GaudiDevice> device_;
};

// The SynapseAI libraries that suites test: HPU_TEST_SYNAPSE (for example a card's library), else the double of each
// release.
inline std::vector<const char*> SynapseLibraries() {
  const char* chosen = getenv("HPU_TEST_SYNAPSE");
  if (chosen != nullptr && *chosen != '\0') return {chosen};
  return {SYNAPSE_DOUBLE_LIBRARY_1_5, SYNAPSE_DOUBLE_LIBRARY_1_18};
}

// Instantiates a suite for each of these libraries.
#define HPU_GAUDI_SUITE(Suite)                                                               \
  INSTANTIATE_TEST_SUITE_P(Gaudi, Suite, testing::ValuesIn(SynapseLibraries()),              \
                           [](const testing::TestParamInfo<const char*>& info) {             \
                             return absl::StrContains(info.param, "1.5") ? "v1_5" : "v1_18"; \
                           })

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_TESTING_GAUDI_DOUBLE_H_
