#include "plugin/compiler/inferred_shapes.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/framework/op.h"
#include "tensorflow/core/framework/shape_inference.h"
#include "tensorflow/core/framework/tensor.h"

namespace hpu {
namespace {

using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using HandleShapes = std::vector<std::pair<PartialTensorShape, tensorflow::DataType>>;

// Size of a process's address space in bytes.
constexpr int64_t kMaxBytes = int64_t{1} << 47;

// Inputs of the shape function. The inference context borrows from this object.
struct Inputs {
  std::vector<PartialTensorShape> shapes;
  std::vector<std::optional<Tensor>> values;
  std::vector<std::unique_ptr<HandleShapes>> handles;

  // `keeps_variables`: false if the op may change a variable's shape. This hides variable shapes from the shape
  // function.
  void Add(OperandFacts facts, bool keeps_variables) {
    shapes.push_back(std::move(facts.shape));
    values.push_back(std::move(facts.value));
    handles.push_back(nullptr);
    if (keeps_variables && facts.variable.has_value()) {
      handles.back() = std::make_unique<HandleShapes>(HandleShapes{*std::move(facts.variable)});
    }
  }
};

// Fails with RESOURCE_EXHAUSTED for an array larger than the address space.
absl::Status CheckSize(const PartialTensorShape& shape, tensorflow::DataType dtype) {
  tensorflow::TensorShape known;
  if (!shape.AsTensorShape(&known)) return absl::OkStatus();
  if (known.num_elements() <= kMaxBytes / std::max(tensorflow::DataTypeSize(dtype), 1)) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrCat("OOM when allocating tensor with shape", known.DebugString(),
                                                   " and type ", tensorflow::DataTypeString(dtype),
                                                   ": it exceeds the address space of 128 TiB; reduce the batch size"));
}

// The shape of a result. Fails if the product of its sizes overflows int64.
absl::StatusOr<PartialTensorShape> ResultShape(tensorflow::shape_inference::InferenceContext* inference, int output) {
  const auto handle = inference->output(output);
  if (!inference->RankKnown(handle)) return PartialTensorShape();
  PartialTensorShape result({});
  for (int i = 0; i < inference->Rank(handle); ++i) {
    const auto dimension = inference->Dim(handle, i);
    HPU_RETURN_IF_ERROR(result.AddDimWithStatus(inference->ValueKnown(dimension) ? inference->Value(dimension) : -1));
  }
  return result;
}

// Whether the op's shape function computes other sizes than its kernels: Conv3D's shape function mixes up the
// dilations.
bool HasWrongShapeFunction(const tensorflow::OpKernel& kernel) {
  std::vector<int32_t> dilations;
  return kernel.type_string() == "Conv3D" && tensorflow::TryGetNodeAttr(kernel.def(), "dilations", &dilations) &&
         absl::c_any_of(dilations, [](int32_t dilation) { return dilation > 1; });
}

}  // namespace

absl::StatusOr<std::vector<PartialTensorShape>> InferShapes(const tensorflow::OpKernel& kernel,
                                                            const std::vector<int>& constants, int graph_def_version,
                                                            tensorflow::XlaOpKernelContext* context) {
  std::vector<PartialTensorShape> shapes(kernel.num_outputs());
  const tensorflow::OpRegistrationData* op = nullptr;
  HPU_RETURN_IF_ERROR(tensorflow::OpRegistry::Global()->LookUp(kernel.type_string(), &op));
  if (op->shape_inference_fn == nullptr) return shapes;

  Inputs inputs;
  const bool keeps_variables = !absl::StartsWith(kernel.type_string(), "AssignVariable");
  for (int i = 0; i < kernel.num_inputs(); ++i) {
    inputs.Add(FindOperandFacts(context, i, absl::c_linear_search(constants, i)), keeps_variables);
  }
  // tf2xla represents the flow of a TensorArray's gradient as an empty vector instead of a scalar. No op reads flows.
  if (int flow = 0, end = 0; kernel.InputRange("flow_in", &flow, &end).ok()) inputs.shapes[flow] = PartialTensorShape();
  std::vector<const Tensor*> values;
  for (const std::optional<Tensor>& value : inputs.values) values.push_back(value.has_value() ? &*value : nullptr);
  tensorflow::shape_inference::InferenceContext inference(graph_def_version, tensorflow::AttrSlice(kernel.def()),
                                                          op->op_def, inputs.shapes, values, {}, inputs.handles);
  HPU_RETURN_IF_ERROR(inference.construction_status());
  HPU_RETURN_IF_ERROR(inference.Run(op->shape_inference_fn));
  if (HasWrongShapeFunction(kernel)) return shapes;
  for (int i = 0; i < kernel.num_outputs(); ++i) {
    HPU_ASSIGN_OR_RETURN(shapes[i], ResultShape(&inference, i));
    HPU_RETURN_IF_ERROR(CheckSize(shapes[i], kernel.output_type(i)));
  }
  if (int flow = 0, end = 0; kernel.OutputRange("flow_out", &flow, &end).ok()) shapes[flow] = PartialTensorShape();
  return shapes;
}

}  // namespace hpu
