#include "plugin/tensorflow/kernels/launch/cluster_kernel.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/base/trace/trace.h"
#include "plugin/compiler/background/compile_queue.h"
#include "plugin/compiler/background/interruptible_compiles.h"
#include "plugin/compiler/compile.h"
#include "plugin/compiler/crash_report.h"
#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"
#include "plugin/tensorflow/kernels/launch/launch.h"
#include "plugin/tensorflow/kernels/launch/split_program.h"

namespace hpu {
namespace {

using tensorflow::FunctionLibraryDefinition;

// Returns TensorFlow's error if the cluster read a variable without a value, otherwise OK. Programs expect TensorFlow's
// error, but tf2xla words the error differently.
absl::Status CheckInitialized(const absl::Status& failure, const KernelArguments& arguments) {
  const bool read = absl::StrContains(failure.message(), "got INVALID") ||
                    absl::StrContains(failure.message(), "variable is uninitialized");
  const std::vector<std::string> names = read ? arguments.UninitializedVariables() : std::vector<std::string>();
  if (names.empty()) return absl::OkStatus();
  std::string text = absl::StrCat("Could not find variable", names.size() == 1 ? " " : "s ", absl::StrJoin(names, ", "),
                                  ". This could mean that ", names.size() == 1 ? "it was" : "they were",
                                  " not initialized, or deleted.");
  // From these names, Python finds the line of the program.
  for (const std::string& node : NodesNamedIn(failure.message()))
    absl::StrAppend(&text, "\n\t [[{{node ", node, "}}]]");
  return absl::FailedPreconditionError(text);
}

// Whether the CPU has no kernel for an op, or no kernel for the op's attributes (NCHW).
bool CpuLacksKernel(const absl::Status& status) {
  return absl::IsUnimplemented(status) ||
         (absl::IsNotFound(status) && absl::StrContains(status.message(), "No registered '"));
}

// Whether the device may run an execution that failed on the CPU, because the CPU lacks a kernel or host memory. Lack
// of memory does not count for kNever, because compiled code might draw other random numbers.
bool MayRunOnDevice(const absl::Status& cpu_status, Rule reason) {
  return CpuLacksKernel(cpu_status) || (IsHostMemoryExhausted(cpu_status) && reason != Rule::kNever);
}

// A self-contained function library for the cluster, or for the single op.
absl::StatusOr<std::shared_ptr<FunctionLibraryDefinition>> OwnLibrary(const ClusterSource& source) {
  if (source.node != nullptr) {
    tensorflow::GraphDef graph;
    *graph.add_node() = *source.node;
    return std::make_shared<FunctionLibraryDefinition>(source.library->ReachableDefinitions(graph));
  }
  const tensorflow::FunctionDef* definition = source.library->Find(source.function.name());
  if (definition == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("function ", source.function.name(),
                     " is not in the function library; save the graph together with its functions"));
  }
  std::shared_ptr<FunctionLibraryDefinition> library(
      new FunctionLibraryDefinition(source.library->ReachableDefinitions(*definition)));
  HPU_RETURN_IF_ERROR(library->CopyFunctionDefFrom(source.function.name(), *source.library));
  return library;
}

// What Compile makes, and for whom.
struct CompileRequest {
  ClusterSource source;
  std::vector<ArgumentDescription> descriptions;
  std::function<void(const Executable&)> counter;
  std::shared_ptr<BoundedRecipes> bounded;
  std::shared_ptr<BoundedRecipes::Bucket> bucket;  // null: a recipe for the arguments' own shapes
  bool only_stored = false;
  bool in_background = false;
  bool chooses_way = false;  // whether later runs take the faster way
};

// The ways of the entry's signature if it has run on the CPU, otherwise null.
std::shared_ptr<FasterWay> WayOf(const CompileRequest& request, const ExecutableTable::Entry& entry) {
  if (!request.chooses_way) return nullptr;
  if (request.bucket != nullptr) return request.bucket->Way();
  const int runs = entry.fallbacks();
  return request.in_background && runs > 0 ? std::make_shared<FasterWay>(absl::Seconds(entry.cpu_seconds() / runs))
                                           : nullptr;
}

// Without a bounded recipe, the arguments' own shapes are compiled in the foreground only.
absl::StatusOr<std::shared_ptr<Executable>> MakeExecutable(ProcessDevice& device, const CompileRequest& request,
                                                           const std::atomic<bool>* cancelled) {
  if (request.bucket != nullptr) {
    absl::StatusOr<std::shared_ptr<Executable>> executable = request.bounded->Compile(
        device.hal(), request.source, request.descriptions, cancelled, request.only_stored, *request.bucket);
    if (executable.ok() || absl::IsCancelled(executable.status())) return executable;
    if (request.in_background) return absl::CancelledError(executable.status().message());
  }
  return CompileCluster(device.hal(), request.source, request.descriptions, cancelled, request.only_stored);
}

// Compiles and stores the outcome in the entry. Counts afterwards, so that a thread that sees the count also finds the
// executable.
void Compile(ProcessDevice& device, const CompileRequest& request, const std::atomic<bool>* cancelled,
             ExecutableTable::Entry& entry) {
  const Executable* made = nullptr;
  auto compile = [&]() -> absl::StatusOr<std::shared_ptr<Executable>> {
    absl::StatusOr<std::shared_ptr<Executable>> executable = MakeExecutable(device, request, cancelled);
    if (!executable.ok()) return ExplainCrash(request.source, executable.status());
    HPU_RETURN_IF_ERROR(PlaceConstants(device, executable->get()));
    made = executable->get();
    entry.SetWay(WayOf(request, entry));
    return executable;
  };
  if (entry.Compile(compile).ok() && made != nullptr) request.counter(*made);
}

}  // namespace

