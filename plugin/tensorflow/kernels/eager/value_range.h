// Check of an eager op's values against its value rule (plugin/passes/analysis/value_rules.h).
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_

#include "absl/status/statusor.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/value_rules.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Copies the inputs that the rule tests to the host if necessary, and waits for them. True for kFactored. The caller
// holds the locks of the op's variables.
absl::StatusOr<bool> InputsPass(ProcessDevice& device, const ValueRule& rule, const KernelArguments& arguments);

// The same for the context's first output, which a launch has set. True unless the rule is kFactored.
absl::StatusOr<bool> ResultPasses(tensorflow::OpKernelContext* context, ProcessDevice& device, const ValueRule& rule);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_VALUE_RANGE_H_
