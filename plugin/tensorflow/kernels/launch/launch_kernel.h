// LaunchKernel: the kernel of HabanaLaunch, and of must-compile functions.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_KERNEL_H_

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "plugin/tensorflow/kernels/launch/cluster_history.h"
#include "plugin/tensorflow/kernels/launch/cluster_kernel.h"
#include "plugin/tensorflow/kernels/launch/learned_cluster.h"
#include "plugin/tensorflow/kernels/launch/split_program.h"
#include "plugin/tensorflow/kernels/statistics.h"

namespace hpu {

class LaunchKernel : public ClusterKernel {
 public:
  // The function to run, and whether a failed compilation is an error. `kinds` has an entry for each input.
  struct Cluster {
    tensorflow::NameAttrList function;
    ArgumentKinds kinds;
    bool must_compile = false;
  };

  // For HabanaLaunch: reads the cluster from the node's attributes.
  explicit LaunchKernel(tensorflow::OpKernelConstruction* construction);
  LaunchKernel(tensorflow::OpKernelConstruction* construction, Cluster cluster);
  // A launch usually only queues work, so the kernel may run on the executor's thread.
  bool IsExpensive() override { return false; }

 protected:
  ClusterSource Source(tensorflow::OpKernelContext* context) const override;
  absl::StatusOr<std::unique_ptr<CpuFallback>> MakeCpuFallback(tensorflow::OpKernelContext* context) const override;
  Choice Decide(ExecutableTable::Entry& entry, const KernelArguments& arguments,
                const std::vector<ArgumentDescription>& descriptions) override;
  std::shared_ptr<BoundedRecipes> bounded_recipes() const override;
  bool may_choose_way() const override { return !must_compile_ && !calls_jit_ && ChoosesByTime(); }
  FasterWay* split_times() override ABSL_LOCKS_EXCLUDED(split_mutex_);
  absl::StatusOr<bool> RunSplit(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                const absl::Status& failure) override;
  absl::Status OnFailure(tensorflow::OpKernelContext* context, const absl::Status& failure) override;
  void OnTooLarge(const absl::Status& failure) override;
  void OnFallback(const absl::Status& failure) override;
  void CountLaunch(const Executable& executable) override;
  std::function<void(const Executable&)> CompileCounter(
      const std::vector<ArgumentDescription>& descriptions) const override;
  void CountFallback(uint64_t bytes, Rule reason) override;

 private:
  // Creates the split program at the first failure. Returns null if the cluster cannot be split.
  const SplitProgram* GetSplit(tensorflow::OpKernelContext* context, const absl::Status& failure)
      ABSL_LOCKS_EXCLUDED(split_mutex_);
  std::vector<std::string> ArgumentNames() const;
  // Describes the most frequent change between signatures and, if known, why there is no bounded recipe.
  std::string MostFrequentChange() const;
  // Warns once about the argument that makes the cluster megamorphic.
  void WarnOfChanges(const ClusterCounts& counts);
  void Initialize(tensorflow::OpKernelConstruction* construction, Cluster cluster);

  tensorflow::NameAttrList function_;
  bool must_compile_ = false;
  bool calls_jit_ = false;  // whether calls of jit_compile functions are among its ops
  int graph_def_version_ = 0;
  ClusterCounters* counters_ = nullptr;
  const std::shared_ptr<ClusterHistory> history_ = std::make_shared<ClusterHistory>();
  uint64_t content_ = 0;  // FunctionIdentity::content
  std::shared_ptr<LearnedCluster> learned_;
  std::atomic<bool> warned_{false};
  std::atomic<bool> warned_of_changes_{false};
  absl::Mutex split_mutex_;
  bool split_tried_ ABSL_GUARDED_BY(split_mutex_) = false;
  std::unique_ptr<SplitProgram> split_ ABSL_GUARDED_BY(split_mutex_);
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_LAUNCH_LAUNCH_KERNEL_H_
