// Tests of streams and events: order, waiting, release while work is queued.
#include <atomic>
#include <cstring>
#include <thread>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {
namespace stream_test {

class StreamTest : public CtsTest {};

TEST_P(StreamTest, WorkRunsInCallOrder) {
  const auto memory = Memory(64 << 10);
  const auto stream = Stream();
  // Far more commands than a queue holds. The calls block until the queue has a free slot, and do not fail.
  for (int i = 0; i < 5000; ++i) ASSERT_OK(stream->Fill(memory->address(), static_cast<uint8_t>(i), memory->size()));
  ASSERT_OK(stream->Fill(memory->address(), 77, memory->size()));
  ASSERT_OK(stream->Synchronize());
  ExpectContents(memory->address(), std::vector<uint8_t>(memory->size(), 77));
}

TEST_P(StreamTest, EventsOrderWorkAcrossStreams) {
  const auto memory = Memory(4096);
  const auto host = Host(4096);
  const auto writer = Stream();
  const auto reader = Stream(hal::StreamKind::kDeviceToHost);
  const auto written = Event();
  for (int i = 1; i <= 5; ++i) {
    ASSERT_OK(QueueSlowWork(*writer));
    ASSERT_OK(writer->Fill(memory->address(), static_cast<uint8_t>(i), 4096));
    ASSERT_OK(writer->Record(*written));
    ASSERT_OK(reader->Wait(*written));
    ASSERT_OK(reader->CopyToHost(memory->address(), host->data(), 4096));
    ASSERT_OK(reader->Synchronize());
    const uint8_t expected = backend().holds_data ? i : 0;
    EXPECT_EQ(expected, static_cast<const uint8_t*>(host->data())[4095]);
  }
}

TEST_P(StreamTest, EventsThatWereNeverRecordedAreReached) {
  const auto event = Event();
  EXPECT_EQ(true, Value(event->Query()));
  EXPECT_OK(event->Synchronize());
  const auto stream = Stream();
  EXPECT_OK(stream->Wait(*event));
  EXPECT_OK(stream->Synchronize());
}

TEST_P(StreamTest, EventsAreReachedAfterPrecedingWork) {
  const auto stream = Stream();
  const auto event = Event();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(stream->Record(*event));
  const bool reached_at_once = Value(event->Query());
  EXPECT_EQ(!backend().asynchronous, reached_at_once);
  ASSERT_OK(event->Synchronize());
  EXPECT_EQ(true, Value(event->Query()));
  ASSERT_OK(stream->Synchronize());
}

TEST_P(StreamTest, RerecordingDoesNotChangeEarlierWaits) {
  const auto first = Stream();
  const auto second = Stream();
  const auto waiter = Stream(hal::StreamKind::kDeviceToHost);
  const auto event = Event();
  const auto memory = Memory(16);
  const auto host = Host(16);
  ASSERT_OK(QueueSlowWork(*first));
  ASSERT_OK(first->Fill(memory->address(), 5, 16));
  ASSERT_OK(first->Record(*event));
  ASSERT_OK(waiter->Wait(*event));
  ASSERT_OK(second->Record(*event));  // the stream is idle, so the event is reached
  EXPECT_EQ(true, Value(event->Query()));
  ASSERT_OK(waiter->CopyToHost(memory->address(), host->data(), 16));
  ASSERT_OK(waiter->Synchronize());
  EXPECT_EQ(backend().holds_data ? 5 : 0, static_cast<const uint8_t*>(host->data())[0]);
  ASSERT_OK(first->Synchronize());
}

TEST_P(StreamTest, StreamMayWaitForItself) {
  const auto stream = Stream();
  const auto event = Event();
  ASSERT_OK(QueueSlowWork(*stream));
  ASSERT_OK(stream->Record(*event));
  ASSERT_OK(stream->Wait(*event));
  ASSERT_OK(stream->Synchronize());
}

TEST_P(StreamTest, StreamsMayWaitForEachOtherAlternately) {
  const auto a = Stream();
  const auto b = Stream();
  const auto event = Event();
  const auto memory = Memory(8);
  for (int i = 0; i < 300; ++i) {
    hal::Stream& from = i % 2 == 0 ? *a : *b;
    hal::Stream& to = i % 2 == 0 ? *b : *a;
    ASSERT_OK(from.Fill(memory->address(), static_cast<uint8_t>(i), 8));
    ASSERT_OK(from.Record(*event));
    ASSERT_OK(to.Wait(*event));
  }
  ASSERT_OK(device().Synchronize());
  ExpectContents(memory->address(), std::vector<uint8_t>(8, static_cast<uint8_t>(299)));
}

TEST_P(StreamTest, CallbacksRunInOrderAfterPrecedingWork) {
  const auto stream = Stream();
  const auto event = Event();
  std::vector<int> order;  // callbacks of one stream run one at a time
  for (int i = 0; i < 100; ++i) {
    ASSERT_OK(stream->AddCallback([&order, i](absl::Status status) {
      EXPECT_OK(status);
      order.push_back(i);
    }));
  }
  ASSERT_OK(stream->Synchronize());
  ASSERT_EQ(100u, order.size());
  for (int i = 0; i < 100; ++i) EXPECT_EQ(i, order[i]);
}

TEST_P(StreamTest, DeviceSynchronizeWaitsForAllStreams) {
  std::atomic<int> ended{0};
  std::vector<std::unique_ptr<hal::Stream>> streams;
  for (int i = 0; i < 3; ++i) {
    streams.push_back(Stream());
    ASSERT_OK(QueueSlowWork(*streams.back()));
    ASSERT_OK(streams.back()->AddCallback([&](absl::Status) { ++ended; }));
  }
  ASSERT_OK(device().Synchronize());
  EXPECT_EQ(3, ended);
}

TEST_P(StreamTest, EventsMayBeDestroyedWhileAStreamWaits) {
  const auto writer = Stream();
  const auto reader = Stream();
  ASSERT_OK(QueueSlowWork(*writer));
  {
    const auto event = Event();
    ASSERT_OK(writer->Record(*event));
    ASSERT_OK(reader->Wait(*event));
  }
  ASSERT_OK(reader->Synchronize());
}

TEST_P(StreamTest, StreamsMayBeDestroyedBeforeTheirEvents) {
  const auto event = Event();
  const auto memory = Memory(16);
  {
    const auto stream = Stream();
    ASSERT_OK(QueueSlowWork(*stream));
    ASSERT_OK(stream->Fill(memory->address(), 9, 16));
    ASSERT_OK(stream->Record(*event));
  }  // waits for the work
  EXPECT_EQ(true, Value(event->Query()));
  ExpectContents(memory->address(), std::vector<uint8_t>(16, 9));
}

TEST_P(StreamTest, SeveralThreadsQueueAtOnce) {
  constexpr int kThreads = 4;
  constexpr int kRounds = 500;
  const auto memory = Memory(kThreads * 128);
  const auto stream = Stream();
  std::atomic<int> callbacks{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const auto event = Event();
      for (int i = 0; i < kRounds; ++i) {
        EXPECT_OK(stream->Fill(memory->address() + t * 128, static_cast<uint8_t>(i), 128));
        if (i % 50 == 0) {
          EXPECT_OK(stream->Record(*event));
          EXPECT_OK(event->Synchronize());
        }
        if (i % 70 == 0) EXPECT_OK(stream->Synchronize());
        EXPECT_OK(stream->AddCallback([&](absl::Status) { ++callbacks; }));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_OK(stream->Synchronize());
  EXPECT_EQ(kThreads * kRounds, callbacks);
  ExpectContents(memory->address(), std::vector<uint8_t>(kThreads * 128, static_cast<uint8_t>(kRounds - 1)));
}

TEST_P(StreamTest, OneEventIsSharedByThreads) {
  const auto event = Event();
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      const auto stream = Stream();
      const auto memory = Memory(64);
      for (int i = 0; i < 200; ++i) {
        EXPECT_OK(stream->Fill(memory->address(), 1, 64));
        EXPECT_OK(stream->Record(*event));
        EXPECT_OK(stream->Wait(*event));
        EXPECT_OK(event->Synchronize());
      }
      EXPECT_OK(stream->Synchronize());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

class ForeignEvent final : public hal::Event {
 public:
  absl::StatusOr<bool> Query() const override { return true; }
  absl::Status Synchronize() const override { return absl::OkStatus(); }
};

TEST_P(StreamTest, EventsOfOtherBackendsAreRefused) {
  ForeignEvent event;
  const auto stream = Stream();
  ExpectError(stream->Record(event), absl::StatusCode::kInvalidArgument, "another backend");
  ExpectError(stream->Wait(event), absl::StatusCode::kInvalidArgument, "another backend");
}

HPU_CTS_SUITE(StreamTest);

}  // namespace stream_test
}  // namespace hpu::cts
