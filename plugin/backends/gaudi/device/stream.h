// GaudiStream: a HAL stream of a Gaudi card. CollectiveWork: a communicator's operation on a stream.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STREAM_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STREAM_H_

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "plugin/backends/common/command_queue.h"
#include "plugin/backends/common/faults.h"
#include "plugin/backends/common/stream_error.h"
#include "plugin/backends/common/timeline.h"
#include "plugin/backends/gaudi/device/card_range.h"
#include "plugin/backends/gaudi/device/engine_streams.h"
#include "plugin/backends/gaudi/device/launch_addresses.h"
#include "plugin/backends/gaudi/device/mark_pool.h"
#include "plugin/backends/gaudi/device/pinned_pages.h"
#include "plugin/backends/gaudi/device/step_driver.h"
#include "plugin/hal/host_buffer.h"
#include "plugin/hal/stream.h"

namespace hpu::gaudi {

class GaudiDevice;

// One operation of a communicator on a stream. GaudiStream::RunCollective states the order of the calls.
class CollectiveWork {
 public:
  virtual ~CollectiveWork() = default;

  // Hands the operation to HCCL, for SynapseAI's stream `stream`.
  virtual absl::Status Submit(synapse::synStreamHandle stream) = 0;
  // Receives the mark after the work that Submit has queued.
  virtual void SetEnd(std::shared_ptr<Mark> end) = 0;
  // Blocks until all ranks, or all peers of transfers, have called the operation, or until the communicator has ended.
  // The communicator's end also ends the work. If this rank could not submit the operation, blocks only until the ranks
  // have compared the operations before it.
  virtual void AwaitPeers() = 0;
  // Receives the status of the work, or the error of the call. Returns the stream's error. Afterwards the communicator
  // may be destroyed.
  virtual absl::Status Conclude(const absl::Status& status) = 0;
};

// A command whose end a stream's thread waits for. Comments name the kinds that use a field.
struct Command {
  // kNothing: skipped, or failed at the call. kWork: work that SynapseAI has queued.
  enum class Kind { kNothing, kWork, kWait, kCallback, kStop };

  Kind kind = Kind::kStop;
  const char* name = "";                       // kWork: for errors
  uint64_t bytes = 0;                          // kWork: for errors
  std::shared_ptr<const hal::Recipe> recipe;   // kWork: of a launch
  std::shared_ptr<CollectiveWork> collective;  // kWork: of a communicator
  absl::Status error;                          // of the call, if the command is of a communicator
  std::shared_ptr<Mark> end;                   // kWork, kWait
  std::shared_ptr<Mark> before;  // kWork, kWait: mark of the previous work; kept while another engine may wait for it
  common::Point point;           // kWait: what to wait for; kCallback: the point of the callback
  std::function<void(absl::Status)> callback;  // kCallback
  // Whether the stream is held until its thread has run the command (see GaudiStream): a launch of `steps`, or a wait
  // for a point that the host must reach.
  bool is_holder = false;
  std::shared_ptr<const StepLaunch> steps;     // kWork: of a recipe with loops
  std::vector<std::shared_ptr<Mark>> awaited;  // kWork: marks that queued work of `steps` may wait for
  std::function<void(Command&, uint64_t)>
      submission;  // submits the command after a hold; the second argument is its number

  // Releases the objects that the command kept alive.
  void Clear() {
    recipe.reset();
    collective.reset();
    error = absl::OkStatus();
    end.reset();
    before.reset();
    point = common::Point();
    callback = nullptr;
    is_holder = false;
    steps.reset();
    awaited.clear();
    submission = nullptr;
  }
};

// Calls hand their work to SynapseAI at once, on the calling thread, and record a mark after the work. The stream's
// thread waits for the marks in order. So it finds the first command that failed, as the HAL's rules for order and
// errors require. Streams wait for each other's marks on the device. Callbacks run on the stream's thread.
//
// The host drives the loops of a recipe. A launch of such a recipe holds the stream: later commands are kept back until
// the stream's thread has driven the loops, and then handed over in order. An event recorded during a hold has no mark
// yet. A wait for this event also holds the waiting stream, and the thread of the waiting stream waits for the event.
class GaudiStream final : public hal::Stream {
 public:
  static absl::StatusOr<std::unique_ptr<GaudiStream>> Create(GaudiDevice* device, hal::StreamKind kind);
  ~GaudiStream() override;

