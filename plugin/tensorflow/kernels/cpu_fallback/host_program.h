// HostProgram: an op or a cluster as the CPU runs it.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PROGRAM_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PROGRAM_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {

// Thread safe.
class HostProgram {
 public:
  virtual ~HostProgram() = default;
  // `inputs` lie in host memory; resources are handles of HostDevice's. Fills `outputs`, in host memory.
  virtual absl::Status Run(tensorflow::OpKernelContext* context, std::vector<tensorflow::Tensor> inputs,
                           std::vector<tensorflow::Tensor>* outputs) = 0;
};

// Whether the CPU has a kernel that computes a node. Its kernels of XLA's ops (XlaPad) compile them instead.
bool HasCpuKernel(const tensorflow::NodeDef& node);

// The op's own CPU kernel. NotFound if it has none.
absl::StatusOr<std::unique_ptr<HostProgram>> MakeHostKernel(const tensorflow::NodeDef& node, int graph_def_version);

// A function with all it calls, on the CPU whatever devices its nodes ask for.
absl::StatusOr<std::unique_ptr<HostProgram>> MakeHostFunction(const tensorflow::NameAttrList& function,
                                                              const tensorflow::FunctionLibraryDefinition& library,
                                                              int graph_def_version);

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_CPU_FALLBACK_HOST_PROGRAM_H_
