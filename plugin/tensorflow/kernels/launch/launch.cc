#include "plugin/tensorflow/kernels/launch/launch.h"

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/format_bytes.h"
#include "plugin/base/round_up.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/trace/trace.h"
#include "plugin/compiler/dynamic_shapes/true_shape.h"
#include "plugin/compiler/launch_memory.h"
#include "plugin/tensorflow/device/host_results.h"
#include "plugin/tensorflow/device/memory_fill.h"
#include "tensorflow/core/framework/types.h"

namespace hpu {
namespace {

using hal::DeviceAddress;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;

uint64_t Align(uint64_t bytes) { return RoundUp(bytes, hal::kDeviceAlignment); }

// Device memory for one launch. The memory may be freed as soon as the launch is queued, because the memory's next user
// waits for the launch.
class ScratchMemory {
 public:
  explicit ScratchMemory(ProcessDevice& device) : allocator_(device.allocator()) {}
  ~ScratchMemory() {
    for (void* block : blocks_) allocator_->DeallocateRaw(block);
  }
  ScratchMemory(const ScratchMemory&) = delete;
  ScratchMemory& operator=(const ScratchMemory&) = delete;

  // Returns 0 if there is no memory left.
  DeviceAddress Allocate(uint64_t bytes) {
    void* block = allocator_->AllocateRaw(hal::kDeviceAlignment, bytes);
    if (block != nullptr) blocks_.push_back(block);
    return reinterpret_cast<DeviceAddress>(block);
  }

 private:
  tensorflow::Allocator* const allocator_;
  absl::InlinedVector<void*, 4> blocks_;
};

// One launch. Launches on the same thread share the vectors' storage.
class LaunchFrame {
 public:
  LaunchFrame(OpKernelContext* context, ProcessDevice& device, const Executable& executable,
              const KernelArguments& arguments)
      : context_(context), device_(device), executable_(executable), arguments_(arguments), scratch_(device) {
    static thread_local Storage storage;
    storage_ = &storage;
    storage_->arguments.assign(executable.argument_inputs.size(), 0);
    storage_->results.assign(executable.recipe != nullptr ? executable.recipe->results().size() : 0, 0);
  }

  absl::Status Run() {
    absl::Status status = Prepare();
    if (!status.ok()) {
      ReleaseOutputs();
      return status;
    }
    queued_ = true;
    if (executable_.recipe != nullptr) {
      HPU_RETURN_IF_ERROR(Queue());
    }
    HPU_RETURN_IF_ERROR(FetchHostResults());
    if (sizes_) HPU_RETURN_IF_ERROR(TrimPaddedResults());
    SwapVariables();
    return absl::OkStatus();
  }

  bool queued() const { return queued_; }

 private:
  struct Storage {
    std::vector<DeviceAddress> arguments;
    std::vector<DeviceAddress> results;
    std::vector<char> packed;
  };
  struct NewValue {
    int input;
    Tensor tensor;
  };
  struct HostResult {
    DeviceAddress source;
    Tensor tensor;
  };
  // A result with dynamic shape that is still padded: an output or a variable's value.
  struct DynamicResult {
    const tensorflow::TensorShape& bound;
    const SizeIndices& sizes;
    Tensor padded;
    int output = -1;
    int variable_input = -1;
  };

  // Runs all steps that may allocate device memory.
  absl::Status Prepare() {
    HPU_RETURN_IF_ERROR(PlaceArguments());
    HPU_RETURN_IF_ERROR(AllocateOutputs());
    HPU_RETURN_IF_ERROR(AllocateUpdates());
    if (executable_.sizes > 0) {
      sizes_.emplace(tensorflow::cpu_allocator(), tensorflow::DT_INT32, tensorflow::TensorShape({executable_.sizes}));
      HPU_RETURN_IF_ERROR(QueueCopyToHost(executable_.sizes_result, *sizes_));
    }
    if (executable_.recipe == nullptr || executable_.recipe->workspace_bytes() == 0) return absl::OkStatus();
    const uint64_t bytes = executable_.recipe->workspace_bytes();
    workspace_ = device_.workspace().Acquire(bytes);
    if (workspace_.address() == 0) return OutOfMemory("temporaries", bytes);
    if (FillsMemory()) FillMemory(device_, workspace_.address(), bytes);
    return absl::OkStatus();
  }

