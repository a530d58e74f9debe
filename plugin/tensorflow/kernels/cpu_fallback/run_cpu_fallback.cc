#include "plugin/tensorflow/kernels/cpu_fallback/run_cpu_fallback.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/status_payloads.h"
#include "plugin/base/version/contact.h"
#include "plugin/tensorflow/kernels/cpu_fallback/device_view.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_device.h"
#include "tensorflow/core/framework/tensor_util.h"

namespace hpu {
namespace {

using tensorflow::Tensor;
using tensorflow::Var;

// TensorFlow's error of exhausted memory names only the CPU's allocator. Adds the op and the remedy.
absl::Status ExplainExhaustedMemory(const tensorflow::OpKernel& kernel, const absl::Status& status) {
  if (!absl::IsResourceExhausted(status)) return status;
  return With(
      Reworded(status, absl::StrCat(status.message(), "\n", kernel.name(), " (", kernel.type_string(),
                                    ") ran on the CPU instead of the HPU, and host memory is exhausted: reduce the "
                                    "batch size, or free tensors")),
      Payload::kHostMemoryExhausted);
}

class CpuFallbackRun {
 public:
  CpuFallbackRun(tensorflow::OpKernelContext* context, ProcessDevice& device, HostDevice& host,
                 const KernelArguments& arguments, UpdatesOnError updates_on_error)
      : context_(context),
        device_(device),
        arguments_(arguments),
        updates_on_error_(updates_on_error),
        temporaries_(host) {}

  absl::StatusOr<uint64_t> Run(CpuFallback& program) {
    HPU_ASSIGN_OR_RETURN(view_, DeviceView::Open(device_, arguments_));
    std::vector<Tensor> inputs;
    for (int i = 0; i < context_->num_inputs(); ++i) {
      if (arguments_.variable(i) != nullptr) {
        HPU_ASSIGN_OR_RETURN(Tensor handle, Borrow(i));
        inputs.push_back(std::move(handle));
      } else {
        HPU_ASSIGN_OR_RETURN(Tensor copy, ToHost(context_->input(i)));
        inputs.push_back(std::move(copy));
      }
    }
    std::vector<Tensor> outputs;
    HPU_RETURN_IF_ERROR(
        ExplainExhaustedMemory(context_->op_kernel(), program.Run(context_, std::move(inputs), &outputs)));
    HPU_RETURN_IF_ERROR(PrepareUpdates());
    HPU_RETURN_IF_ERROR(SetOutputs(outputs));
    HPU_RETURN_IF_ERROR(CommitUpdates());
    return bytes_;
  }

 private:
  struct Borrowed {
    Var* variable;                      // the program's variable
    HostVariables::Variable temporary;  // replaces `variable` in this run
    Tensor before;                      // value before the run, kept so that CPU kernels write to a new buffer
    std::optional<std::string> bytes;   // copy of a small value, instead of `before`
    bool changed = false;
    const void* viewed = nullptr;  // address of a value that kernels overwrite in device memory, instead of `before`
    bool in_place = false;  // the device buffer of `variable` is not shared and has the new value's type and shape
    Tensor after;           // the new value: in host memory if in_place, else in the memory that its type requires
  };

  // StatefulRandomBinomial keeps writing to the buffer that holds the generator's state when the op starts. If another
  // tensor shared this buffer, the update would be lost. The temporary variable must therefore own a small value alone.
  static bool IsOwnedByTemporary(const Tensor& value, const Tensor& copy) {
    constexpr size_t kBytesOfState = 256;
    return copy.TotalBytes() <= kBytesOfState && !copy.SharesBufferWith(value);
  }

  static bool IsChanged(const Borrowed& entry, const Tensor& value) {
    if (entry.viewed != nullptr && value.data() == entry.viewed) return false;
    const Tensor& old = *entry.variable->tensor();
    if (value.shape() != old.shape() || value.dtype() != old.dtype()) return true;
    return entry.bytes ? value.tensor_data() != *entry.bytes : !value.SharesBufferWith(entry.before);
  }

