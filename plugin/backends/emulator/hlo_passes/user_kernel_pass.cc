#include "plugin/backends/emulator/hlo_passes/user_kernel_pass.h"

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/user_kernel.h"
#include "plugin/base/status_macros.h"
#include "plugin/program/user_kernels/user_kernels.h"

namespace hpu::emulator {
namespace {

using xla::HloInstruction;

absl::StatusOr<UserKernelCall::Array> ArrayOf(const xla::Shape& shape, const std::string& guid) {
  static const auto* types = new std::map<xla::PrimitiveType, int64_t>{
      {xla::F32, HPU_FLOAT32}, {xla::BF16, HPU_BFLOAT16}, {xla::S32, HPU_INT32}, {xla::S8, HPU_INT8},
      {xla::PRED, HPU_BOOL},   {xla::S16, HPU_INT16},     {xla::U8, HPU_UINT8}};
  const auto type = types->find(shape.element_type());
  if (!shape.IsArray() || !shape.is_static() || type == types->end()) {
    return absl::UnimplementedError(absl::StrCat(
        "kernel '", guid, "': user kernels do not support ", shape.ToString(),
        "; they support arrays of static shape and of type float32, bfloat16, int32, int8, bool, int16 or uint8 "
        "(hpu_host_kernel.h)"));
  }
  return UserKernelCall::Array{type->second, {shape.dimensions().begin(), shape.dimensions().end()}};
}

absl::StatusOr<HloInstruction*> UserKernelReplacement(HloInstruction* call, KernelCalls* calls) {
  if (call->custom_call_target() != kUserKernelTarget) return nullptr;
  const std::string& text = call->raw_backend_config_string();
  UserKernelCall kernel;
  kernel.guid = text.substr(0, text.find('\0'));
  if (kernel.guid.size() < text.size()) kernel.params = text.substr(kernel.guid.size() + 1);
  if (call->operand_count() == 0) {
    return absl::UnimplementedError(
        absl::StrCat("kernel '", kernel.guid, "': a user kernel requires at least one input"));
  }
  for (const HloInstruction* operand : call->operands()) {
    HPU_ASSIGN_OR_RETURN(UserKernelCall::Array array, ArrayOf(operand->shape(), kernel.guid));
    kernel.operands.push_back(std::move(array));
  }
  const xla::Shape& shape = call->shape();
  for (int i = 0; i < (shape.IsTuple() ? shape.tuple_shapes_size() : 1); ++i) {
    HPU_ASSIGN_OR_RETURN(UserKernelCall::Array array,
                         ArrayOf(shape.IsTuple() ? shape.tuple_shapes(i) : shape, kernel.guid));
    kernel.results.push_back(std::move(array));
  }
  return calls->Add(kernel.Spec(), call->operands(), shape);
}

}  // namespace

absl::Status UseUserKernels(xla::HloModule* module, KernelCalls* calls) {
  return ReplaceAll(module, xla::HloOpcode::kCustomCall,
                    [calls](HloInstruction* call) { return UserKernelReplacement(call, calls); });
}

}  // namespace hpu::emulator