  hal::StreamKind kind() const override { return kind_; }
  absl::Status CopyToDevice(const void* source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status CopyToHost(hal::DeviceAddress source, void* destination, uint64_t bytes) override;
  absl::Status CopyOnDevice(hal::DeviceAddress source, hal::DeviceAddress destination, uint64_t bytes) override;
  absl::Status Fill(hal::DeviceAddress destination, uint8_t value, uint64_t bytes) override;
  absl::Status Launch(std::shared_ptr<const hal::Recipe> recipe, const hal::LaunchArguments& arguments) override;
  absl::Status Record(hal::Event& event) override;
  absl::Status Wait(const hal::Event& event) override;
  absl::Status AddCallback(std::function<void(absl::Status)> callback) override;
  absl::Status Synchronize() override;

  // Queues an operation of a communicator; blocks while the stream is held. Calls Submit, unless the stream has failed,
  // and then SetEnd, unless Submit has failed. The stream's thread then calls AwaitPeers and Conclude. Errors contain
  // `name` and `bytes`.
  void RunCollective(std::shared_ptr<CollectiveWork> work, const char* name, uint64_t bytes);

  const GaudiDevice* device() const { return device_; }
  // The position after all commands queued so far.
  common::Point Now() const;

 private:
  // Leaked, not destroyed, in a forked child, where the thread does not exist and SynapseAI must not be called.
  struct State {
    State(const GaudiDevice& device, hal::StreamKind kind);

    const std::shared_ptr<common::Timeline> timeline;
    common::CommandQueue<Command> queue;
    common::StreamError error;
    // Whether work of SynapseAI's streams failed: then the streams are replaced before the next work. Set after
    // `error`, and cleared only while `error` is not set.
    std::atomic<bool> is_broken{false};
    const std::shared_ptr<MarkPool> marks;
    // `scratch` and `engines` are used only while work is submitted (submit_mutex).
    std::unique_ptr<CardRange> scratch;  // of copies that overlap themselves
    EngineStreams engines;
    std::mutex launch_mutex;
    LaunchAddresses addresses;  // of one launch at a time; guarded by launch_mutex
    // Card memory for copies of arguments. The last range is in use; queued copies may use the others. Not part of the
    // device's memory, because TensorFlow's allocator may hold all of it. Guarded by launch_mutex.
    std::vector<std::unique_ptr<CardRange>> argument_copies;
    mutable std::mutex mark_mutex;
    std::shared_ptr<Mark> last;  // of the last work that SynapseAI queued; guarded by mark_mutex
    // Held while work is handed to SynapseAI, unless the stream's thread does so during a hold.
    std::mutex submit_mutex;
    std::condition_variable released;
    bool is_held = false;  // written under submit_mutex and mark_mutex
    struct KeptBack {
      Command* command;
      uint64_t sequence;
    };
    std::deque<KeptBack> kept_back;              // commands after the holder; guarded by submit_mutex
    std::unique_ptr<hal::HostBuffer> predicate;  // of loops; made under launch_mutex, used by the stream's thread
    std::thread thread;
  };

  // Card memory for copies between overlapping ranges. Not part of the device's memory.
  static constexpr uint64_t kScratchBytes = uint64_t{16} << 20;

  class Steps;

  GaudiStream(GaudiDevice* device, hal::StreamKind kind);

  // Queues a command. `submit(stream)` hands the command's work to one of SynapseAI's streams, now or after a hold. A
  // copy of `submit` must own its data. Counts the command for fault injection. Queues no work after an error. If a
  // call fails, its error becomes the stream's error.
  template <typename Function>
  void Run(common::Faults::Kind kind, synapse::Engine engine, const char* name, uint64_t bytes, const Function& submit,
           std::shared_ptr<const hal::Recipe> recipe = nullptr);
  // The part of Run that may come after a hold. Requires submit_mutex.
  template <typename Function>
  void RunNow(Command& command, uint64_t sequence, common::Faults::Kind kind, synapse::Engine engine,
              const Function& submit);
  // Whether the command may run. If not, the command has failed, or is skipped.
  bool Count(Command& command, uint64_t sequence, common::Faults::Kind kind);
  // Makes later work wait for the mark of the command's point.
  void WaitNow(Command& command, uint64_t sequence);
  // Keeps a command back until the stream is released.
  void KeepBack(Command& command, uint64_t sequence, std::function<void(Command&, uint64_t)> submission);
  // Makes the command hold the stream.
  void Hold(Command& command, uint64_t sequence);
  // Queues a launch of a recipe with loops.
  absl::Status RunLoops(std::shared_ptr<const GaudiRecipe> recipe, uint64_t workspace);
  // Calls `submit(stream)` for the engine's stream, and records a mark after the work.
  template <typename Function>
  absl::Status Submit(synapse::Engine engine, const Function& submit, Command* command);
  // Records a mark after the work that `stream` has received for `command`.
  absl::Status MarkEnd(synapse::synStreamHandle stream, Command* command);
  // Makes `status`, the error of a call, the error of command `sequence`. Waits for the part of the command's work that
  // was queued: no mark follows that work.
  void FailAtCall(uint64_t sequence, absl::Status status);
  // Makes `status`, the error of work that has ended, the error of command `sequence`. Called on the stream's thread.
  void FailAtEnd(uint64_t sequence, absl::Status status);
  // Replaces SynapseAI's streams if their work has failed.
  void Repair();
  void CloseEngines();
  std::shared_ptr<Mark> last_mark() const;
  absl::Status CopyPieces(synapse::synStreamHandle stream, const PinnedPages::Pieces& pieces, uint64_t card_address,
                          bool to_device);
  // Copies between two ranges of the card's memory that do not overlap.
  absl::Status CopyOnCard(synapse::synStreamHandle stream, uint64_t source, uint64_t destination, uint64_t bytes);
  // Copies the arguments that the launch cannot use in place.
  absl::Status CopyArguments();
  absl::Status CopyOverlapping(synapse::synStreamHandle stream, uint64_t source, uint64_t destination, uint64_t bytes);

  // Called on the stream's thread.
  void RunCommands();
  // Runs the command that holds the stream.
  void RunHolder(Command& command, uint64_t sequence);
  // Hands over the commands that were kept back, up to the next one that holds the stream.
  void Release();
  void Finish(Command& command, uint64_t sequence);
  void FinishCollective(Command& command, uint64_t sequence);

  GaudiDevice* const device_;
  const hal::StreamKind kind_;
  std::unique_ptr<State> state_;
};

}  // namespace hpu::gaudi

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_DEVICE_STREAM_H_
