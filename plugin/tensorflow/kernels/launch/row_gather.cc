#include "plugin/tensorflow/kernels/launch/row_gather.h"

#include <cstdint>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/op.h"

namespace hpu {
namespace {

using tensorflow::AllocatorAttributes;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorValue;

absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> MakeGather(tensorflow::OpKernelConstruction* construction,
                                                                 tensorflow::DataType dtype) {
  tensorflow::NodeDef node;
  HPU_RETURN_IF_ERROR(tensorflow::NodeDefBuilder(absl::StrCat(construction->def().name(), "/gather"), "GatherV2")
                          .Input("rows", 0, dtype)
                          .Input("order", 0, tensorflow::DT_INT32)
                          .Input("axis", 0, tensorflow::DT_INT32)
                          .Finalize(&node));
  std::shared_ptr<const tensorflow::NodeProperties> properties;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(std::move(node), tensorflow::OpRegistry::Global(), &properties));
  tensorflow::OpKernel* kernel = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(tensorflow::DeviceType(kDeviceType), construction->device(),
                                                 construction->device()->GetAllocator({}),
                                                 construction->function_library(), construction->resource_manager(),
                                                 std::move(properties), construction->graph_def_version(), &kernel));
  return std::unique_ptr<tensorflow::OpKernel>(kernel);
}

AllocatorAttributes AttributesOf(tensorflow::MemoryType type) {
  AllocatorAttributes attributes;
  attributes.set_on_host(type == tensorflow::HOST_MEMORY);
  return attributes;
}

}  // namespace

RowGather::RowGather(tensorflow::OpKernelConstruction* construction, tensorflow::DataType dtype) {
  absl::StatusOr<std::unique_ptr<tensorflow::OpKernel>> gather = MakeGather(construction, dtype);
  OP_REQUIRES_OK(construction, gather.status());
  gather_ = *std::move(gather);
}

const tensorflow::DataTypeVector& RowGather::Types() {
  static const auto* types = new tensorflow::DataTypeVector{
      tensorflow::DT_BOOL,      tensorflow::DT_UINT8,     tensorflow::DT_UINT16, tensorflow::DT_UINT32,
      tensorflow::DT_UINT64,    tensorflow::DT_INT8,      tensorflow::DT_INT16,  tensorflow::DT_INT64,
      tensorflow::DT_BFLOAT16,  tensorflow::DT_HALF,      tensorflow::DT_FLOAT,  tensorflow::DT_DOUBLE,
      tensorflow::DT_COMPLEX64, tensorflow::DT_COMPLEX128};
  return *types;
}

absl::Status RowGather::CheckRowCount(absl::string_view op, int64_t rows) {
  constexpr int64_t kMax = std::numeric_limits<int32_t>::max();
  if (rows <= kMax) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(op, ": ", rows, " rows are too many for the HPU, which indexes rows with int32: at most ", kMax,
                   " are supported. Place the op on the CPU with tf.device(\"CPU\")"));
}

absl::StatusOr<Tensor> RowGather::Run(OpKernelContext* context, const Tensor& rows, const Tensor& order) const {
  Tensor inputs[] = {rows, order, Tensor(tensorflow::int32{0})};
  const TensorValue values[] = {TensorValue(&inputs[0]), TensorValue(&inputs[1]), TensorValue(&inputs[2])};
  AllocatorAttributes input_attributes[3];
  for (int i = 0; i < 3; ++i) input_attributes[i] = AttributesOf(gather_->input_memory_types()[i]);
  const AllocatorAttributes output_attributes = AttributesOf(gather_->output_memory_types()[0]);
  OpKernelContext::Params params;
  params.step_id = context->step_id();
  params.op_kernel = gather_.get();
  params.device = context->device();
  params.op_device_context = context->op_device_context();
  params.resource_manager = context->resource_manager();
  params.step_container = context->step_container();
  params.cancellation_manager = context->cancellation_manager();
  params.function_library = context->function_library();
  params.runner = context->runner();
  params.frame_iter = context->frame_iter();
  params.inputs = values;
  params.input_alloc_attrs = input_attributes;
  params.output_attr_array = &output_attributes;
  OpKernelContext call(&params, 1);
  gather_->Compute(&call);
  HPU_RETURN_IF_ERROR(call.status());
  const std::unique_ptr<Tensor> output(call.release_output(0).tensor);
  return output != nullptr
             ? absl::StatusOr<Tensor>(*output)
             : absl::InternalError("cannot gather rows: the kernel of GatherV2 returned no output; " HPU_REPORT_BUG);
}

}  // namespace hpu
