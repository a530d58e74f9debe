// Arguments that a fake libSynapse recorded, for tests of the library's loader.
#ifndef HPU_PLUGIN_TESTING_SYNAPSE_FAKE_RECORDED_CALLS_H_
#define HPU_PLUGIN_TESTING_SYNAPSE_FAKE_RECORDED_CALLS_H_

#include <cstddef>
#include <cstdint>

namespace hpu::synapse {

// Arguments of the last call of each function. Arrays of char hold structs, as bytes.
struct RecordedCalls {
  char geometry[256];
  char layout[256];
  char launch_tensors[1024];
  uint32_t launch_count;
  uint64_t workspace;
  uint32_t stream_type;
  uint32_t device_type;
  uint32_t element_type;
  uint32_t attribute;
  int destroyed_streams;
};

// Exported by a fake library.
using GetRecordedCalls = RecordedCalls* (*)();
inline constexpr char kGetRecordedCalls[] = "fake_recorded_calls";

// Environment variables that a fake library reads: text of synDriverGetVersion; status of synDeviceMalloc.
inline constexpr char kFakeVersion[] = "FAKE_SYNAPSE_VERSION";
inline constexpr char kFakeMallocStatus[] = "FAKE_SYNAPSE_MALLOC_STATUS";

}  // namespace hpu::synapse

#endif  // HPU_PLUGIN_TESTING_SYNAPSE_FAKE_RECORDED_CALLS_H_
