// Lane: the rows of a trace.
#ifndef HPU_PLUGIN_BASE_TRACE_LANE_H_
#define HPU_PLUGIN_BASE_TRACE_LANE_H_

namespace hpu::trace {

enum class Lane {
  kCompute,
  kInstruction,
  kCopyToDevice,
  kCopyToHost,
  kCopyOnDevice,
  kCompile,
  kCollective,
  kCpuFallback,
  kMark,
};
inline constexpr int kLanes = 9;
const char* LaneName(Lane lane);

}  // namespace hpu::trace

#endif  // HPU_PLUGIN_BASE_TRACE_LANE_H_
