// Lowering of DynamicStitch and ParallelDynamicStitch: one gather. tf2xla's lowering makes a slice for each row, so its
// compile time grows with the square of the number of rows.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/lib/slicing.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/literal.h"
#include "xla/shape_util.h"

namespace hpu {
namespace {

using tensorflow::TensorShape;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;

class DynamicStitchLowering : public tensorflow::XlaOpKernel {
 public:
  using XlaOpKernel::XlaOpKernel;

  void Compile(XlaOpKernelContext* context) override {
    std::vector<xla::Literal> indices;
    std::vector<XlaOp> data;
    std::vector<TensorShape> shapes;
    OP_REQUIRES_OK(context, context->ConstantInputList("indices", &indices));
    OP_REQUIRES_OK(context, context->InputList("data", &data, &shapes));
    TensorShape row = shapes[0];
    row.RemoveDimRange(0, static_cast<int>(indices[0].shape().dimensions_size()));
    std::vector<XlaOp> rows;
    int64_t count = 0;
    for (size_t i = 0; i < data.size(); ++i) {
      TensorShape flat = row;
      flat.InsertDim(0, indices[i].element_count());
      rows.push_back(xla::Reshape(data[i], flat.dim_sizes()));
      count += flat.dim_size(0);
    }
    // A zero for rows that no index names. The CPU kernel leaves these rows unset.
    TensorShape zero = row;
    zero.InsertDim(0, 1);
    rows.push_back(xla::Zeros(
        context->builder(),
        xla::ShapeUtil::MakeShape(context->input_xla_type(static_cast<int>(indices.size())), zero.dim_sizes())));
    absl::StatusOr<std::vector<int32_t>> sources = SourcesOf(indices, static_cast<int32_t>(count));
    OP_REQUIRES_OK(context, sources.status());
    const XlaOp all = xla::ConcatInDim(context->builder(), rows, 0);
    context->SetOutput(0, xla::TorchIndexSelect(all, xla::ConstantR1<int32_t>(context->builder(), *sources), 0));
  }

 private:
  // For each row of the result, the number of the last row of all inputs with its index, or `none`.
  static absl::StatusOr<std::vector<int32_t>> SourcesOf(const std::vector<xla::Literal>& indices, int32_t none) {
    std::vector<int32_t> sources;
    int32_t next = 0;
    for (const xla::Literal& literal : indices) {
      for (const int32_t index : literal.data<int32_t>()) {
        if (index < 0) return absl::InvalidArgumentError(absl::StrCat("indices[", next, "] = ", index, " is negative"));
        if (static_cast<size_t>(index) >= sources.size()) sources.resize(index + size_t{1}, none);
        sources[index] = next++;
      }
    }
    return sources;
  }
};

REGISTER_XLA_OP(Name("DynamicStitch").Device(kCompilationDevice).CompileTimeConstantInput("indices"),
                DynamicStitchLowering)
REGISTER_XLA_OP(Name("ParallelDynamicStitch").Device(kCompilationDevice).CompileTimeConstantInput("indices"),
                DynamicStitchLowering)

}  // namespace
}  // namespace hpu