ClusterKernel::~ClusterKernel() {
  if (compiles_later_.load(std::memory_order_relaxed)) CompileQueue::Get().Cancel(this);
}

void ClusterKernel::Compute(tensorflow::OpKernelContext* context) { OP_REQUIRES_OK(context, Execute(context)); }

absl::Status ClusterKernel::Execute(tensorflow::OpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(ProcessDevice * device, ProcessDevice::Get());
  KernelArguments arguments(context, kinds_);
  HPU_RETURN_IF_ERROR(arguments.FindVariables());
  static thread_local recipes::Signature signature;
  // Compilation takes seconds and runs without the locks. Variables may change during the compilation, so the signature
  // is computed again.
  while (true) {
    arguments.Lock();
    signature.Clear();
    arguments.AppendSignature(&signature);
    const std::shared_ptr<ExecutableTable::Entry> entry = table_->FindOrCreate(signature);
    if (const Executable* executable = entry->executable()) {
      HPU_ASSIGN_OR_RETURN(const bool needs_fallback, NeedsFallback(context, *device, arguments));
      if (needs_fallback) return RunFallback(context, *device, arguments, Rule::kFallback);
      return RunExecutable(context, *device, arguments, *executable, entry->way());
    }
    if (entry->failed()) {
      HPU_RETURN_IF_ERROR(CheckInitialized(entry->failure(), arguments));
      return RunAfterFailure(context, *device, arguments, entry->failure());
    }
    std::vector<ArgumentDescription> descriptions = arguments.Describe();
    const Choice choice = Decide(*entry, arguments, descriptions);
    const CompileDecision& decision = choice.decision;
    if (decision.action != CompileDecision::Action::kCompile) {
      const bool repeats = ran_on_cpu_.load(std::memory_order_relaxed);
      absl::Status status = RunFallback(context, *device, arguments, decision.reason, entry.get(), choice.bucket.get());
      // Queued after the CPU run, so that the compilation does not compete with the run for processors.
      if (status.ok() && decision.action == CompileDecision::Action::kCompileInBackground) {
        return CompileInBackground(context, *device, std::move(descriptions), entry, choice);
      }
      if (repeats || !MayRunOnDevice(status, decision.reason)) {
        if (!status.ok()) entry->SetRaised();
        return status;
      }
    }
    arguments.Unlock();
    HPU_ASSIGN_OR_RETURN(CompileQueue::Work work,
                         CompileWork(context, *device, std::move(descriptions), entry, choice));
    HPU_RETURN_IF_ERROR(InterruptibleCompiles::Get().Run(name(), std::move(work)));
  }
}