  bool CanView(const Tensor& tensor) const { return view_ && tensor.TotalBytes() > 0 && device_.Owns(tensor.data()); }

  absl::StatusOr<Tensor> ToHost(const Tensor& tensor) {
    if (CanView(tensor)) return view_->Of(tensor, DeviceView::Access::kRead);
    HPU_ASSIGN_OR_RETURN(Tensor copy, HostCopyOf(device_, tensor));
    if (!copy.SharesBufferWith(tensor)) bytes_ += tensor.TotalBytes();
    return copy;
  }

  absl::StatusOr<Tensor> ToDevice(const Tensor& tensor) {
    Tensor copy;
    HPU_RETURN_IF_ERROR(context_->allocate_temp(tensor.dtype(), tensor.shape(), &copy));
    HPU_RETURN_IF_ERROR(CopyToNewMemory({tensor}, {copy}));
    return copy;
  }

  // No queued work may use the memory of `to` if the host can access it.
  absl::Status CopyToDevice(const Tensor& from, const Tensor& to) {
    bytes_ += from.TotalBytes();
    if (view_) {
      view_->Write(from, to);
      return absl::OkStatus();
    }
    return device_.CopyToDevice(from.data(), AddressOf(to), from.TotalBytes());
  }

  // Returns the handle of a temporary variable with the value of input `i`. Inputs that name the same variable share
  // one temporary variable.
  absl::StatusOr<Tensor> Borrow(int i) {
    Var* variable = arguments_.variable(i);
    for (const Borrowed& other : borrowed_) {
      if (other.variable == variable) return other.temporary.handle;
    }
    Borrowed entry;
    entry.variable = variable;
    if (updates_on_error_ == UpdatesOnError::kSome && variable->is_initialized && CanView(*variable->tensor()) &&
        variable->tensor()->RefCountIsOne()) {
      return BorrowInPlace(i, std::move(entry));
    }
    if (variable->is_initialized) {
      HPU_ASSIGN_OR_RETURN(entry.before, ToHost(*variable->tensor()));
    }
    HPU_ASSIGN_OR_RETURN(entry.temporary, temporaries_.Make(variable->is_initialized ? &entry.before : nullptr,
                                                            tensorflow::HandleFromInput(context_, i)));
    if (variable->is_initialized && IsOwnedByTemporary(*variable->tensor(), entry.before)) {
      // An element without plain bytes, such as a string, counts as changed.
      if (tensorflow::DataTypeCanUseMemcpy(entry.before.dtype())) entry.bytes = std::string(entry.before.tensor_data());
      entry.before = Tensor();
    }
    borrowed_.push_back(std::move(entry));
    return borrowed_.back().temporary.handle;
  }

  // Lets kernels overwrite the value in device memory, as they do in the memory of a CPU device.
  absl::StatusOr<Tensor> BorrowInPlace(int i, Borrowed entry) {
    const Tensor value = view_->Of(*entry.variable->tensor(), DeviceView::Access::kWrite);
    entry.viewed = value.data();
    HPU_ASSIGN_OR_RETURN(entry.temporary, temporaries_.Make(&value, tensorflow::HandleFromInput(context_, i)));
    borrowed_.push_back(std::move(entry));
    return borrowed_.back().temporary.handle;
  }

  absl::Status PrepareUpdates() {
    for (Borrowed& entry : borrowed_) {
      if (entry.temporary.var == nullptr) temporaries_.Find(&entry.temporary);
      Var* temporary = entry.temporary.var;
      if (temporary == nullptr || !temporary->is_initialized) continue;
      const Tensor& value = *temporary->tensor();
      entry.changed = !entry.variable->is_initialized || IsChanged(entry, value);
      if (!entry.changed) continue;
      const Tensor& current = *entry.variable->tensor();
      entry.in_place = entry.variable->is_initialized && current.dtype() == value.dtype() &&
                       current.shape() == value.shape() && current.RefCountIsOne() && device_.Owns(current.data()) &&
                       !(view_ && view_->Contains(value));
      if (entry.in_place || value.dtype() == tensorflow::DT_INT32 || !tensorflow::DataTypeCanUseMemcpy(value.dtype())) {
        entry.after = value;
      } else {
        HPU_ASSIGN_OR_RETURN(entry.after, ToDevice(value));
      }
    }
    return absl::OkStatus();
  }

