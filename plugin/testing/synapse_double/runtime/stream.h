// Stream: a thread that runs commands in order, after random delays.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STREAM_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STREAM_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <thread>

#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/status.h"

namespace hpu::synapse_double {

// Engine of a device that runs a stream's commands.
enum class Engine { kDeviceToHost, kHostToDevice, kDeviceToDevice, kCompute, kCollective, kAll };

const char* EngineName(Engine engine);

// Thread safe. Commands run on the stream's thread. The first command that fails makes the stream fail for good: later
// commands are dropped, and calls return the failed command's status. Statuses 17 and 31 lose the device.
class Stream {
 public:
  static constexpr HandleKind kKind = HandleKind::kStream;

  using Command = std::function<synStatus()>;
  // Runs in its turn even if the stream has failed; takes the stream's status. Must not call the stream.
  using Mark = std::function<void(synStatus)>;

  // `serial` selects the sequence of delays. In release 1.5 a stream serves one engine only.
  Stream(Engine engine, uint64_t serial);
  // Runs the commands that are still queued, then ends the thread.
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // Queues a command. Returns the status of the stream or of the device if one of them has failed. The command is
  // destroyed before the stream counts it as run, so what it captured is no longer in flight after Synchronize.
  synStatus Enqueue(Command command);
  // Like Enqueue, for a command that only waits for other streams: faults and traces do not count it.
  synStatus EnqueueWait(Command command);
  synStatus EnqueueMark(Mark mark);

  // Refuses, with synInvalidArgument, engines that the stream does not serve.
  synStatus CheckEngine(Engine engine) const;

  // Blocks until the commands that are queued now have run. Returns the stream's status.
  synStatus Synchronize();
  // The stream's status if the stream has failed; else synBusy while commands are queued.
  synStatus Query();

  // Whether no commands are queued. First waits for the commands that a failed stream drops.
  bool Drain();

  // synStreamSetAffinity
  void set_affinity(uint64_t mask) { affinity_ = mask; }
  uint64_t affinity() const { return affinity_; }

 private:
  struct Entry {
    Command command;
    Mark mark;
    bool is_work = false;
  };

  void Run();
  synStatus Add(Entry entry);
  // Waits for the gate, and for a random time.
  void Delay();
  synStatus StatusLocked() const;

  const Engine engine_;
  std::atomic<uint64_t> affinity_{0};
  std::mt19937_64 random_;  // of the thread

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Entry> queue_;  // without the running command
  uint64_t queued_ = 0;      // commands ever queued
  uint64_t finished_ = 0;    // commands that have run
  synStatus status_ = synapse::synSuccess;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_STREAM_H_
