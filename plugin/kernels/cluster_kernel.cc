#include "plugin/kernels/cluster_kernel.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/compiler/compile.h"
#include "plugin/kernels/host_run.h"
#include "plugin/kernels/launch.h"
#include "tsl/platform/errors.h"
#include "tsl/platform/statusor.h"

namespace hpu {
namespace {

// tf2xla has words of its own for a read of a variable without a value. Programs look for TensorFlow's error.
absl::Status CheckInitialized(const absl::Status& failure, const KernelArguments& arguments) {
  const bool read = absl::StrContains(failure.message(), "got INVALID") ||
                    absl::StrContains(failure.message(), "variable is uninitialized");
  const std::vector<std::string> names = read ? arguments.UninitializedVariables() : std::vector<std::string>();
  if (names.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrCat("Could not find variable ", absl::StrJoin(names, ", "),
                                                    ". This could mean that the variable was not initialized, or that "
                                                    "it has been deleted."));
}

}  // namespace

void ClusterKernel::Compute(tensorflow::OpKernelContext* context) { OP_REQUIRES_OK(context, Execute(context)); }

absl::Status ClusterKernel::Execute(tensorflow::OpKernelContext* context) {
  TF_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  KernelArguments arguments(context, kinds_);
  TF_RETURN_IF_ERROR(arguments.FindVariables());
  if (arguments.HasDuplicateVariables()) {
    TF_RETURN_IF_ERROR(OnFailure(absl::UnimplementedError("one variable is passed to the cluster twice")));
    arguments.Lock();
    return RunHere(context, *device, arguments);
  }
  static thread_local Signature signature;
  // Compiling takes seconds and happens without the locks. Variables may change meanwhile, so look again after it.
  while (true) {
    arguments.Lock();
    signature.Clear();
    arguments.Sign(&signature);
    ExecutableTable::Entry& entry = table_->FindOrCreate(signature);
    if (const Executable* executable = entry.executable()) {
      TF_ASSIGN_OR_RETURN(const bool needs_host, NeedsHost(context, *device, arguments));
      if (needs_host) return RunHere(context, *device, arguments);
      CountLaunch();
      bool queued = false;
      absl::Status status = Launch(context, *device, *executable, arguments, &queued);
      if (status.ok() || queued) return status;
      TF_RETURN_IF_ERROR(OnFailure(status));
      return RunHere(context, *device, arguments);
    }
    if (entry.failed()) {
      TF_RETURN_IF_ERROR(CheckInitialized(entry.failure(), arguments));
      arguments.Unlock();
      TF_ASSIGN_OR_RETURN(const bool done, RunSplit(context, *device, entry.failure()));
      if (done) return absl::OkStatus();
      TF_RETURN_IF_ERROR(OnFailure(entry.failure()));
      arguments.Lock();
      return RunHere(context, *device, arguments);
    }
    if (PrefersHost(entry)) {
      absl::Status status = RunHere(context, *device, arguments);
      if (status.ok() || !absl::IsUnimplemented(status)) return status;
      // The CPU has no kernel for it, or not for these attributes (NCHW): compile at once.
    }
    std::vector<ArgumentDescription> descriptions = arguments.Describe();
    arguments.Unlock();
    Compile(context, *device, entry, std::move(descriptions)).IgnoreError();  // the entry holds the outcome
  }
}

absl::Status ClusterKernel::Compile(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                    ExecutableTable::Entry& entry, std::vector<ArgumentDescription> descriptions) {
  return entry.Compile([&]() -> absl::StatusOr<std::shared_ptr<Executable>> {
    TF_ASSIGN_OR_RETURN(std::shared_ptr<Executable> executable,
                        CompileCluster(device.hal(), Source(context), descriptions));
    TF_RETURN_IF_ERROR(PlaceConstants(device, executable.get()));
    CountCompile(*executable);
    return executable;
  });
}

absl::Status ClusterKernel::RunHere(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                    const KernelArguments& arguments) {
  TF_ASSIGN_OR_RETURN(HostProgram * program, host_program(context));
  TF_ASSIGN_OR_RETURN(const uint64_t bytes, RunOnHost(context, device, *program, arguments));
  CountHostRun(bytes);
  return absl::OkStatus();
}

absl::StatusOr<HostProgram*> ClusterKernel::host_program(tensorflow::OpKernelContext* context) {
  absl::MutexLock lock(&host_mutex_);
  if (host_program_.ok() && *host_program_ == nullptr) host_program_ = MakeHostProgram(context);
  if (!host_program_.ok()) return host_program_.status();
  return host_program_->get();
}

}  // namespace hpu
