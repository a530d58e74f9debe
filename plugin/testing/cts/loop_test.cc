// Tests of launches whose recipes contain loops of unknown length.
#include <cstring>

#include "plugin/testing/cts/fixture.h"
#include "plugin/testing/cts/programs.h"

namespace hpu::cts {
namespace loop_test {

constexpr auto kInternal = absl::StatusCode::kInternal;

using Floats = std::vector<float>;

std::vector<uint8_t> Bytes(const Floats& values) {
  const auto* data = reinterpret_cast<const uint8_t*>(values.data());
  return std::vector<uint8_t>(data, data + values.size() * sizeof(float));
}

// Doubles x in place until its first element reaches a limit.
class LoopTest : public CtsTest {
 protected:
  void Start(const Floats& x, float limit, const std::string& faults = "") {
    if (!faults.empty()) AcquireWithFaults(faults);
    recipe_ = Value(device().Compile(DoubleUntil(static_cast<int64_t>(x.size()))));
    ASSERT_NE(nullptr, recipe_);
    x_ = Memory(x.size() * sizeof(float));
    limit_ = Memory(sizeof(float));
    workspace_ = recipe_->workspace_bytes() == 0 ? nullptr : Memory(recipe_->workspace_bytes());
    Write(x_->address(), Bytes(x));
    Write(limit_->address(), Bytes({limit}));
  }
  absl::Status Launch(hal::Stream& stream) {
    const hal::DeviceAddress arguments[] = {x(), limit_->address()};
    const hal::DeviceAddress results[] = {x()};
    return stream.Launch(recipe_, {arguments, results, workspace_ == nullptr ? 0 : workspace_->address()});
  }
  hal::DeviceAddress x() const { return x_->address(); }
  hal::DeviceAddress limit() const { return limit_->address(); }
  void DropRecipe() { recipe_.reset(); }

 private:
  std::shared_ptr<const hal::Recipe> recipe_;
  std::unique_ptr<hal::Memory> x_;
  std::unique_ptr<hal::Memory> limit_;
  std::unique_ptr<hal::Memory> workspace_;
};

TEST_P(LoopTest, LoopsEndWhenTheirConditionIsFalse) {
  Start({3, -1}, 100);
  const auto stream = Stream();
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(Launch(*stream));  // without an iteration
  ASSERT_OK(stream->Synchronize());
  ExpectContents(x(), Bytes({192, -64}));
}

// Copies and fills before and after the loops run in the order of the calls.
TEST_P(LoopTest, WorkAroundLoopsKeepsItsOrder) {
  Start({1, 1}, 8);
  const auto stream = Stream();
  const auto raised = Host(Bytes({100}));
  const auto seen = Host(std::vector<uint8_t>(8 * 3, 0xEE));
  auto* data = static_cast<uint8_t*>(seen->data());
  const auto copy = Memory(8);
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->CopyToHost(x(), data, 8));
  ASSERT_OK(stream->CopyToDevice(raised->data(), limit(), 4));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->CopyOnDevice(x(), copy->address(), 8));
  ASSERT_OK(stream->CopyToHost(copy->address(), data + 8, 8));
  ASSERT_OK(stream->Fill(x(), 0, 8));
  ASSERT_OK(stream->CopyToHost(x(), data + 16, 8));
  ASSERT_OK(stream->Synchronize());
  if (backend().holds_data) {
    EXPECT_EQ(Bytes({8, 8, 128, 128, 0, 0}), std::vector<uint8_t>(data, data + 24));
  }
}

// Streams wait for each other by events that are recorded after loops.
TEST_P(LoopTest, OtherStreamsWaitForLoops) {
  Start({1, 2}, 1000);
  const auto compute = Stream();
  const auto copies = Stream(hal::StreamKind::kDeviceToHost);
  const auto computed = Event();
  const auto copied = Event();
  const auto seen = Host(std::vector<uint8_t>(8, 0xEE));
  ASSERT_OK(QueueSlowWork(*compute));
  ASSERT_OK(Launch(*compute));
  ASSERT_OK(compute->Record(*computed));
  ASSERT_OK(copies->Wait(*computed));
  ASSERT_OK(copies->CopyToHost(x(), seen->data(), 8));
  ASSERT_OK(copies->Record(*copied));
  ASSERT_OK(compute->Wait(*copied));
  ASSERT_OK(compute->Fill(x(), 0, 8));
  ASSERT_OK(computed->Synchronize());
  ASSERT_OK(copied->Synchronize());
  if (backend().holds_data) {
    const auto* data = static_cast<const uint8_t*>(seen->data());
    EXPECT_EQ(Bytes({1024, 2048}), std::vector<uint8_t>(data, data + 8));
  }
  ASSERT_OK(compute->Synchronize());
  ASSERT_OK(copies->Synchronize());
  ExpectContents(x(), std::vector<uint8_t>(8, 0));
}