  void ReleaseOutputs() {
    for (int i = 0; i < context_->num_outputs(); ++i) {
      if (context_->mutable_output(i) != nullptr) delete context_->release_output(i).tensor;
    }
  }

  // Device arguments are passed by address. Arguments in host memory are packed into one copy.
  absl::Status PlaceArguments() {
    uint64_t packed_bytes = 0;
    for (size_t i = 0; i < executable_.argument_inputs.size(); ++i) {
      const Tensor& value = Argument(i);
      if (value.TotalBytes() == 0) continue;
      if (!device_.Owns(value.data())) {
        packed_bytes += Align(ArgumentBytes(i, value));
      } else if (ArgumentBytes(i, value) == value.TotalBytes()) {
        storage_->arguments[i] = AddressOf(value);
      } else {
        HPU_RETURN_IF_ERROR(PadDeviceArgument(i, value));
      }
    }
    return packed_bytes == 0 ? absl::OkStatus() : PackHostArguments(packed_bytes);
  }

  // The value of the recipe's argument.
  const Tensor& Argument(size_t i) const {
    const int input = executable_.argument_inputs[i];
    return input == arguments_.size() ? executable_.device_symbols : arguments_.value(input);
  }

  // Size of the argument that the recipe expects, in bytes.
  uint64_t ArgumentBytes(size_t i, const Tensor& value) const {
    return executable_.padded ? executable_.recipe->arguments()[i].bytes : value.TotalBytes();
  }

  // Copies the argument to the front of a larger array. The recipe masks the rest.
  absl::Status PadDeviceArgument(size_t i, const Tensor& value) {
    const uint64_t padded_bytes = ArgumentBytes(i, value);
    const DeviceAddress address = scratch_.Allocate(padded_bytes);
    if (address == 0) return OutOfMemory("a padded argument", padded_bytes);
    copies_.push_back({AddressOf(value), address, value.TotalBytes()});
    storage_->arguments[i] = address;
    return absl::OkStatus();
  }

  absl::Status PackHostArguments(uint64_t packed_bytes) {
    const DeviceAddress base = scratch_.Allocate(packed_bytes);
    if (base == 0) return OutOfMemory("arguments from host memory", packed_bytes);
    storage_->packed.resize(packed_bytes);
    uint64_t offset = 0;
    for (size_t i = 0; i < executable_.argument_inputs.size(); ++i) {
      const Tensor& value = Argument(i);
      if (storage_->arguments[i] != 0 || value.TotalBytes() == 0) continue;
      std::memcpy(storage_->packed.data() + offset, value.data(), value.TotalBytes());
      storage_->arguments[i] = base + offset;
      offset += Align(ArgumentBytes(i, value));
    }
    return device_.CopyToDevice(storage_->packed.data(), base, packed_bytes);
  }

  absl::Status AllocateOutputs() {
    for (int i = 0; i < static_cast<int>(executable_.outputs.size()); ++i) {
      const Executable::Output& output = executable_.outputs[i];
      const bool on_host = context_->output_memory_type(i) == tensorflow::HOST_MEMORY;
      switch (output.kind) {
        case Executable::Output::Kind::kResource:
          context_->set_output(i, context_->input(output.input));
          break;
        case Executable::Output::Kind::kConstant:
          context_->set_output(i, on_host ? output.constant : output.device_constant);
          break;
        case Executable::Output::Kind::kResult:
          HPU_RETURN_IF_ERROR(AllocateResult(i, output, on_host));
          break;
      }
    }
    return absl::OkStatus();
  }

