// C functions: events.
#include <memory>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/runtime/device.h"
#include "plugin/testing/synapse_double/runtime/event.h"
#include "plugin/testing/synapse_double/runtime/handles.h"
#include "plugin/testing/synapse_double/runtime/process.h"
#include "plugin/testing/synapse_double/runtime/stream.h"

namespace hpu::synapse {

using synapse_double::Device;
using synapse_double::Event;
using synapse_double::EventRecord;
using synapse_double::Handles;
using synapse_double::Refuse;
using synapse_double::Rule;
using synapse_double::Stream;
using synapse_double::Text;

synStatus synEventCreate(synEventHandle* event, const synDeviceId device, const uint32_t flags) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Device> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Device::Find(device, &found));
  SYNAPSE_DOUBLE_REQUIRE_POINTER(event);
  if ((flags & ~EVENT_COLLECT_TIME) != 0) {
    return Refuse(Rule::kArguments, synInvalidArgument, Text("flags must be 0 or EVENT_COLLECT_TIME, found ", flags));
  }
  *event = Handles::Get().Add<synEventHandle>(std::make_shared<Event>((flags & EVENT_COLLECT_TIME) != 0));
  return synSuccess;
}

synStatus synEventDestroy(synEventHandle event) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Event> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(event, &found));
  if (found->is_in_flight()) {
    synapse_double::Abort(Rule::kInFlight, "a queued record of the event, or a queued wait for it, has not run");
  }
  Handles::Get().Remove(event);
  return synSuccess;
}

synStatus synEventRecord(synEventHandle event, const synStreamHandle stream) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Event> found_event;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(event, &found_event));
  std::shared_ptr<Stream> found_stream;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(stream, &found_stream));
  return found_event->Record(found_stream.get());
}

synStatus synEventQuery(const synEventHandle event) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Event> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(event, &found));
  std::shared_ptr<EventRecord> record;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(found->LastRecord(&record));
  return record->Query();
}

synStatus synEventSynchronize(const synEventHandle event) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Event> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(event, &found));
  std::shared_ptr<EventRecord> record;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(found->LastRecord(&record));
  return record->Wait();
}

synStatus synEventElapsedTime(uint64_t* nanoseconds, const synEventHandle start, const synEventHandle end) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(nanoseconds);
  uint64_t times[2] = {};
  const synEventHandle handles[2] = {start, end};
  for (int i = 0; i < 2; ++i) {
    std::shared_ptr<Event> event;
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(handles[i], &event));
    const char* const name = i == 0 ? "start" : "end";
    if (!event->collects_time()) {
      return Refuse(Rule::kArguments, synFailedToCollectTime,
                    Text("event ", name, " was created without EVENT_COLLECT_TIME"));
    }
    std::shared_ptr<EventRecord> record;
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(event->LastRecord(&record));
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(record->Query());
    times[i] = record->nanoseconds();
  }
  if (times[1] < times[0]) {
    return Refuse(Rule::kArguments, synInvalidArgument, "event end was reached before event start");
  }
  *nanoseconds = times[1] - times[0];
  return synSuccess;
}

}  // namespace hpu::synapse
