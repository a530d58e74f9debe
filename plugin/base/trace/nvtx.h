// Ranges in traces of NVIDIA's tools, such as Nsight Systems, by NVTX.
#ifndef HPU_PLUGIN_BASE_TRACE_NVTX_H_
#define HPU_PLUGIN_BASE_TRACE_NVTX_H_

#include <cstdint>
#include <string>

#include "plugin/base/trace/lane.h"

namespace hpu::trace {

// Whether TF_ENABLE_NVTX_RANGES or TF_ENABLE_NVTX_RANGES_DETAILED requests ranges. Reads the settings once.
bool HasNvtx();
// Whether TF_ENABLE_NVTX_RANGES_DETAILED does.
bool HasDetailedNvtx();

// A range of the domain "hpu-tensorflow", from construction to destruction, which may happen on another thread. The
// lane is the range's category, and `bytes` is its payload. Does nothing if no tool is attached. Requires HasNvtx().
class NvtxRange {
 public:
  NvtxRange(Lane lane, const std::string& name, uint64_t bytes);
  ~NvtxRange();
  NvtxRange(const NvtxRange&) = delete;
  NvtxRange& operator=(const NvtxRange&) = delete;

 private:
  uint64_t id_ = 0;
};

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_NVTX_H_
