// DecompositionKernel: the kernel of every fused op, used as CPU kernel and as lowering.
#ifndef HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_KERNEL_H_

#include <memory>
#include <vector>

#include "plugin/tensorflow/fused/decomposition.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Runs the kernels of the plain ops one after another. On the CPU the kernels compute. On the compilation device the
// kernels add HLO to the program. The decomposition thus defines the fused op on both devices. Thread safe if the
// kernels of the plain ops are thread safe.
class DecompositionKernel : public tensorflow::OpKernel {
 public:
  explicit DecompositionKernel(tensorflow::OpKernelConstruction* construction);
  void Compute(tensorflow::OpKernelContext* context) override;

 private:
  absl::Status Construct(tensorflow::OpKernelConstruction* construction);
  absl::Status Run(tensorflow::OpKernelContext* context);

  Decomposition decomposition_;
  std::vector<int> last_use_;  // by step: the last step that reads the step's results
  std::vector<std::unique_ptr<tensorflow::OpKernel>> kernels_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_FUSED_DECOMPOSITION_KERNEL_H_
