// SplitProgram: a cluster that did not compile, split again without the failing ops.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SPLIT_PROGRAM_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SPLIT_PROGRAM_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "plugin/passes/clustering/recluster.h"
#include "plugin/tensorflow/device/process_device.h"
#include "tensorflow/core/framework/function.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// The nodes that a tf2xla error names, without duplicates.
std::vector<std::string> NodesNamedIn(absl::string_view message);

// Runs on the HPU as a function of smaller clusters and the ops between them. Thread safe. Must not outlive the
// function runtime of the kernel that created it.
class SplitProgram {
 public:
  // InvalidArgument if the cluster cannot be split: `refused` names none of the cluster's ops, or no cluster would
  // remain.
  static absl::StatusOr<std::unique_ptr<SplitProgram>> Make(tensorflow::FunctionLibraryRuntime* runtime,
                                                            const std::string& function,
                                                            const std::vector<std::string>& refused);
  // For a function with jit_compile=True that contains random ops (ReclusterRandomOps). InvalidArgument if it contains
  // none.
  static absl::StatusOr<std::unique_ptr<SplitProgram>> MakeForRandomOps(tensorflow::FunctionLibraryRuntime* runtime,
                                                                        const std::string& function);
  ~SplitProgram();
  SplitProgram(const SplitProgram&) = delete;
  SplitProgram& operator=(const SplitProgram&) = delete;

  // Reads the inputs and sets the outputs of the context, like the cluster's kernel. The caller must not hold locks of
  // variables.
  absl::Status Run(tensorflow::OpKernelContext* context, ProcessDevice& device) const;

  // Nodes of the cluster that run outside the new clusters.
  const std::vector<std::string>& removed() const { return removed_; }

 private:
  using Recluster =
      absl::FunctionRef<absl::StatusOr<passes::SplitCluster>(tensorflow::FunctionLibraryDefinition* library)>;

  static absl::StatusOr<std::unique_ptr<SplitProgram>> Make(tensorflow::FunctionLibraryRuntime* runtime,
                                                            const std::string& function, Recluster recluster);
  SplitProgram(tensorflow::FunctionLibraryRuntime* runtime,
               std::unique_ptr<tensorflow::FunctionLibraryDefinition> library, std::vector<std::string> removed)
      : runtime_(runtime), library_(std::move(library)), removed_(std::move(removed)) {}

  tensorflow::FunctionLibraryRuntime* const runtime_;
  const std::unique_ptr<tensorflow::FunctionLibraryDefinition>
      library_;  // the kernel's functions and the split's functions
  const std::vector<std::string> removed_;
  tensorflow::FunctionLibraryRuntime::Handle handle_ = tensorflow::kInvalidHandle;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_SPLIT_PROGRAM_H_