  absl::Status AllocateResult(int i, const Executable::Output& output, bool on_host) {
    const bool is_padded = executable_.padded &&
                           ResultBytes(output) > output.shape.num_elements() * tensorflow::DataTypeSize(output.dtype);
    if (is_padded && !on_host) return AllocatePaddedResult(i, output);
    if (!output.sizes.empty()) {
      HPU_ASSIGN_OR_RETURN(Tensor padded, AllocateBound(output.dtype, output.shape, output.result, on_host));
      dynamic_results_.push_back({output.shape, output.sizes, std::move(padded), /*output=*/i});
      return absl::OkStatus();
    }
    Tensor* tensor = nullptr;
    HPU_RETURN_IF_ERROR(context_->allocate_output(i, output.shape, &tensor));
    if (on_host) return QueueCopyToHost(output.result, *tensor);
    storage_->results[output.result] = AddressOf(*tensor);
    return absl::OkStatus();
  }

  uint64_t ResultBytes(const Executable::Output& output) const {
    return executable_.recipe->results()[output.result].spec.bytes;
  }

  // Sets the output to the first part of the recipe's padded result. The output keeps the whole result allocated.
  absl::Status AllocatePaddedResult(int i, const Executable::Output& output) {
    const int64_t elements = static_cast<int64_t>(ResultBytes(output) / tensorflow::DataTypeSize(output.dtype));
    Tensor all;
    HPU_RETURN_IF_ERROR(context_->allocate_temp(output.dtype, tensorflow::TensorShape({elements}), &all));
    HPU_ASSIGN_OR_RETURN(const Tensor first, FirstElements(all, output.shape));
    context_->set_output(i, first);
    storage_->results[output.result] = AddressOf(all);
    return absl::OkStatus();
  }

  // Allocates a vector that can hold a result of the maximum size.
  absl::StatusOr<Tensor> AllocateBound(tensorflow::DataType dtype, const tensorflow::TensorShape& bound, int result,
                                       bool on_host) {
    Tensor padded;
    tensorflow::AllocatorAttributes attributes;
    attributes.set_on_host(on_host);
    HPU_RETURN_IF_ERROR(
        context_->allocate_temp(dtype, tensorflow::TensorShape({bound.num_elements()}), &padded, attributes));
    if (on_host) {
      HPU_RETURN_IF_ERROR(QueueCopyToHost(result, padded));
    } else {
      storage_->results[result] = AddressOf(padded);
    }
    return padded;
  }

  // Requires the sizes on the host. A tensor of the true shape keeps the memory of the whole padded tensor allocated.
  absl::Status TrimPaddedResults() {
    const absl::Span<const int32_t> sizes(sizes_->flat<int32_t>().data(), executable_.sizes);
    for (const DynamicResult& result : dynamic_results_) {
      HPU_ASSIGN_OR_RETURN(const tensorflow::TensorShape shape, TrueShape(result.bound, result.sizes, sizes));
      HPU_ASSIGN_OR_RETURN(Tensor tensor, FirstElements(result.padded, shape));
      if (result.output >= 0) {
        context_->set_output(result.output, tensor);
      } else {
        new_values_.push_back({result.variable_input, std::move(tensor)});
      }
    }
    return absl::OkStatus();
  }

  // Directs a result to `tensor` in host memory. If SupportsHostResult() permits, the device writes to `tensor`.
  // Otherwise the device writes to scratch memory, which is copied to `tensor` after the launch.
  absl::Status QueueCopyToHost(int result, const Tensor& tensor) {
    const hal::ResultSpec& spec = executable_.recipe->results()[result];
    const uint64_t bytes = spec.spec.bytes;  // more than the tensor's if the recipe is bounded
    if (bytes == 0) return absl::OkStatus();
    if (bytes == tensor.TotalBytes() && spec.aliased_argument < 0 &&
        SupportsHostResult(device_, tensor.data(), bytes)) {
      storage_->results[result] = AddressOf(tensor);
      writes_to_host_ = true;
      return absl::OkStatus();
    }
    const DeviceAddress address = scratch_.Allocate(bytes);
    if (address == 0) return OutOfMemory("a result for host memory", bytes);
    storage_->results[result] = address;
    if (tensor.TotalBytes() > 0) host_results_.push_back({address, tensor});
    return absl::OkStatus();
  }

