#include "plugin/tensorflow/kernels/data_flow/data_flow_variants.h"

#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/synchronization/mutex.h"
#include "plugin/base/status_macros.h"
#include "plugin/base/version/contact.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/cpu_fallback/host_variants.h"
#include "plugin/tensorflow/kernels/data_flow_memory.h"
#include "tensorflow/core/framework/node_def_builder.h"
#include "tensorflow/core/framework/variant_op_registry.h"
#include "tensorflow/core/kernels/data/optional_ops_util.h"
#include "tensorflow/core/kernels/tensor_list.h"
#include "tensorflow/core/kernels/tensor_list_util.h"
#include "tensorflow/core/kernels/variant_ops_util.h"
#include "tensorflow/core/public/version.h"

namespace hpu {
// Tag type for the HPU in TensorFlow's registry of variant functions.
struct HpuVariants {};
}  // namespace hpu

namespace tensorflow {
template <>
struct DeviceName<hpu::HpuVariants> {
  static constexpr const char* value = hpu::kDeviceType;
};
}  // namespace tensorflow

namespace hpu {
namespace {

using tensorflow::DataType;
using tensorflow::OpKernel;
using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::TensorList;
using tensorflow::TypeIndex;  // for the registration macros
using tensorflow::UnaryVariantOpRegistry;
using tensorflow::Variant;
using tensorflow::data::OptionalVariant;

absl::StatusOr<std::unique_ptr<OpKernel>> MakeAddKernel(OpKernelContext* context, DataType dtype) {
  tensorflow::NodeDef node;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeDefBuilder("add_elements", "AddV2").Input("x", 0, dtype).Input("y", 0, dtype).Finalize(&node));
  std::shared_ptr<const tensorflow::NodeProperties> properties;
  HPU_RETURN_IF_ERROR(
      tensorflow::NodeProperties::CreateFromNodeDef(node, tensorflow::OpRegistry::Global(), &properties));
  OpKernel* kernel = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::CreateOpKernel(
      tensorflow::DeviceType(kDeviceType), context->device(), context->device()->GetAllocator({}), /*flib=*/nullptr,
      context->resource_manager(), properties, TF_GRAPH_DEF_VERSION, &kernel));
  return std::unique_ptr<OpKernel>(kernel);
}

// One kernel for each type, never freed.
absl::StatusOr<OpKernel*> AddKernel(OpKernelContext* context, DataType dtype) {
  static auto* mutex = new absl::Mutex;
  static auto* kernels = new std::map<DataType, std::unique_ptr<OpKernel>>;
  absl::MutexLock lock(mutex);
  std::unique_ptr<OpKernel>& kernel = (*kernels)[dtype];
  if (kernel == nullptr) {
    HPU_ASSIGN_OR_RETURN(kernel, MakeAddKernel(context, dtype));
  }
  return kernel.get();
}

absl::Status RunKernel(OpKernelContext* outer, OpKernel* kernel, std::vector<Tensor> inputs, Tensor* output) {
  std::vector<tensorflow::TensorValue> values;
  for (Tensor& input : inputs) values.emplace_back(&input);
  std::vector<tensorflow::AllocatorAttributes> input_attributes(inputs.size());
  for (int i = 0; i < static_cast<int>(inputs.size()); ++i) {
    input_attributes[i].set_on_host(kernel->input_memory_types()[i] == tensorflow::HOST_MEMORY);
  }
  tensorflow::AllocatorAttributes output_attributes;
  output_attributes.set_on_host(kernel->output_memory_types()[0] == tensorflow::HOST_MEMORY);
  OpKernelContext::Params params;
  params.step_id = outer->step_id();
  params.op_kernel = kernel;
  params.device = outer->device();
  params.op_device_context = outer->op_device_context();
  params.resource_manager = outer->resource_manager();
  params.function_library = outer->function_library();
  params.cancellation_manager = outer->cancellation_manager();
  params.runner = outer->runner();
  params.frame_iter = outer->frame_iter();
  params.inputs = values;
  params.input_alloc_attrs = input_attributes;
  params.output_attr_array = &output_attributes;
  OpKernelContext context(&params, 1);
  kernel->Compute(&context);
  HPU_RETURN_IF_ERROR(context.status());
  std::unique_ptr<Tensor> result(context.release_output(0).tensor);
  if (result == nullptr) {
    return absl::InternalError(
        absl::StrCat("Cannot add elements: ", kernel->type_string(), " returned no output; " HPU_REPORT_BUG));
  }
  *output = std::move(*result);
  return absl::OkStatus();
}

// Sets `output` to a host tensor of variants with the shape of `like`. `each` computes one variant.
template <typename Each>
absl::Status ForEachVariant(const Tensor& like, Tensor* output, Each each) {
  *output = Tensor(tensorflow::cpu_allocator(), tensorflow::DT_VARIANT, like.shape());
  auto out = output->flat<Variant>();
  for (int64_t i = 0; i < like.NumElements(); ++i) HPU_RETURN_IF_ERROR(each(i, &out(i)));
  return absl::OkStatus();
}

absl::Status ZerosLikeVariant(OpKernelContext* context, const Variant& input, Variant* output) {
  if (UnaryVariantOpRegistry::Global()->GetUnaryOpFn(tensorflow::ZEROS_LIKE_VARIANT_UNARY_OP, kDeviceType,
                                                     input.TypeId()) == nullptr) {
    return ComputeVariantOnHost(context, {&input}, output);
  }
  return tensorflow::UnaryOpVariant<HpuVariants>(context, tensorflow::ZEROS_LIKE_VARIANT_UNARY_OP, input, output);
}

