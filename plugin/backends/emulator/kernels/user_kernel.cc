#include "plugin/backends/emulator/kernels/user_kernel.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/user_kernels/user_kernels.h"

namespace hpu::emulator {
namespace {

constexpr char kUserKernelName[] = "host_kernel_1";

void AddText(const std::string& text, std::vector<int64_t>* parameters) {
  parameters->push_back(static_cast<int64_t>(text.size()));
  for (const char c : text) parameters->push_back(static_cast<unsigned char>(c));
}

void AddArrays(const std::vector<UserKernelCall::Array>& arrays, std::vector<int64_t>* parameters) {
  parameters->push_back(static_cast<int64_t>(arrays.size()));
  for (const UserKernelCall::Array& array : arrays) {
    parameters->push_back(array.type);
    parameters->push_back(static_cast<int64_t>(array.dimensions.size()));
    parameters->insert(parameters->end(), array.dimensions.begin(), array.dimensions.end());
  }
}

// Inverse of AddText and AddArrays. Checks all counts, because recipes may come from disk.
class Reader {
 public:
  explicit Reader(absl::Span<const int64_t> parameters) : left_(parameters) {}

  std::string Text() {
    std::string text;
    for (const int64_t c : Read(Number())) text.push_back(static_cast<char>(c));
    return text;
  }

  std::vector<UserKernelCall::Array> Arrays() {
    std::vector<UserKernelCall::Array> arrays;
    for (int64_t count = Number(); count > 0 && ok_; --count) {
      UserKernelCall::Array array;
      array.type = Number();
      const absl::Span<const int64_t> dimensions = Read(Number());
      array.dimensions.assign(dimensions.begin(), dimensions.end());
      arrays.push_back(std::move(array));
    }
    return arrays;
  }

  bool AtEnd() const { return ok_ && left_.empty(); }

 private:
  int64_t Number() {
    const absl::Span<const int64_t> number = Read(1);
    return number.empty() ? 0 : number[0];
  }

  absl::Span<const int64_t> Read(int64_t count) {
    ok_ = ok_ && count >= 0 && static_cast<uint64_t>(count) <= left_.size();
    if (!ok_) return {};
    const absl::Span<const int64_t> taken = left_.subspan(0, count);
    left_.remove_prefix(count);
    return taken;
  }

  absl::Span<const int64_t> left_;
  bool ok_ = true;
};

class UserKernel final : public Kernel {
 public:
  UserKernel(UserKernelCall call, hpu_host_function function) : call_(std::move(call)), function_(function) {}

  int results() const override { return static_cast<int>(call_.results.size()); }

  absl::Status Run(const KernelCall& call) const override {
    std::vector<hpu_host_tensor> inputs, outputs;
    for (size_t i = 0; i < call_.operands.size(); ++i) {
      inputs.push_back(TensorOf(call_.operands[i], const_cast<void*>(call.operands[i])));
    }
    for (size_t i = 0; i < call_.results.size(); ++i) outputs.push_back(TensorOf(call_.results[i], call.results[i]));
    char message[512] = "";
    const hpu_host_call arguments = {static_cast<int32_t>(inputs.size()),
                                     static_cast<int32_t>(outputs.size()),
                                     inputs.data(),
                                     outputs.data(),
                                     call_.params.data(),
                                     call_.params.size(),
                                     message,
                                     sizeof(message)};
    const int32_t code = function_(&arguments);
    if (code == 0) return absl::OkStatus();
    message[sizeof(message) - 1] = '\0';
    return absl::InternalError(
        absl::StrCat("user kernel '", call_.guid, "' failed with error code ", code,
                     message[0] == '\0' ? ", without a message; see the documentation of its library" : ": ", message));
  }

 private:
  static hpu_host_tensor TensorOf(const UserKernelCall::Array& array, void* data) {
    return {data, static_cast<int32_t>(array.type), static_cast<int32_t>(array.dimensions.size()),
            array.dimensions.data()};
  }

  const UserKernelCall call_;
  const hpu_host_function function_;
};

absl::StatusOr<std::unique_ptr<const Kernel>> MakeUserKernel(absl::Span<const int64_t> parameters) {
  Reader reader(parameters);
  UserKernelCall call;
  call.guid = reader.Text();
  call.params = reader.Text();
  call.operands = reader.Arrays();
  call.results = reader.Arrays();
  if (!reader.AtEnd() || call.results.empty())
    return absl::InvalidArgumentError(
        "expected the encoded guid, params, operands and results of a user kernel, with at least one result");
  HPU_ASSIGN_OR_RETURN(const hpu_host_function function, FindUserKernel(call.guid));
  return std::make_unique<UserKernel>(std::move(call), function);
}

const bool user_kernel_registered = RegisterKernel(kUserKernelName, MakeUserKernel);

}  // namespace

KernelSpec UserKernelCall::Spec() const {
  KernelSpec spec{kUserKernelName, {}};
  AddText(guid, &spec.parameters);
  AddText(params, &spec.parameters);
  AddArrays(operands, &spec.parameters);
  AddArrays(results, &spec.parameters);
  return spec;
}

}  // namespace hpu::emulator
