// Tests of EmulatorStream: short work on the calling thread, its order and its errors.
#include "plugin/backends/emulator/device/stream.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/match.h"
#include "plugin/hal/backend.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/service/custom_call_status_internal.h"
#include "xla/service/custom_call_target_registry.h"

namespace hpu::emulator {
namespace stream_test {

std::atomic<std::thread::id> ran_on;
std::atomic<bool> fails{false};
std::atomic<int> runs{0};

// Records the calling thread; fails if `fails` is set.
void Note(void*, const void**, const char*, size_t, XlaCustomCallStatus* status) {
  ran_on = std::this_thread::get_id();
  ++runs;
  if (fails) status->message = "out of ink";
}
XLA_CPU_REGISTER_CUSTOM_CALL_TARGET_WITH_SYM("hpu_test_note_thread", Note);

hal::Program Noting() {
  xla::XlaBuilder builder("noting");
  xla::Tuple(&builder, {xla::CustomCall(&builder, "hpu_test_note_thread", {}, xla::ShapeUtil::MakeShape(xla::F32, {}),
                                        /*opaque=*/"", /*has_side_effect=*/true, /*output_operand_aliasing=*/{},
                                        /*literal=*/nullptr, xla::CustomCallSchedule::SCHEDULE_NONE,
                                        xla::CustomCallApiVersion::API_VERSION_STATUS_RETURNING_UNIFIED)});
  return ProgramOf(builder.Build().value());
}

class EmulatorStreamTest : public testing::Test {
 protected:
  static constexpr uint64_t kShort = 64;
  static constexpr uint64_t kLong = 8 << 20;

  void Acquire(const std::vector<std::string>& faults = {}) {
    Release();
    hal::AcquireOptions options;
    options.memory_bytes = uint64_t{64} << 20;
    options.faults = faults;
    device_ = hal::GetBackend("emulator").value()->Acquire(options).value();
    stream_ = device_->CreateStream(hal::StreamKind::kCompute).value();
    memory_ = device_->AllocateMemory(kLong).value();
    host_ = device_->AllocateHost(kLong).value();
    fails = false;
    runs = 0;
  }
  void SetUp() override { Acquire(); }
  void TearDown() override { Release(); }

  hal::Stream& stream() { return *stream_; }
  hal::DeviceAddress address() const { return memory_->address(); }
  char* host() const { return static_cast<char*>(host_->data()); }

  // Whether the work queued so far has ended, perhaps with an error.
  bool HasEnded() {
    const auto event = device_->CreateEvent().value();
    EXPECT_TRUE(stream().Record(*event).ok());
    const absl::StatusOr<bool> reached = event->Query();
    return !reached.ok() || *reached;
  }
  void Launch() {
    if (recipe_ == nullptr) recipe_ = device_->Compile(Noting()).value();
    const hal::DeviceAddress results[] = {address()};
    ASSERT_EQ(absl::OkStatus(), stream().Launch(recipe_, {{}, results, 0}));
  }
  // Launches until this thread runs a launch. The system may interrupt a launch, which then counts as a long launch.
  void LaunchHere() {
    do {
      ASSERT_TRUE(stream().Synchronize().ok());
      Launch();
    } while (!HasFatalFailure() && (!HasEnded() || ran_on != std::this_thread::get_id()));
  }

 private:
  // Releases the objects of the device, then the device.
  void Release() {
    stream_.reset();
    memory_.reset();
    host_.reset();
    recipe_.reset();
    device_.reset();
  }

  std::unique_ptr<hal::Device> device_;
  std::unique_ptr<hal::Stream> stream_;
  std::unique_ptr<hal::Memory> memory_;
  std::unique_ptr<hal::HostBuffer> host_;
  std::shared_ptr<const hal::Recipe> recipe_;
};

TEST_F(EmulatorStreamTest, ShortCopiesAndFillsOnAnIdleStreamEndBeforeTheCallReturns) {
  std::memset(host(), 7, kShort);
  ASSERT_TRUE(stream().CopyToDevice(host(), address(), kShort).ok());
  EXPECT_TRUE(HasEnded());
  ASSERT_TRUE(stream().Fill(address() + 1, 9, 1).ok());
  EXPECT_TRUE(HasEnded());
  ASSERT_TRUE(stream().CopyOnDevice(address(), address() + kShort, kShort).ok());
  EXPECT_TRUE(HasEnded());
  ASSERT_TRUE(stream().CopyToHost(address() + kShort, host() + kShort, kShort).ok());
  EXPECT_TRUE(HasEnded());
  EXPECT_EQ(std::string({7, 9, 7}), std::string(host() + kShort, 3));
}

TEST_F(EmulatorStreamTest, ShortLaunchesRunOnTheCallingThreadAfterTheFirst) {
  Launch();
  ASSERT_TRUE(stream().Synchronize().ok());
  EXPECT_NE(std::this_thread::get_id(), ran_on.load());
  LaunchHere();
  const int before = runs;
  LaunchHere();
  EXPECT_GT(runs, before);
}

// Alternates work of the calling thread and of the stream's thread, with more commands than the queue has slots.
TEST_F(EmulatorStreamTest, ShortAndLongWorkKeepsItsOrder) {
  for (int i = 0; i < 2000; ++i) {
    const auto value = static_cast<uint8_t>(i);
    if (i % 100 == 0) ASSERT_TRUE(stream().Fill(address(), 255, kLong).ok());
    ASSERT_TRUE(stream().Fill(address(), value, kShort).ok());
    ASSERT_TRUE(stream().CopyOnDevice(address(), address() + kLong / 2, kShort).ok());
    Launch();
    ASSERT_TRUE(stream().CopyToHost(address() + kLong / 2, host(), kShort).ok());
    if (i % 7 != 0) continue;
    ASSERT_TRUE(stream().Synchronize().ok());
    ASSERT_EQ(std::string(kShort, static_cast<char>(value)), std::string(host(), kShort)) << i;
  }
  ASSERT_TRUE(stream().Synchronize().ok());
  EXPECT_EQ(2000, runs);
}

TEST_F(EmulatorStreamTest, AnErrorOnTheCallingThreadStopsLaterWork) {
  LaunchHere();
  fails = true;
  do {
    static_cast<void>(stream().Synchronize());
    Launch();
  } while (!HasEnded() || ran_on != std::this_thread::get_id());
  const int failed = runs;
  std::memset(host(), 3, kShort);
  Launch();
  ASSERT_TRUE(stream().CopyToHost(address(), host(), kShort).ok());
  const absl::Status status = stream().Synchronize();
  EXPECT_EQ(absl::StatusCode::kInternal, status.code());
  EXPECT_TRUE(absl::StrContains(status.message(), "launch of test")) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "out of ink")) << status;
  EXPECT_EQ(failed, runs);
  EXPECT_EQ(std::string(kShort, 3), std::string(host(), kShort));
  fails = false;
  LaunchHere();
  EXPECT_GT(runs, failed);
}

// A fault rule (HPU_FAULTS) may delay a command, which must not delay the caller.
TEST_F(EmulatorStreamTest, WithFaultsTheStreamsThreadRunsAllLaunches) {
  Acquire({"launch@1000000"});
  for (int i = 0; i < 100; ++i) {
    Launch();
    ASSERT_TRUE(stream().Synchronize().ok());
    ASSERT_NE(std::this_thread::get_id(), ran_on.load());
  }
}

}  // namespace stream_test
}  // namespace hpu::emulator
