// Check of an eager op's values against its value rule (plugin/checks/value_rule.h).
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_

#include "absl/status/statusor.h"
#include "plugin/checks/value_rule.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Whether the op's inputs pass the rule. Copies the tested inputs to the host if necessary, and waits for the copies.
// Always true for kFactored, a rule about the result. The caller holds the locks of the op's variables.
absl::StatusOr<bool> InputsPass(ProcessDevice& device, const ValueRule& rule, const KernelArguments& arguments);

// Whether the context's first output, set by a launch, passes the rule. Always true unless the rule is kFactored.
absl::StatusOr<bool> ResultPasses(tensorflow::OpKernelContext* context, ProcessDevice& device, const ValueRule& rule);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_