  absl::Status AllocateUpdates() {
    for (const Executable::Update& update : executable_.updates) {
      Tensor* current = arguments_.variable(update.input)->tensor();
      const bool aliased = update.aliased_argument >= 0;
      if (!update.sizes.empty()) {
        HPU_ASSIGN_OR_RETURN(Tensor padded,
                             AllocateBound(update.dtype, update.shape, update.result, IsHostVariable(update.dtype)));
        dynamic_results_.push_back({update.shape, update.sizes, std::move(padded), -1, update.input});
        continue;
      }
      if (IsHostVariable(update.dtype)) {
        Tensor value(tensorflow::cpu_allocator(), update.dtype, update.shape);
        if (aliased) {  // overwrites the packed copy of the argument, which belongs to this launch
          storage_->results[update.result] = storage_->arguments[update.aliased_argument];
          if (value.TotalBytes() > 0) host_results_.push_back({storage_->results[update.result], value});
        } else {
          HPU_RETURN_IF_ERROR(QueueCopyToHost(update.result, value));
        }
        new_values_.push_back({update.input, std::move(value)});
        continue;
      }
      if (aliased && current->RefCountIsOne()) {
        storage_->results[update.result] = storage_->arguments[update.aliased_argument];
        continue;
      }
      Tensor value;
      HPU_RETURN_IF_ERROR(context_->allocate_temp(update.dtype, update.shape, &value));
      storage_->results[update.result] = AddressOf(value);
      if (aliased && value.TotalBytes() > 0) {
        DeviceAddress& argument = storage_->arguments[update.aliased_argument];
        copies_.push_back({argument, AddressOf(value), value.TotalBytes()});
        argument = AddressOf(value);
      }
      new_values_.push_back({update.input, std::move(value)});
    }
    return absl::OkStatus();
  }

  absl::Status Queue() {
    hal::LaunchArguments launch;
    launch.workspace = workspace_.address();
    for (const Copy& copy : copies_) {
      HPU_RETURN_IF_ERROR(device_.CopyOnDevice(copy.source, copy.destination, copy.bytes));
    }
    launch.arguments = storage_->arguments;
    launch.results = storage_->results;
    const trace::LaunchName named(executable_.name, executable_.attributes);
    return device_.compute().Launch(executable_.recipe, launch);
  }

  absl::Status FetchHostResults() {
    if (writes_to_host_) HPU_RETURN_IF_ERROR(WaitForHostResults(device_));
    for (HostResult& result : host_results_) {
      HPU_RETURN_IF_ERROR(
          device_.CopyToHostSync(result.source, static_cast<char*>(result.tensor.data()), result.tensor.TotalBytes()));
    }
    return absl::OkStatus();
  }

  void SwapVariables() {
    for (NewValue& value : new_values_) {
      tensorflow::Var* variable = arguments_.variable(value.input);
      *variable->tensor() = std::move(value.tensor);
    }
    for (const Executable::Update& update : executable_.updates) {
      arguments_.variable(update.input)->is_initialized = true;
    }
  }

  // Whether variables of this type are in host memory, like every int32 input and output of an op.
  static bool IsHostVariable(tensorflow::DataType dtype) { return dtype == tensorflow::DT_INT32; }

