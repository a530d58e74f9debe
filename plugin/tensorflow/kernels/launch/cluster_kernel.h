// ClusterKernel: base class of TensorFlow kernels that run a recipe.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_KERNEL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "plugin/compiler/background/compile_queue.h"
#include "plugin/compiler/lowering.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/compile_policy.h"
#include "plugin/tensorflow/kernels/cpu_fallback/cpu_fallback.h"
#include "plugin/tensorflow/kernels/kernel_arguments.h"
#include "plugin/tensorflow/kernels/launch/bounded_recipes.h"
#include "plugin/tensorflow/kernels/launch/executable_table.h"
#include "plugin/tensorflow/kernels/launch/faster_way.h"
#include "tensorflow/core/framework/op_kernel.h"

namespace hpu {

// Shared by clusters and eager ops. Finds or compiles the executable of the arguments' signature, then launches the
// executable. Runs on the CPU if the compile policy, a value or a failure requires the CPU. Thread safe, like all
// kernels.
class ClusterKernel : public tensorflow::OpKernel {
 public:
  // Drops this kernel's queued background compilations, and cancels running ones without waiting for their end.
  ~ClusterKernel() override;
  void Compute(tensorflow::OpKernelContext* context) final;

 protected:
  ClusterKernel(tensorflow::OpKernelConstruction* construction, std::shared_ptr<ExecutableTable> table)
      : OpKernel(construction), table_(std::move(table)) {}

  ArgumentKinds& kinds() { return kinds_; }
  const ExecutableTable& table() const { return *table_; }
  // The CPU program for this kernel, created at first use, or the error of MakeCpuFallback.
  absl::StatusOr<CpuFallback*> cpu_fallback(tensorflow::OpKernelContext* context);

  virtual ClusterSource Source(tensorflow::OpKernelContext* context) const = 0;
  virtual absl::StatusOr<std::unique_ptr<CpuFallback>> MakeCpuFallback(tensorflow::OpKernelContext* context) const = 0;
  // Recipes for signatures that differ in sizes; null if each signature has its own recipe.
  virtual std::shared_ptr<BoundedRecipes> bounded_recipes() const { return nullptr; }
  // How to run an execution.
  struct Choice {
    Choice() = default;
    Choice(CompileDecision made) : decision(made) {}  // NOLINT: without a bucket, a choice is a decision

    CompileDecision decision;
    std::shared_ptr<BoundedRecipes::Bucket> bucket;  // of the signature; null if a bounded recipe cannot serve it
  };
  // Decides how to run this execution, whose signature has no recipe yet. `descriptions` describe the arguments.
  virtual Choice Decide(ExecutableTable::Entry& entry, const KernelArguments& arguments,
                        const std::vector<ArgumentDescription>& descriptions) = 0;
  // Whether this execution must run on the CPU because of its input values. Called before every launch.
  virtual absl::StatusOr<bool> NeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                             const KernelArguments& arguments) {
    return false;
  }
  // Whether this execution must run on the CPU because of the launch's results. Called after every successful launch.
  virtual absl::StatusOr<bool> ResultNeedsFallback(tensorflow::OpKernelContext* context, ProcessDevice& device) {
    return false;
  }
  // Returns an error for input values that would make the CPU kernel write out of bounds.
  virtual absl::Status CheckFallback(ProcessDevice& device, const KernelArguments& arguments) {
    return absl::OkStatus();
  }
  // Handles a failed compilation or launch: returns OK to run on the CPU, or the kernel's error.
  virtual absl::Status OnFailure(tensorflow::OpKernelContext* context, const absl::Status& failure) = 0;
  // Reports an execution that does not fit the memory of a card that is not present.
  virtual void OnTooLarge(const absl::Status& failure) {}
  // Reports that an execution succeeded on the CPU after `failure`.
  virtual void OnFallback(const absl::Status& failure) {}
  // Whether signatures that have run on the CPU take the faster way once they have a recipe.
  virtual bool may_choose_way() const { return false; }
  // Times of a cluster that did not compile, in parts and on the CPU; null if it must run in parts.
  virtual FasterWay* split_times() { return nullptr; }
  // Splits a cluster that did not compile and runs the parts on the HPU. Returns false if the cluster cannot be split.
  // Called without locks.
  virtual absl::StatusOr<bool> RunSplit(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        const absl::Status& failure) {
    return false;
  }
  virtual void CountLaunch(const Executable& executable) = 0;
  // Callback for a successful compilation for these arguments. Runs on any thread, possibly after this kernel is
  // destroyed.
  virtual std::function<void(const Executable&)> CompileCounter(
      const std::vector<ArgumentDescription>& descriptions) const = 0;
  virtual void CountFallback(uint64_t bytes, Rule reason) = 0;

 private:
  absl::Status Execute(tensorflow::OpKernelContext* context);
  // Work that compiles the entry. Owns its state, and may run after this kernel is destroyed.
  absl::StatusOr<CompileQueue::Work> CompileWork(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                                 std::vector<ArgumentDescription> descriptions,
                                                 std::shared_ptr<ExecutableTable::Entry> entry, const Choice& choice);
  // Queues the entry, or its bucket, for compilation in the background, if the queue has room.
  absl::Status CompileInBackground(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                   std::vector<ArgumentDescription> descriptions,
                                   const std::shared_ptr<ExecutableTable::Entry>& entry, const Choice& choice);
  // Launches the executable, or runs on the CPU if that is the faster way (null: always launches). The caller holds the
  // locks of `arguments`.
  absl::Status RunExecutable(tensorflow::OpKernelContext* context, ProcessDevice& device,
                             const KernelArguments& arguments, const Executable& executable, FasterWay* way);
  // Runs on the CPU as the way that was chosen. Returns nullopt, and excludes the way, if the HPU must run instead.
  std::optional<absl::Status> RunOnCpu(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                       const KernelArguments& arguments, FasterWay& way);
  // Runs a cluster whose compilation failed: in parts, or on the CPU. The caller holds the locks of `arguments`.
  absl::Status RunAfterFailure(tensorflow::OpKernelContext* context, ProcessDevice& device, KernelArguments& arguments,
                               const absl::Status& failure);
  // Runs on the CPU after a failure on the HPU, if the settings and the CPU kernels permit a fallback. The caller holds
  // the locks of `arguments`.
  absl::Status FallBack(tensorflow::OpKernelContext* context, ProcessDevice& device, const KernelArguments& arguments,
                        const absl::Status& failure);
  // Adds the time of the run to the entry and the bucket, unless null.
  absl::Status RunFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                           const KernelArguments& arguments, Rule reason, ExecutableTable::Entry* entry = nullptr,
                           BoundedRecipes::Bucket* bucket = nullptr);

  ArgumentKinds kinds_;
  const std::shared_ptr<ExecutableTable> table_;
  std::atomic<bool> compiles_later_{false};  // whether a background compilation was ever requested
  std::atomic<bool> ran_on_cpu_{false};      // whether the CPU program has succeeded
  absl::Mutex fallback_mutex_;
  absl::StatusOr<std::unique_ptr<CpuFallback>> cpu_fallback_ ABSL_GUARDED_BY(fallback_mutex_) = nullptr;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_CLUSTER_KERNEL_H_
