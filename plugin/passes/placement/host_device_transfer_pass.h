// Records of the tensors that are sent between the host and HPUs, for graphs with op records.
#ifndef HPU_PLUGIN_PASSES_PLACEMENT_HOST_DEVICE_TRANSFER_PASS_H_
#define HPU_PLUGIN_PASSES_PLACEMENT_HOST_DEVICE_TRANSFER_PASS_H_

#include "tensorflow/core/common_runtime/optimization_registry.h"

namespace hpu::passes {

// Records each tensor that a Send and a Recv transfer between the host and an HPU. Runs on partitioned graphs.
tensorflow::Status RunHostDeviceTransferPass(const tensorflow::GraphOptimizationPassOptions& options);

}  // namespace hpu::passes

#endif  // HPU_PLUGIN_PASSES_PLACEMENT_HOST_DEVICE_TRANSFER_PASS_H_