TEST_P(LoopTest, CallbacksRunAfterLoops) {
  Start({1, 2}, 1000);
  const auto stream = Stream();
  std::vector<int> order;
  ASSERT_OK(stream->AddCallback([&](const absl::Status&) { order.push_back(0); }));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->AddCallback([&](const absl::Status& status) { order.push_back(status.ok() ? 1 : -1); }));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->AddCallback([&](const absl::Status& status) { order.push_back(status.ok() ? 2 : -1); }));
  ASSERT_OK(stream->Synchronize());
  EXPECT_EQ((std::vector<int>{0, 1, 2}), order);
}

// The error of a launch stops the work queued after its loop, on its own stream and on a stream that waits for the
// loop.
TEST_P(LoopTest, ErrorsOfLoopsStopLaterWork) {
  Start({1, 2}, 1000, "launch@1");
  const auto stream = Stream();
  const auto other = Stream(hal::StreamKind::kDeviceToHost);
  const auto event = Event();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(Launch(*stream));  // fails
  ASSERT_OK(stream->Fill(x(), 0, 8));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->Record(*event));
  ASSERT_OK(other->Wait(*event));
  ASSERT_OK(other->Fill(x(), 0, 8));
  ExpectError(other->Synchronize(), kInternal, "launch@1");
  ExpectError(stream->Synchronize(), kInternal, "double_until");
  ExpectContents(x(), Bytes({1, 2}));
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(x(), Bytes({1024, 2048}));
}

TEST_P(LoopTest, LoopsAfterAnErrorAreSkipped) {
  Start({1, 2}, 1000, "fill@2");
  const auto memory = Memory(8);
  const auto stream = Stream();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(stream->Fill(memory->address(), 0, 8));  // fails
  ASSERT_OK(Launch(*stream));
  ASSERT_OK(stream->Fill(x(), 0, 8));
  ExpectError(stream->Synchronize(), kInternal, "fill@2");
  ExpectContents(x(), Bytes({1, 2}));
}

TEST_P(LoopTest, ALostDeviceEndsLoops) {
  Start({1, 2}, 1000, "lost@4");  // after the copies of Start and the slow work
  const auto stream = Stream();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(Launch(*stream));
  // The device may be lost already.
  static_cast<void>(stream->Fill(x(), 0, 8));
  static_cast<void>(Launch(*stream));
  ExpectError(stream->Synchronize(), absl::StatusCode::kAborted, "lost");
}

TEST_P(LoopTest, StreamsAndRecipesMayBeDestroyedWhileLoopsAreQueued) {
  Start({1, 2}, 1000);
  {
    const auto stream = Stream();
    ASSERT_OK(QueueSlowWork(*stream));
    ASSERT_OK(Launch(*stream));
    DropRecipe();
    ASSERT_OK(stream->Fill(limit(), 0, 4));
  }
  ExpectContents(x(), Bytes({1024, 2048}));
  ExpectContents(limit(), {0, 0, 0, 0});
}

// Queues more launches of a loop than a stream's queue holds.
TEST_P(LoopTest, ManyLoopsMayBeQueued) {
  Start({1, 2}, 4);
  const auto stream = Stream();
  const auto start = Host(Bytes({1, 2}));
  for (int i = 0; i < 300; ++i) {
    ASSERT_OK(stream->CopyToDevice(start->data(), x(), 8));
    ASSERT_OK(Launch(*stream));
  }
  ASSERT_OK(stream->Synchronize());
  ExpectContents(x(), Bytes({4, 8}));
}

HPU_CTS_SUITE(LoopTest);

}  // namespace loop_test
}  // namespace hpu::cts
