#include "plugin/tensorflow/kernels/eager/value_range.h"

#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"

namespace hpu {

using tensorflow::Tensor;
using Test = ValueRule::Test;

absl::StatusOr<bool> InputsPass(ProcessDevice& device, const ValueRule& rule, const KernelArguments& arguments) {
  if (rule.test == Test::kFactored) return true;
  if (rule.other >= 0 && arguments.value(rule.other).NumElements() == 0) return true;
  HPU_ASSIGN_OR_RETURN(const Tensor values, HostCopyOf(device, arguments.value(rule.input)));
  if (rule.test != Test::kOrdered && rule.test != Test::kBand) return checks::Satisfies(rule, values);
  HPU_ASSIGN_OR_RETURN(const Tensor next, HostCopyOf(device, arguments.value(rule.input + 1)));
  return rule.test == Test::kOrdered ? checks::IsOrdered(values, next)
                                     : checks::IsBand(values, next, arguments.value(0).shape());
}

absl::StatusOr<bool> ResultPasses(tensorflow::OpKernelContext* context, ProcessDevice& device, const ValueRule& rule) {
  if (rule.test != Test::kFactored) return true;
  HPU_ASSIGN_OR_RETURN(const Tensor result, HostCopyOf(device, *context->mutable_output(0)));
  return checks::Satisfies(rule, result);
}

}  // namespace hpu
