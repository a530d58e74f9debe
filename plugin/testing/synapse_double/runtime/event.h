// Event: a point in the work of a stream that other streams and the host can wait for.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_EVENT_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_EVENT_H_

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>

#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/in_flight.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse_double {

// One synEventRecord. Thread safe.
class EventRecord {
 public:
  void Finish(synStatus status);
  // Blocks until the stream reaches the record. Returns the stream's status at the record.
  synStatus Wait();
  // Like Wait, but returns synBusy until the stream reaches the record.
  synStatus Query();
  // Time at which the stream reached the record.
  uint64_t nanoseconds();

 private:
  std::mutex mutex_;
  std::condition_variable reached_;
  bool is_reached_ = false;
  synStatus status_ = synapse::synSuccess;
  uint64_t nanoseconds_ = 0;
};

// Thread safe. A wait or query refers to the last record before the call.
class Event : public InFlight, public std::enable_shared_from_this<Event> {
 public:
  static constexpr HandleKind kKind = HandleKind::kEvent;

  explicit Event(bool collects_time) : collects_time_(collects_time) {}

  bool collects_time() const { return collects_time_; }
  synStatus Record(Stream* stream);
  // Makes later commands of the stream wait. The stream fails with the status of the event's stream.
  synStatus WaitOn(Stream* stream);
  // The last record. Refuses, with synObjectNotInitialized, events that were never recorded.
  synStatus LastRecord(std::shared_ptr<EventRecord>* record);

 private:
  const bool collects_time_;
  std::mutex mutex_;
  std::shared_ptr<EventRecord> last_;
};

}  // namespace hpu::synapse_double

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_DOUBLE_RUNTIME_EVENT_H_
