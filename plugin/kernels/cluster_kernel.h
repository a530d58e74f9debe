// ClusterKernel: a kernel of TensorFlow that runs a recipe.
#ifndef HPU_PLUGIN_KERNELS_CLUSTER_KERNEL_H_
#define HPU_PLUGIN_KERNELS_CLUSTER_KERNEL_H_

#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/lowering.h"
#include "plugin/device/process_device.h"
#include "plugin/kernels/executable_table.h"
#include "plugin/kernels/host_program.h"
#include "plugin/kernels/kernel_arguments.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// What clusters and eager ops have in common: find the executable of the arguments' signature, compile it if there is
// none, launch it; or run on the CPU. Thread safe, as all kernels.
class ClusterKernel : public tensorflow::OpKernel {
 public:
  void Compute(tensorflow::OpKernelContext* context) final;

 protected:
  ClusterKernel(tensorflow::OpKernelConstruction* construction, std::shared_ptr<ExecutableTable> table)
      : OpKernel(construction), table_(std::move(table)) {}

  ArgumentKinds& kinds() { return kinds_; }
  const ExecutableTable& table() const { return *table_; }
  // The CPU's program for this kernel, made at first use. NotFound if there is none.
  absl::StatusOr<HostProgram*> host_program(tensorflow::OpKernelContext* context);

  virtual ClusterSource Source(tensorflow::OpKernelContext* context) const = 0;
  virtual absl::StatusOr<std::unique_ptr<HostProgram>> MakeHostProgram(tensorflow::OpKernelContext* context) const = 0;
  // Whether this execution should run on the CPU although it could be compiled.
  virtual bool PrefersHost(ExecutableTable::Entry& entry) = 0;
  // Whether this execution must run on the CPU, with these values. Asked before every launch.
  virtual absl::StatusOr<bool> NeedsHost(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                         const KernelArguments& arguments) {
    return false;
  }
  // What to do when compilation failed: OK to run on the CPU, or the error to return.
  virtual absl::Status OnFailure(const absl::Status& failure) = 0;
  // Runs what can be made of a cluster that did not compile, on the HPU still; false if nothing can. Called without
  // locks.
  virtual absl::StatusOr<bool> RunSplit(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        const absl::Status& failure) {
    return false;
  }
  virtual void CountLaunch() = 0;
  virtual void CountCompile(const Executable& executable) = 0;
  virtual void CountHostRun(uint64_t bytes) = 0;

 private:
  absl::Status Execute(tensorflow::OpKernelContext* context);
  absl::Status Compile(tensorflow::OpKernelContext* context, ProcessDevice& device, ExecutableTable::Entry& entry,
                       std::vector<ArgumentDescription> descriptions);
  absl::Status RunHere(tensorflow::OpKernelContext* context, ProcessDevice& device, const KernelArguments& arguments);

  ArgumentKinds kinds_;
  const std::shared_ptr<ExecutableTable> table_;
  absl::Mutex host_mutex_;
  absl::StatusOr<std::unique_ptr<HostProgram>> host_program_ ABSL_GUARDED_BY(host_mutex_) = nullptr;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_KERNELS_CLUSTER_KERNEL_H_