absl::Status ClusterKernel::RunExecutable(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                          const KernelArguments& arguments, const Executable& executable,
                                          FasterWay* way) {
  const FasterWay::Choice choice = way != nullptr ? way->Next() : FasterWay::Choice{FasterWay::kHpu, false};
  if (choice.way == FasterWay::kCpu) {
    if (const std::optional<absl::Status> status = RunOnCpu(context, device, arguments, *way)) return *status;
  }
  const bool is_timed = choice.way == FasterWay::kHpu && choice.is_trial;
  absl::Time start;
  if (is_timed) {  // a launch only queues work, so a trial waits for the device before and after
    HPU_RETURN_IF_ERROR(device.Synchronize());
    start = absl::Now();
  }
  CountLaunch(executable);
  bool queued = false;
  absl::Status status = Launch(context, device, executable, arguments, &queued);
  if (!status.ok()) return queued ? status : FallBack(context, device, arguments, status);
  if (is_timed) {
    HPU_RETURN_IF_ERROR(device.Synchronize());
    way->Add(FasterWay::kHpu, absl::Now() - start);
  }
  HPU_ASSIGN_OR_RETURN(const bool needs_fallback, ResultNeedsFallback(context, device));
  return needs_fallback ? RunFallback(context, device, arguments, Rule::kFallback) : absl::OkStatus();
}

std::optional<absl::Status> ClusterKernel::RunOnCpu(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                                    const KernelArguments& arguments, FasterWay& way) {
  const absl::Time start = absl::Now();
  absl::Status status = RunFallback(context, device, arguments, Rule::kFasterOnCpu);
  if (MayRunOnDevice(status, Rule::kFasterOnCpu)) {
    way.Exclude(FasterWay::kCpu);
    return std::nullopt;
  }
  way.Add(FasterWay::kCpu, absl::Now() - start);
  return status;
}

absl::Status ClusterKernel::RunAfterFailure(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                            KernelArguments& arguments, const absl::Status& failure) {
  FasterWay* const times = split_times();
  if (times != nullptr && times->Next().way == FasterWay::kCpu) {
    if (const std::optional<absl::Status> status = RunOnCpu(context, device, arguments, *times)) return *status;
  }
  const absl::Time start = absl::Now();
  arguments.Unlock();
  HPU_ASSIGN_OR_RETURN(const bool done, RunSplit(context, device, failure));
  if (done) {
    if (times != nullptr) times->Add(FasterWay::kHpu, absl::Now() - start);
    return absl::OkStatus();
  }
  arguments.Lock();
  return FallBack(context, device, arguments, failure);
}

absl::StatusOr<CompileQueue::Work> ClusterKernel::CompileWork(tensorflow::OpKernelContext* context,
                                                              ProcessDevice& device,
                                                              std::vector<ArgumentDescription> descriptions,
                                                              std::shared_ptr<ExecutableTable::Entry> entry,
                                                              const Choice& choice) {
  CompileRequest request;
  request.source = Source(context);
  HPU_ASSIGN_OR_RETURN(std::shared_ptr<FunctionLibraryDefinition> library, OwnLibrary(request.source));
  const auto node =
      request.source.node == nullptr ? nullptr : std::make_shared<const tensorflow::NodeDef>(*request.source.node);
  request.source.library = library.get();
  request.source.node = node.get();
  request.counter = CompileCounter(descriptions);
  request.descriptions = std::move(descriptions);
  request.bounded = bounded_recipes();
  if (choice.decision.for_bucket) request.bucket = choice.bucket;
  request.only_stored = choice.decision.only_stored;
  request.chooses_way = may_choose_way();
  request.in_background = choice.decision.action == CompileDecision::Action::kCompileInBackground;
  // Does not capture `this`, because the kernel may be destroyed during the compilation.
  return CompileQueue::Work([&device, entry = std::move(entry), library, node, request = std::move(request)](
                                const std::atomic<bool>& cancelled) { Compile(device, request, &cancelled, *entry); });
}