absl::Status AddVariants(OpKernelContext* context, const Variant& a, const Variant& b, Variant* output) {
  if (UnaryVariantOpRegistry::Global()->GetBinaryOpFn(tensorflow::ADD_VARIANT_BINARY_OP, kDeviceType, a.TypeId()) ==
      nullptr) {
    return ComputeVariantOnHost(context, {&a, &b}, output);
  }
  return tensorflow::BinaryOpVariants<HpuVariants>(context, tensorflow::ADD_VARIANT_BINARY_OP, a, b, output);
}

absl::Status ZerosLikeList(OpKernelContext* context, const TensorList& input, TensorList* output) {
  return tensorflow::TensorListZerosLike(context, input, output, ZerosLikeElement);
}

absl::Status AddLists(OpKernelContext* context, const TensorList& a, const TensorList& b, TensorList* output) {
  return tensorflow::TensorListBinaryAdd(context, a, b, output, AddElements);
}

absl::Status ZerosLikeOptional(OpKernelContext* context, const OptionalVariant& input, OptionalVariant* output) {
  return tensorflow::data::OptionalZerosLike(context, input, output, ZerosLikeElement);
}

absl::Status AddOptionals(OpKernelContext* context, const OptionalVariant& a, const OptionalVariant& b,
                          OptionalVariant* output) {
  return tensorflow::data::OptionalBinaryAdd(context, a, b, output, AddElements);
}

REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(tensorflow::ZEROS_LIKE_VARIANT_UNARY_OP, kDeviceType, TensorList,
                                         ZerosLikeList);
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tensorflow::ADD_VARIANT_BINARY_OP, kDeviceType, TensorList, AddLists);
REGISTER_UNARY_VARIANT_UNARY_OP_FUNCTION(tensorflow::ZEROS_LIKE_VARIANT_UNARY_OP, kDeviceType, OptionalVariant,
                                         ZerosLikeOptional);
REGISTER_UNARY_VARIANT_BINARY_OP_FUNCTION(tensorflow::ADD_VARIANT_BINARY_OP, kDeviceType, OptionalVariant,
                                          AddOptionals);

class ZerosLikeVariantKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override {
    const Tensor& input = context->input(0);
    // TensorFlow's own text.
    OP_REQUIRES(context, tensorflow::TensorShapeUtils::IsScalar(input.shape()),
                absl::InvalidArgumentError("ZerosLike non-scalar Tensor with dtype=DT_VARIANT is not supported."));
    Tensor output;
    OP_REQUIRES_OK(context, ZerosLikeElement(context, input, &output));
    context->set_output(0, output);
  }
};

class AddNVariantKernel : public OpKernel {
 public:
  using OpKernel::OpKernel;
  void Compute(OpKernelContext* context) override { tensorflow::AddNVariant(context, AddVariants); }
};

REGISTER_KERNEL_BUILDER(Name("ZerosLike").Device(kDeviceType).TypeConstraint<Variant>("T"), ZerosLikeVariantKernel);
REGISTER_KERNEL_BUILDER(Name("AddN").Device(kDeviceType).TypeConstraint<Variant>("T"), AddNVariantKernel);

}  // namespace

absl::Status ZerosLikeElement(OpKernelContext* context, const Tensor& input, Tensor* output) {
  if (input.dtype() == tensorflow::DT_INVALID) {
    *output = Tensor(tensorflow::DT_INVALID);
    return absl::OkStatus();
  }
  if (input.dtype() == tensorflow::DT_VARIANT) {
    return ForEachVariant(input, output, [&](int64_t i, Variant* out) {
      return ZerosLikeVariant(context, input.flat<Variant>()(i), out);
    });
  }
  HPU_ASSIGN_OR_RETURN(const ElementMemory memory, ElementMemory::Create(context, input.dtype()));
  HPU_ASSIGN_OR_RETURN(*output, memory.Zeros(input.shape()));
  return absl::OkStatus();
}

absl::Status AddElements(OpKernelContext* context, const Tensor& a, const Tensor& b, Tensor* output) {
  if (a.dtype() == tensorflow::DT_INVALID || b.dtype() == tensorflow::DT_INVALID) {
    *output = a.dtype() == tensorflow::DT_INVALID ? b : a;
    return absl::OkStatus();
  }
  // TensorFlow's own texts (tensor_ops_util.h).
  if (a.dtype() != b.dtype()) {
    return absl::InternalError(absl::StrCat("Trying to add two tensors with incompatible element types. One is ",
                                            tensorflow::DataTypeString(a.dtype()), " and the other is ",
                                            tensorflow::DataTypeString(b.dtype())));
  }
  if (a.shape() != b.shape()) {
    return absl::InternalError(absl::StrCat("Trying to add two tensors with incompatible element shapes. One is ",
                                            a.shape().DebugString(), " and the other is ", b.shape().DebugString()));
  }
  if (a.dtype() == tensorflow::DT_VARIANT) {
    return ForEachVariant(a, output, [&](int64_t i, Variant* out) {
      return AddVariants(context, a.flat<Variant>()(i), b.flat<Variant>()(i), out);
    });
  }
  HPU_ASSIGN_OR_RETURN(const ElementMemory memory, ElementMemory::Create(context, a.dtype()));
  HPU_ASSIGN_OR_RETURN(Tensor x, memory.InPlace(a));
  HPU_ASSIGN_OR_RETURN(Tensor y, memory.InPlace(b));
  HPU_ASSIGN_OR_RETURN(OpKernel * kernel, AddKernel(context, a.dtype()));
  return RunKernel(context, kernel, {std::move(x), std::move(y)}, output);
}

}  // namespace hpu
