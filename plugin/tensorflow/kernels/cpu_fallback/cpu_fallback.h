// CpuFallback: an op or a cluster as a program for the CPU.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_FALLBACK_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_FALLBACK_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Thread safe.
class CpuFallback {
 public:
  virtual ~CpuFallback() = default;
  // `inputs` and `outputs` are in host memory. Resources in `inputs` are handles of the HostDevice.
  virtual absl::Status Run(tensorflow::OpKernelContext* context, std::vector<tensorflow::Tensor> inputs,
                           std::vector<tensorflow::Tensor>* outputs) = 0;
};

// Whether a CPU kernel computes the node. CPU kernels of XLA's ops (such as XlaPad) do not count, because they compile
// the op with XLA.
bool HasCpuKernel(const tensorflow::NodeDef& node);

// Wraps the op's own CPU kernel. An op that has a CPU kernel for float32, but not for bfloat16, computes bfloat16 in
// float32, between casts. NotFound if the op has no CPU kernel, or only a kernel that compiles with XLA.
absl::StatusOr<std::unique_ptr<CpuFallback>> MakeKernelFallback(const tensorflow::NodeDef& node, int graph_def_version);

// Instantiates a function, with all functions that it calls, on the CPU. Ignores requested devices of nodes.
absl::StatusOr<std::unique_ptr<CpuFallback>> MakeFunctionFallback(const tensorflow::NameAttrList& function,
                                                                  const tensorflow::FunctionLibraryDefinition& library,
                                                                  int graph_def_version);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_CPU_FALLBACK_H_
