// Lowerings of ops on TensorLists with elements of computed size. tf2xla's lowerings make the elements static.
//
// tf2xla represents a list as a tuple: the buffers, whose dimension 0 counts the elements, and the number of pushed
// elements. Elements that are lists have several buffers. A list without a known element shape is an int32 vector.
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/bounded_arrays.h"
#include "plugin/compiler/dynamic_shapes/size_numbers.h"
#include "plugin/compiler/lowerings/sized_lowering.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

// The elements of a tuple; the array itself if it is no tuple.
absl::StatusOr<std::vector<XlaOp>> PartsOf(XlaOp value) {
  HPU_ASSIGN_OR_RETURN(const xla::Shape shape, value.builder()->GetShape(value));
  if (!shape.IsTuple()) return std::vector<XlaOp>{value};
  std::vector<XlaOp> parts;
  for (int64_t i = 0; i < shape.tuple_shapes_size(); ++i) parts.push_back(xla::GetTupleElement(value, i));
  return parts;
}

// A buffer of zeros for elements like `element`. `list` has no known element shape.
absl::StatusOr<XlaOp> NewBuffer(XlaOp list, XlaOp element) {
  HPU_ASSIGN_OR_RETURN(const BoundedArray length, ToBounded(list));
  HPU_ASSIGN_OR_RETURN(const BoundedArray like, ToBounded(element));
  std::vector<int64_t> dimensions = {length.shape.dimensions(0)};
  dimensions.insert(dimensions.end(), like.shape.dimensions().begin(), like.shape.dimensions().end());
  const XlaOp zeros = xla::Broadcast(xla::Zero(list.builder(), like.shape.element_type()), dimensions);
  std::vector<XlaOp> sizes = {length.sizes[0]};
  sizes.insert(sizes.end(), like.sizes.begin(), like.sizes.end());
  return SetSizes(zeros, sizes);
}

// Position of element `index` in a buffer.
std::vector<XlaOp> PositionOf(XlaOp index, int64_t rank) {
  std::vector<XlaOp> position(rank, xla::ScalarLike(index, 0));
  position[0] = index;
  return position;
}

absl::StatusOr<XlaOp> ReadElement(XlaOp buffer, XlaOp index) {
  HPU_ASSIGN_OR_RETURN(const BoundedArray all, ToBounded(buffer));
  std::vector<int64_t> dimensions(all.shape.dimensions().begin(), all.shape.dimensions().end());
  dimensions[0] = 1;
  const XlaOp row = xla::DynamicSlice(all.array, PositionOf(index, all.shape.dimensions_size()), dimensions);
  dimensions.erase(dimensions.begin());
  return SetSizes(xla::Reshape(row, dimensions), absl::MakeConstSpan(all.sizes).subspan(1));
}

// Writes an element. Requires that its sizes are those of the other elements.
absl::StatusOr<XlaOp> WriteElement(XlaOp buffer, XlaOp index, XlaOp element) {
  HPU_ASSIGN_OR_RETURN(const BoundedArray all, ToBounded(buffer));
  HPU_ASSIGN_OR_RETURN(const BoundedArray one, ToBounded(element));
  std::vector<int64_t> dimensions(one.shape.dimensions().begin(), one.shape.dimensions().end());
  for (int64_t d = 0; d < one.shape.dimensions_size(); ++d) {
    if (one.shape.dimensions_size() + 1 != all.shape.dimensions_size() ||
        one.shape.dimensions(d) != all.shape.dimensions(d + 1) || one.sizes[d].valid() != all.sizes[d + 1].valid()) {
      return absl::UnimplementedError(absl::StrCat("an element of shape ", one.shape.ToString(),
                                                   " in a list with elements of shape ", all.shape.ToString(),
                                                   " is not supported; give all elements one shape"));
    }
    if (one.sizes[d].valid()) RequireEqual(one.sizes[d], all.sizes[d + 1]);
  }
  dimensions.insert(dimensions.begin(), 1);
  const XlaOp written = xla::DynamicUpdateSlice(all.array, xla::Reshape(one.array, dimensions),
                                                PositionOf(index, all.shape.dimensions_size()));
  // The element's sizes instead of the list's: the first turn of a loop determines the sizes of its lists.
  std::vector<XlaOp> sizes = {all.sizes[0]};
  sizes.insert(sizes.end(), one.sizes.begin(), one.sizes.end());
  return SetSizes(written, sizes);
}

class ListLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    bool is_dynamic = false;
    for (int i = 0; i < context->num_inputs(); ++i) {
      const absl::StatusOr<std::optional<xla::Shape>> shape = ShapeOfOperandValue(context, i);
      OP_REQUIRES_OK(context, shape.status());
      is_dynamic = is_dynamic || (shape->has_value() && (*shape)->is_dynamic());
    }
    if (!is_dynamic) return lowering().Compute(context->op_kernel_context());
    OP_REQUIRES_OK(context, CompileSized(context));
  }

 private:
  virtual absl::Status CompileSized(XlaOpKernelContext* context) = 0;
};

class PushBackLowering : public ListLowering {
 public:
  using ListLowering::ListLowering;

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) override {
    HPU_ASSIGN_OR_RETURN(std::vector<XlaOp> list, PartsOf(context->Input(0)));
    HPU_ASSIGN_OR_RETURN(const std::vector<XlaOp> element, PartsOf(context->Input(1)));
    if (list.size() == 1) {
      const XlaOp unknown = list[0];
      list.clear();
      for (const XlaOp part : element) {
        HPU_ASSIGN_OR_RETURN(list.emplace_back(), NewBuffer(unknown, part));
      }
      list.push_back(xla::ConstantR0<int32_t>(context->builder(), 0));
    }
    if (list.size() != element.size() + 1) return absl::UnimplementedError("lists of different depth");
    for (size_t i = 0; i < element.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(list[i], WriteElement(list[i], list.back(), element[i]));
    }
    list.back() = xla::Add(list.back(), xla::ScalarLike(list.back(), 1));
    context->SetTensorListOutput(0, xla::Tuple(context->builder(), list));
    return absl::OkStatus();
  }
};

class PopBackLowering : public ListLowering {
 public:
  using ListLowering::ListLowering;

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) override {
    HPU_ASSIGN_OR_RETURN(std::vector<XlaOp> list, PartsOf(context->Input(0)));
    if (list.size() < 2) return absl::InvalidArgumentError("TensorListPopBack from a list without elements");
    list.back() = xla::Sub(list.back(), xla::ScalarLike(list.back(), 1));
    std::vector<XlaOp> element;
    for (size_t i = 0; i + 1 < list.size(); ++i) {
      HPU_ASSIGN_OR_RETURN(element.emplace_back(), ReadElement(list[i], list.back()));
    }
    context->SetTensorListOutput(0, xla::Tuple(context->builder(), list));
    if (element.size() == 1) {
      context->SetOutput(1, element[0]);
    } else {
      context->SetTensorListOutput(1, xla::Tuple(context->builder(), element));
    }
    return absl::OkStatus();
  }
};

class SetItemLowering : public ListLowering {
 public:
  using ListLowering::ListLowering;

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) override {
    HPU_ASSIGN_OR_RETURN(std::vector<XlaOp> list, PartsOf(context->Input(0)));
    if (list.size() > 2) return absl::UnimplementedError("TensorListSetItem for elements that are lists");
    if (list.size() == 1) {
      HPU_ASSIGN_OR_RETURN(const XlaOp buffer, NewBuffer(list[0], context->Input(2)));
      list = {buffer, xla::ConstantR0<int32_t>(context->builder(), 0)};
    }
    HPU_ASSIGN_OR_RETURN(list[0], WriteElement(list[0], context->Input(1), context->Input(2)));
    context->SetTensorListOutput(0, xla::Tuple(context->builder(), list));
    return absl::OkStatus();
  }
};

class GetItemLowering : public ListLowering {
 public:
  using ListLowering::ListLowering;

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) override {
    HPU_ASSIGN_OR_RETURN(const std::vector<XlaOp> list, PartsOf(context->Input(0)));
    if (list.size() != 2) return absl::UnimplementedError("TensorListGetItem for elements that are lists or unknown");
    HPU_ASSIGN_OR_RETURN(const XlaOp element, ReadElement(list[0], context->Input(1)));
    context->SetOutput(0, element);
    return absl::OkStatus();
  }
};