absl::Status ClusterKernel::CompileInBackground(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                                std::vector<ArgumentDescription> descriptions,
                                                const std::shared_ptr<ExecutableTable::Entry>& entry,
                                                const Choice& choice) {
  const std::shared_ptr<BoundedRecipes::Bucket> bucket = choice.decision.for_bucket ? choice.bucket : nullptr;
  const auto set_scheduled = [entry, bucket](bool scheduled) {
    return bucket != nullptr ? bucket->SetScheduled(scheduled) : entry->SetScheduled(scheduled);
  };
  if (set_scheduled(true)) return absl::OkStatus();
  compiles_later_.store(true, std::memory_order_relaxed);
  HPU_ASSIGN_OR_RETURN(CompileQueue::Work compile,
                       CompileWork(context, device, std::move(descriptions), entry, choice));
  auto work = [compile = std::move(compile), table = table_, bucket](const std::atomic<bool>& cancelled) {
    compile(cancelled);
    if (bucket != nullptr) bucket->SetScheduled(false);
    table->AddInBackground(-1);
  };
  table_->AddInBackground(1);
  if (!CompileQueue::Get().Schedule(this, std::move(work))) {
    table_->AddInBackground(-1);
    set_scheduled(false);
  }
  return absl::OkStatus();
}

absl::Status ClusterKernel::FallBack(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                     const KernelArguments& arguments, const absl::Status& failure) {
  if (absl::IsResourceExhausted(failure) && !device.hal().info().is_present) {
    OnTooLarge(failure);
    return absl::ResourceExhaustedError(
        absl::StrCat(name(), " does not fit the card: ", failure.message(),
                     "\nIt does not run on the CPU instead, because the card is not present (HPU_PJRT_TARGET): "
                     "reduce the batch or model, or select a card with more memory"));
  }
  HPU_RETURN_IF_ERROR(OnFailure(context, failure));
  absl::Status status = RunFallback(context, device, arguments, Rule::kFallback);
  if (status.ok()) OnFallback(failure);
  // `failure` names the recipe's largest tensors.
  if (absl::IsResourceExhausted(status) && absl::IsResourceExhausted(failure)) return failure;
  if (!CpuLacksKernel(status)) return status;
  return Reworded(failure, absl::StrCat(name(), " cannot run on the HPU: ", failure.message(),
                                        "\nIt cannot run on the CPU either: ", status.message(),
                                        Has(failure, Payload::kRemedy)
                                            ? ""
                                            : "\nUse another op, or cast to a supported type, such as float32"));
}

absl::Status ClusterKernel::RunFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        const KernelArguments& arguments, Rule reason, ExecutableTable::Entry* entry,
                                        BoundedRecipes::Bucket* bucket) {
  const trace::Scope traced(trace::Lane::kCpuFallback, name());
  HPU_RETURN_IF_ERROR(CheckFallback(device, arguments));
  HPU_ASSIGN_OR_RETURN(CpuFallback * program, cpu_fallback(context));
  // A run of a program whose kernels are known to be there does not begin again on the device.
  const UpdatesOnError updates_on_error =
      entry != nullptr && ran_on_cpu_.load(std::memory_order_relaxed) ? UpdatesOnError::kSome : UpdatesOnError::kNone;
  const absl::Time start = absl::Now();
  HPU_ASSIGN_OR_RETURN(const uint64_t bytes, RunCpuFallback(context, device, *program, arguments, updates_on_error));
  const absl::Duration time = absl::Now() - start;
  if (entry != nullptr) entry->AddCpuTime(time);
  if (bucket != nullptr) bucket->AddCpuTime(time);
  // Read by benchmarks/compile_traces.py.
  VLOG(2) << absl::StrCat("CPU run of ", def().name(), ": signature ", absl::Hex(reinterpret_cast<uintptr_t>(entry)),
                          ", range ", absl::Hex(bucket != nullptr ? bucket->fingerprint() : 0), ", ",
                          absl::ToInt64Microseconds(time), " us");
  ran_on_cpu_.store(true, std::memory_order_relaxed);
  CountFallback(bytes, reason);
  return absl::OkStatus();
}

absl::StatusOr<CpuFallback*> ClusterKernel::cpu_fallback(tensorflow::OpKernelContext* context) {
  absl::MutexLock lock(&fallback_mutex_);
  if (cpu_fallback_.ok() && *cpu_fallback_ == nullptr) cpu_fallback_ = MakeCpuFallback(context);
  if (!cpu_fallback_.ok()) return cpu_fallback_.status();
  return cpu_fallback_->get();
}

}  // namespace hpu