  absl::Status OutOfMemory(absl::string_view what, uint64_t bytes) const {
    const LaunchMemory memory = executable_.recipe != nullptr ? LaunchMemoryOf(*executable_.recipe) : LaunchMemory();
    const auto stats = device_.allocator()->GetStats();
    const uint64_t used = stats ? stats->bytes_in_use : 0;
    const uint64_t limit = stats && stats->bytes_limit ? *stats->bytes_limit : 0;
    std::string text = absl::StrCat(
        executable_.name, ": cannot allocate ", FormatBytes(bytes), " of HPU memory for ", what, "; ",
        FormatBytes(used), " of ", FormatBytes(limit), " are in use. The cluster has ", FormatBytes(memory.arguments),
        " of arguments, ", FormatBytes(memory.results), " of results and ", FormatBytes(memory.workspace),
        " of temporaries. Use a smaller batch, smaller clusters (HPU_MAX_CLUSTER_SIZE), fewer threads that "
        "launch concurrently (TF_NUM_INTEROP_THREADS), or on the emulator more memory (HPU_MEMORY_MB).");
    if (used + bytes <= limit) {
      absl::StrAppend(&text, " ", FormatBytes(limit - used),
                      " are free, but not in one piece: reserve memory for temporaries before tensors divide it "
                      "(HABANA_INITIAL_WORKSPACE_SIZE_MB=",
                      (memory.workspace + (1 << 20) - 1) >> 20, ").");
    }
    return absl::ResourceExhaustedError(text);
  }

  struct Copy {
    DeviceAddress source, destination;
    uint64_t bytes;
  };

  OpKernelContext* const context_;
  ProcessDevice& device_;
  const Executable& executable_;
  const KernelArguments& arguments_;
  ScratchMemory scratch_;
  Storage* storage_;
  Workspace::Lease workspace_;
  bool queued_ = false;
  bool writes_to_host_ = false;
  absl::InlinedVector<NewValue, 4> new_values_;
  absl::InlinedVector<HostResult, 4> host_results_;
  absl::InlinedVector<Copy, 4> copies_;
  std::optional<Tensor> sizes_;  // sizes of the dynamic dimensions, in host memory
  std::vector<DynamicResult> dynamic_results_;
};

}  // namespace

absl::Status Launch(OpKernelContext* context, ProcessDevice& device, const Executable& executable,
                    const KernelArguments& arguments, bool* queued) {
  LaunchFrame frame(context, device, executable, arguments);
  absl::Status status = frame.Run();
  *queued = frame.queued();
  if (!absl::IsResourceExhausted(status) || executable.recipe == nullptr) return status;
  const std::string tensors = LargestTensors(*executable.recipe);
  if (tensors.empty()) return status;
  return absl::ResourceExhaustedError(absl::StrCat(status.message(), "\n", executable.name, ": ", tensors));
}

namespace {

absl::StatusOr<Tensor> CopyOf(const Tensor& constant, ProcessDevice& device, const Executable& executable) {
  Tensor copy(device.allocator(), constant.dtype(), constant.shape());
  if (!copy.IsInitialized() && constant.NumElements() > 0) {
    return absl::ResourceExhaustedError(absl::StrCat(executable.name, ": cannot allocate ",
                                                     FormatBytes(constant.TotalBytes()),
                                                     " of HPU memory for a constant; free tensors, or raise "
                                                     "HPU_MEMORY_MB on an emulated device"));
  }
  HPU_RETURN_IF_ERROR(device.CopyToDevice(constant.data(), AddressOf(copy), copy.TotalBytes()));
  return copy;
}

}  // namespace

absl::Status PlaceConstants(ProcessDevice& device, Executable* executable) {
  for (Executable::Output& output : executable->outputs) {
    if (output.kind != Executable::Output::Kind::kConstant) continue;
    HPU_ASSIGN_OR_RETURN(output.device_constant, CopyOf(output.constant, device, *executable));
  }
  if (!executable->padded) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(executable->device_symbols, CopyOf(executable->symbols, device, *executable));
  return absl::OkStatus();
}

}  // namespace hpu
