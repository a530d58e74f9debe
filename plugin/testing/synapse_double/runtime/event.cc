#include "plugin/testing/synapse_double/runtime/event.h"

#include <chrono>
#include <utility>

namespace hpu::synapse_double {

void EventRecord::Finish(synStatus status) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  {
    std::lock_guard<std::mutex> lock(mutex_);
    is_reached_ = true;
    status_ = status;
    nanoseconds_ = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
  }
  reached_.notify_all();
}

synStatus EventRecord::Wait() {
  std::unique_lock<std::mutex> lock(mutex_);
  reached_.wait(lock, [this] { return is_reached_; });
  return status_;
}

synStatus EventRecord::Query() {
  std::lock_guard<std::mutex> lock(mutex_);
  return is_reached_ ? status_ : synapse::synBusy;
}

uint64_t EventRecord::nanoseconds() {
  std::lock_guard<std::mutex> lock(mutex_);
  return nanoseconds_;
}

synStatus Event::Record(Stream* stream) {
  auto record = std::make_shared<EventRecord>();
  std::lock_guard<std::mutex> lock(mutex_);
  const synStatus status =
      stream->EnqueueMark([record, event = HoldInFlight(shared_from_this())](synStatus status) mutable {
        event.reset();  // a thread that sees the end may destroy the event
        record->Finish(status);
      });
  if (status == synapse::synSuccess) last_ = std::move(record);
  return status;
}

synStatus Event::WaitOn(Stream* stream) {
  std::shared_ptr<EventRecord> record;
  const synStatus status = LastRecord(&record);
  if (status != synapse::synSuccess) return status;
  return stream->EnqueueWait([record, event = HoldInFlight(shared_from_this())] { return record->Wait(); });
}

synStatus Event::LastRecord(std::shared_ptr<EventRecord>* record) {
  std::lock_guard<std::mutex> lock(mutex_);
  *record = last_;
  if (last_ != nullptr) return synapse::synSuccess;
  return Refuse(Rule::kArguments, synapse::synObjectNotInitialized, "the event was never recorded");
}

}  // namespace hpu::synapse_double
