// A rank that leaves takes its memory with it: nobody may read or write it then.
#include "plugin/backends/emulator/meeting.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <chrono>
#include <thread>

#include "absl/synchronization/barrier.h"
#include "plugin/hal/types.h"

namespace hpu::emulator {
namespace {

constexpr int64_t kCount = int64_t{16} << 20;
constexpr size_t kBytes = kCount * sizeof(float);

// Memory of one rank, gone with it: an access then ends the process.
class RankMemory {
 public:
  RankMemory()
      : data_(static_cast<char*>(
            mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0))) {}
  ~RankMemory() { munmap(data_, kBytes); }
  char* data() const { return data_; }

 private:
  char* const data_;
};

// Two ranks begin at once; the first one's departure is asked for `delay` later.
template <typename Rank>
void LeaveAfter(std::chrono::microseconds delay, const Rank& run) {
  Meeting meeting(2);
  auto* const barrier = new absl::Barrier(3);
  const auto rank = [&](int number) {
    const RankMemory memory;
    if (barrier->Block()) delete barrier;
    const absl::Status status = run(&meeting, number, memory.data());
    EXPECT_TRUE(status.ok() || absl::IsCancelled(status)) << status;
  };
  std::thread first(rank, 0), second(rank, 1);
  if (barrier->Block()) delete barrier;
  std::this_thread::sleep_for(delay);
  meeting.Abort("rank 0 has gone");
  first.join();
  second.join();
}

TEST(MeetingTest, ARankStaysWhileAnotherOneCopiesFromIt) {
  for (int delay = 0; delay < 12'000; delay += 500) {
    LeaveAfter(std::chrono::microseconds(delay), [](Meeting* meeting, int rank, char* data) {
      return meeting->Exchange(rank,
                               {Transfer{rank == 0, 1 - rank, data, hal::Elements(kCount), hal::DataType::kFloat32}});
    });
  }
}

TEST(MeetingTest, ARankStaysWhileOthersReduceItsMemory) {
  for (int delay = 0; delay < 24'000; delay += 1000) {
    LeaveAfter(std::chrono::microseconds(delay), [](Meeting* meeting, int rank, char* data) {
      Part part;
      part.source = data;
      part.destination = data;
      part.elements = hal::Elements(kCount);
      part.dtype = hal::DataType::kFloat32;
      return meeting->Run(rank, part);
    });
  }
}

}  // namespace
}  // namespace hpu::emulator
