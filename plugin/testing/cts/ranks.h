// RankTest: fixture of tests whose body runs once for each rank. Ranks are threads, or processes if a process can hold
// only one device of the backend.
#ifndef HPU_PLUGIN_TESTING_CTS_RANKS_H_
#define HPU_PLUGIN_TESTING_CTS_RANKS_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/testing/cts/fixture.h"

namespace hpu::cts {

inline constexpr int kRanks = 2;

// One rank's device and its resources. Members are destroyed in reverse order.
struct Rank {
  int number = 0;
  std::unique_ptr<hal::Device> device;
  std::unique_ptr<hal::Memory> memory;
  std::unique_ptr<hal::HostBuffer> host;
  std::unique_ptr<hal::Stream> stream;
  std::unique_ptr<hal::Communicator> communicator;

  float* data() { return static_cast<float*>(host->data()); }
  hal::DeviceAddress at(uint64_t element) const { return memory->address() + element * sizeof(float); }
  // Queues a copy of data() to the device.
  void Write(uint64_t count) { EXPECT_OK(stream->CopyToDevice(data(), at(0), count * sizeof(float))); }
  // Copies elements to data(), after all queued work.
  absl::Status Read(uint64_t first, uint64_t count) {
    EXPECT_OK(stream->CopyToHost(at(first), data(), count * sizeof(float)));
    return stream->Synchronize();
  }
};

// The test's process runs all ranks. If a process can hold only one device, the test's process runs rank 0, and starts
// a process with the same test for each other rank. A failure in such a process fails the test.
class RankTest : public CtsTest {
 protected:
  // Acquires the devices of this process's ranks, with memory for `elements` floats.
  void SetUpRanks(uint64_t elements);
  void TearDown() override;

  // Runs the body on a thread for each rank of this process.
  void Run(const std::function<void(Rank&)>& body);
  // Whether all ranks are in this process.
  bool ranks_are_threads() const { return !backend().one_device_per_process; }
  std::vector<Rank>& ranks_here() { return ranks_; }
  // Expects the other ranks' processes to die of SIGKILL. Called by all ranks.
  void ExpectDeath() { dies_ = true; }

  // Passes a text to the other ranks.
  void Publish(const std::string& name, const std::string& text);
  // Waits for a text. Fails the test after a minute.
  std::string AwaitText(const std::string& name);

 private:
  void StartProcess(int rank);

  std::string folder_;  // of texts; removed by the test's own process
  bool owns_folder_ = false;
  bool dies_ = false;
  std::vector<Rank> ranks_;
  std::vector<pid_t> processes_;
};

}  // namespace hpu::cts

#endif  // HPU_PLUGIN_TESTING_CTS_RANKS_H_
