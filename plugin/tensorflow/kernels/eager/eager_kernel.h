// EagerKernel: the kernel that runs one op as its own recipe.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_EAGER_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_EAGER_KERNEL_H_

#include <functional>
#include <memory>

#include "plugin/checks/value_rule.h"
#include "plugin/op_facts/op_facts.h"
#include "plugin/passes/analysis/op_rules.h"
#include "plugin/tensorflow/kernels/launch/cluster_kernel.h"

namespace hpu {

// For eager execution, and for ops of a graph that are in no cluster. Kernels of equal nodes share their recipes,
// unless placement refuses the op or an attribute names a function.
class EagerKernel : public ClusterKernel {
 public:
  explicit EagerKernel(tensorflow::OpKernelConstruction* construction);
  // This kernel may run the op's CPU kernel, which must not block the scheduling thread.
  bool IsExpensive() override { return true; }

 protected:
  ClusterSource Source(tensorflow::OpKernelContext* context) const override;
  absl::StatusOr<std::unique_ptr<CpuFallback>> MakeCpuFallback(tensorflow::OpKernelContext* context) const override;
  Choice Decide(ExecutableTable::Entry& entry, const KernelArguments& arguments,
                const std::vector<ArgumentDescription>& descriptions) override;
  absl::StatusOr<bool> NeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                     const KernelArguments& arguments) override;
  absl::StatusOr<bool> ResultNeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device) override;
  absl::Status CheckFallback(ProcessDevice& device, const KernelArguments& arguments) override;
  absl::Status OnFailure(tensorflow::OpKernelContext* context, const absl::Status& failure) override;
  void CountLaunch(const Executable& executable) override;
  std::function<void(const Executable&)> CompileCounter(
      const std::vector<ArgumentDescription>& descriptions) const override;
  void CountFallback(uint64_t bytes, Rule reason) override;

 private:
  // Whether an op that sums over windows has an empty operand or an empty result. CPU kernels mishandle both.
  bool IsEmptySum(const KernelArguments& arguments);

  bool compilable_ = true;              // false: the op runs only on its CPU kernel (random ops, sparse updates)
  bool has_cpu_kernel_ = true;          // false: the op runs only as a recipe (ops of tf2xla's Python module)
  bool runs_on_cpu_ = false;            // compiled only for ThreeFry, which the CPU kernels lack
  const IndexedOp* indexed_ = nullptr;  // set if the CPU kernel raises an error for indices out of range
  const ValueRule* rule_ = nullptr;     // set if the CPU kernel raises an error for some values
  bool left_to_compiler_ = false;       // the CPU kernel rejects the attributes or returns a different result
  bool sums_over_windows_ = false;      // the CPU kernel may leave results of empty operands unset
  bool only_host_ = false;              // all inputs and outputs are in host memory, so compiling saves no time
  int algorithm_ = -1;                  // the input that selects a random op's algorithm; -1: no such input
  int graph_def_version_ = 0;
  int64_t record_ = 0;  // number of the graph's report; 0 if ops are not recorded
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_EAGER_KERNEL_H_