class ElementShapeLowering : public ListLowering {
 public:
  using ListLowering::ListLowering;

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) override {
    HPU_ASSIGN_OR_RETURN(const std::vector<XlaOp> list, PartsOf(context->Input(0)));
    if (list.size() != 2) return absl::UnimplementedError("TensorListElementShape of lists of lists or unknown");
    HPU_ASSIGN_OR_RETURN(const BoundedArray all, ToBounded(list[0]));
    const xla::PrimitiveType type = context->output_xla_type(0);
    std::vector<XlaOp> sizes;
    for (int64_t d = 1; d < all.shape.dimensions_size(); ++d) {
      sizes.push_back(xla::Reshape(xla::ConvertElementType(xla::GetDimensionSize(list[0], d), type), {1}));
    }
    if (sizes.empty()) {
      lowering().Compute(context->op_kernel_context());
      return context->status();
    }
    context->SetOutput(0, xla::ConcatInDim(context->builder(), sizes, 0));
    return absl::OkStatus();
  }
};

// EmptyTensorList and TensorListReserve for element shapes that depend on sizes. tf2xla requires shapes that are known.
class NewListLowering : public SizedLowering {
 public:
  using SizedLowering::SizedLowering;

  void Compile(XlaOpKernelContext* context) override {
    if (IsKnownUpToBound(context, 0)) {
      OP_REQUIRES_OK(context, CompileSized(context));
    } else {
      lowering().Compute(context->op_kernel_context());
    }
  }

 private:
  absl::Status CompileSized(XlaOpKernelContext* context) {
    HPU_ASSIGN_OR_RETURN(const std::vector<SizeNumber> length, SizeNumbersOf(context, 1));
    HPU_ASSIGN_OR_RETURN(std::vector<SizeNumber> sizes, SizeNumbersOf(context, 0));
    if (length[0].high < 0 || absl::c_any_of(sizes, [](const SizeNumber& size) { return size.high < 0; })) {
      // The first element determines the shape.
      const OperandReplacement unknown(context->op_kernel_context(), 0, tensorflow::Tensor(static_cast<int32_t>(-1)));
      lowering().Compute(context->op_kernel_context());
      return context->status();
    }
    sizes.insert(sizes.begin(), length[0]);
    std::vector<int64_t> bounds;
    for (const SizeNumber& size : sizes) bounds.push_back(size.high);
    tensorflow::DataType element = tensorflow::DT_INVALID;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(def(), "element_dtype", &element));
    xla::PrimitiveType type = xla::PRIMITIVE_TYPE_INVALID;
    HPU_RETURN_IF_ERROR(tensorflow::DataTypeToPrimitiveType(element, &type));
    xla::XlaBuilder* const builder = context->builder();
    const XlaOp buffer = SetSizes(xla::Broadcast(xla::Zero(builder, type), bounds), sizes);
    const XlaOp pushed =
        type_string() == "EmptyTensorList" ? xla::ConstantR0<int32_t>(builder, 0) : length[0].AsOp(builder);
    context->SetTensorListOutput(0, xla::Tuple(builder, {buffer, pushed}));
    return absl::OkStatus();
  }
};

REGISTER_XLA_OP(Name("EmptyTensorList")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("element_shape")
                    .CompileTimeConstantInput("max_num_elements")
                    .AllowVariantTypes(),
                NewListLowering)
REGISTER_XLA_OP(Name("TensorListReserve")
                    .Device(kCompilationDevice)
                    .CompileTimeConstantInput("element_shape")
                    .CompileTimeConstantInput("num_elements"),
                NewListLowering)
REGISTER_XLA_OP(Name("TensorListPushBack").Device(kCompilationDevice).AllowVariantTypes(), PushBackLowering)
REGISTER_XLA_OP(Name("TensorListPopBack").Device(kCompilationDevice).AllowVariantTypes(), PopBackLowering)
REGISTER_XLA_OP(Name("TensorListSetItem").Device(kCompilationDevice), SetItemLowering)
REGISTER_XLA_OP(Name("TensorListGetItem").Device(kCompilationDevice), GetItemLowering)
REGISTER_XLA_OP(Name("TensorListElementShape").Device(kCompilationDevice).IsMetadataOp(), ElementShapeLowering)

}  // namespace
}  // namespace hpu