  absl::Status SetOutputs(const std::vector<Tensor>& outputs) {
    if (static_cast<int>(outputs.size()) != context_->num_outputs()) {
      return absl::InternalError(absl::StrCat(context_->op_kernel().name(), ": expected ", context_->num_outputs(),
                                              " results from the CPU, got ", outputs.size(), "; " HPU_REPORT_BUG));
    }
    std::vector<Tensor> from, to;
    for (int i = 0; i < context_->num_outputs(); ++i) {
      delete context_->release_output(i).tensor;  // a result of compiled code that the CPU's result replaces
      if (context_->output_memory_type(i) == tensorflow::HOST_MEMORY) {
        context_->set_output(
            i, view_ && view_->Contains(outputs[i]) ? tensorflow::tensor::DeepCopy(outputs[i]) : outputs[i]);
        continue;
      }
      Tensor copy;
      HPU_RETURN_IF_ERROR(context_->allocate_temp(outputs[i].dtype(), outputs[i].shape(), &copy));
      context_->set_output(i, copy);
      from.push_back(outputs[i]);
      to.push_back(std::move(copy));
    }
    return CopyToNewMemory(from, to);
  }

  absl::Status CopyToNewMemory(const std::vector<Tensor>& from, const std::vector<Tensor>& to) {
    if (view_) HPU_RETURN_IF_ERROR(view_->WaitForEarlierUsers(to));
    for (size_t i = 0; i < from.size(); ++i) HPU_RETURN_IF_ERROR(CopyToDevice(from[i], to[i]));
    return absl::OkStatus();
  }

  // Writes the new values to the program's variables. Runs last, so that only a device error can leave a part of the
  // variables updated.
  absl::Status CommitUpdates() {
    for (Borrowed& entry : borrowed_) {
      if (!entry.changed) continue;
      if (entry.in_place) {
        HPU_RETURN_IF_ERROR(CopyToDevice(entry.after, *entry.variable->tensor()));
        continue;
      }
      *entry.variable->tensor() = entry.after;
      entry.variable->is_initialized = true;
    }
    return absl::OkStatus();
  }

  tensorflow::OpKernelContext* const context_;
  ProcessDevice& device_;
  const KernelArguments& arguments_;
  const UpdatesOnError updates_on_error_;
  std::optional<DeviceView> view_;
  HostVariables temporaries_;
  std::vector<Borrowed> borrowed_;
  uint64_t bytes_ = 0;
};

}  // namespace

absl::StatusOr<Tensor> HostCopyOf(ProcessDevice& device, const Tensor& tensor) {
  if (tensor.TotalBytes() == 0 || !device.Owns(tensor.data())) return tensor;
  Tensor copy(tensorflow::cpu_allocator(), tensor.dtype(), tensor.shape());
  HPU_RETURN_IF_ERROR(device.CopyToHostSync(AddressOf(tensor), static_cast<char*>(copy.data()), tensor.TotalBytes()));
  return copy;
}

absl::StatusOr<uint64_t> RunCpuFallback(tensorflow::OpKernelContext* context, ProcessDevice& device,
                                        CpuFallback& program, const KernelArguments& arguments,
                                        UpdatesOnError updates_on_error) {
  HPU_ASSIGN_OR_RETURN(HostDevice * host, HostDevice::Get());
  return CpuFallbackRun(context, device, *host, arguments, updates_on_error).Run(program);
}

bool IsHostMemoryExhausted(const absl::Status& status) { return Has(status, Payload::kHostMemoryExhausted); }

}  // namespace hpu
