// Lowerings of HabanaBoundedArgument and HabanaBoundedConstant: arrays and numbers that follow size symbols.
#include <cstdint>
#include <vector>

#include "plugin/compiler/compilation_device.h"
#include "plugin/compiler/dynamic_shapes/compact_arrays.h"
#include "tensorflow/compiler/tf2xla/type_util.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::XlaOpKernelContext;

// The value of a symbol, int32.
xla::XlaOp SymbolValue(xla::XlaOp sizes, int64_t symbol) {
  return xla::Reshape(xla::SliceInDim(sizes, symbol, symbol + 1, 1, 0), {});
}

xla::XlaOp AddOffset(xla::XlaOp size, int64_t offset) {
  return offset == 0 ? size : size + xla::ConstantR0<int32_t>(size.builder(), static_cast<int32_t>(offset));
}

class BoundedArgumentLowering : public tensorflow::XlaOpKernel {
 public:
  explicit BoundedArgumentLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("symbols", &symbols_));
    OP_REQUIRES_OK(construction, construction->GetAttr("offsets", &offsets_));
  }

  void Compile(XlaOpKernelContext* context) override {
    const absl::StatusOr<xla::Shape> bounds = context->InputXlaShape(0);
    OP_REQUIRES_OK(context, bounds.status());
    xla::Shape shape = *bounds;
    std::vector<xla::XlaOp> sizes;
    for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
      const bool is_fixed = symbols_[d] < 0;
      sizes.push_back(is_fixed ? xla::ConstantR0<int32_t>(context->builder(), static_cast<int32_t>(shape.dimensions(d)))
                               : AddOffset(SymbolValue(context->Input(1), symbols_[d]), offsets_[d]));
      shape.set_dynamic_dimension(d, !is_fixed);
    }
    xla::XlaOp output = Expand(context->Input(0), shape, sizes);
    for (int64_t d = 0; d < shape.dimensions_size(); ++d) {
      if (shape.is_dynamic_dimension(d)) output = xla::SetDimensionSize(output, sizes[d], d);
    }
    context->SetOutput(0, output);
  }

 private:
  std::vector<int64_t> symbols_, offsets_;
};

class BoundedConstantLowering : public tensorflow::XlaOpKernel {
 public:
  explicit BoundedConstantLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("value", &value_));
    OP_REQUIRES_OK(construction, construction->GetAttr("symbols", &symbols_));
    OP_REQUIRES_OK(construction, construction->GetAttr("offsets", &offsets_));
    OP_REQUIRES_OK(construction, construction->GetAttr("bounds", &bounds_));
  }

  void Compile(XlaOpKernelContext* context) override {
    xla::XlaBuilder* const builder = context->builder();
    xla::PrimitiveType type;
    OP_REQUIRES_OK(context, tensorflow::DataTypeToPrimitiveType(value_.dtype(), &type));
    std::vector<xla::XlaOp> elements;
    for (size_t i = 0; i < symbols_.size(); ++i) {
      const xla::XlaOp element = symbols_[i] < 0 ? xla::ConstantR0<int32_t>(builder, Fixed(i))
                                                 : AddOffset(BoundedValue(context->Input(0), symbols_[i]), offsets_[i]);
      elements.push_back(xla::Reshape(xla::ConvertElementType(element, type), {1}));
    }
    const auto dimensions = value_.shape().dim_sizes();
    context->SetOutput(0, xla::Reshape(xla::ConcatInDim(builder, elements, 0),
                                       std::vector<int64_t>(dimensions.begin(), dimensions.end())));
  }

 private:
  int32_t Fixed(size_t i) const {
    return value_.dtype() == tensorflow::DT_INT32 ? value_.flat<int32_t>()(i)
                                                  : static_cast<int32_t>(value_.flat<int64_t>()(i));
  }

  // The symbol's value as the size of an array, so that value inference knows its bound.
  xla::XlaOp BoundedValue(xla::XlaOp sizes, int64_t symbol) const {
    const xla::XlaOp array = xla::Iota(sizes.builder(), xla::S32, bounds_[symbol]);
    return xla::GetDimensionSize(xla::SetDimensionSize(array, SymbolValue(sizes, symbol), 0), 0);
  }

  tensorflow::Tensor value_;
  std::vector<int64_t> symbols_, offsets_, bounds_;
};

REGISTER_XLA_OP(Name("HabanaBoundedArgument").Device(kCompilationDevice), BoundedArgumentLowering)
REGISTER_XLA_OP(Name("HabanaBoundedConstant").Device(kCompilationDevice), BoundedConstantLowering)

}  // namespace
}  // namespace hpu
