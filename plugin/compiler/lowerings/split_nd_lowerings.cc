// Lowerings of XlaSplitND, XlaConcatND and their variants for variables.
//
// tf2xla slices or updates all dimensions for each part, which takes minutes to compile for ranks above 6. These
// lowerings turn all parts into rows by one transposition.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "plugin/compiler/compilation_device.h"
#include "tensorflow/compiler/tf2xla/xla_op_kernel.h"
#include "tensorflow/compiler/tf2xla/xla_op_registry.h"
#include "xla/hlo/builder/lib/arithmetic.h"
#include "xla/hlo/builder/lib/constants.h"
#include "xla/hlo/builder/xla_builder.h"
#include "xla/util.h"

namespace hpu {
namespace {

using tensorflow::OpKernelConstruction;
using tensorflow::TensorShape;
using tensorflow::XlaOpKernelContext;
using xla::XlaOp;
using Sizes = std::vector<int64_t>;

// An array, padded at the end of each dimension, as a grid of equal parts. The errors are TensorFlow's own texts.
class Grid {
 public:
  absl::Status Read(OpKernelConstruction* construction, const char* counts) {
    HPU_RETURN_IF_ERROR(construction->GetAttr(counts, &counts_));
    HPU_RETURN_IF_ERROR(construction->GetAttr("N", &parts_));
    HPU_RETURN_IF_ERROR(construction->GetAttr("paddings", &paddings_));
    if (paddings_.empty()) paddings_.assign(counts_.size(), 0);
    if (paddings_.size() != counts_.size()) {
      return absl::InvalidArgumentError(absl::StrCat("'paddings' length must match '", counts, "' length ",
                                                     counts_.size(), ", but got ", paddings_.size(), "."));
    }
    int64_t product = 1;
    for (size_t i = 0; i < counts_.size(); ++i) {
      if (counts_[i] <= 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("'", counts, "' at index ", i, " must be positive, but got ", counts_[i], "."));
      }
      if (paddings_[i] < 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("'padding' must be all non-negative, but got ", paddings_[i], " at index ", i, "."));
      }
      if (product <= parts_) product *= counts_[i];
    }
    if (product == parts_) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("'N' must match number of slices ", absl::StrJoin(counts_, " * "),
                                                   " from '", counts, "', but got ", parts_, "."));
  }

  int64_t rank() const { return counts_.size(); }
  int64_t parts() const { return parts_; }

  // The sizes of each part of an array.
  absl::StatusOr<Sizes> PartOf(const TensorShape& array) const {
    if (array.dims() != rank()) {
      return absl::InvalidArgumentError(absl::StrCat("'input' tensor rank must be the same as 'num_splits' length ",
                                                     rank(), ", but got rank ", array.dims(), "."));
    }
    Sizes part;
    for (int64_t i = 0; i < rank(); ++i) {
      const int64_t padded = array.dim_size(i) + paddings_[i];
      if (padded % counts_[i] != 0) {
        return absl::InvalidArgumentError(absl::StrCat("'input' tensor shape dimension ", i, " (", array.dim_size(i),
                                                       ") with padding ", paddings_[i],
                                                       " must be evenly divisible by 'num_splits' ", counts_[i], "."));
      }
      part.push_back(padded / counts_[i]);
    }
    return part;
  }

  // The sizes of the array that these parts form, without padding.
  absl::StatusOr<Sizes> SizesOf(const Sizes& part) const {
    Sizes array;
    for (int64_t i = 0; i < rank(); ++i) {
      array.push_back(part[i] * counts_[i] - paddings_[i]);
      if (array.back() < 0) {
        return absl::InvalidArgumentError(absl::StrCat("'paddings' must not exceed expected output shape dimension ",
                                                       part[i] * counts_[i], " at index ", i, ", but got ",
                                                       paddings_[i], "."));
      }
    }
    return array;
  }

  // Returns one row per part.
  XlaOp RowsOf(XlaOp array, const Sizes& part) const {
    Sizes apart, order(2 * rank());
    for (int64_t i = 0; i < rank(); ++i) {
      apart.insert(apart.end(), {counts_[i], part[i]});
      order[i] = 2 * i;
      order[rank() + i] = 2 * i + 1;
    }
    const XlaOp padded = Padded(array, /*inverse=*/false);
    return xla::Reshape(xla::Transpose(xla::Reshape(padded, apart), order), {parts_, xla::Product(part)});
  }

  XlaOp ArrayOf(XlaOp rows, const Sizes& part) const {
    Sizes apart = counts_, order, padded;
    apart.insert(apart.end(), part.begin(), part.end());
    for (int64_t i = 0; i < rank(); ++i) {
      order.insert(order.end(), {i, rank() + i});
      padded.push_back(counts_[i] * part[i]);
    }
    const XlaOp array = xla::Reshape(xla::Transpose(xla::Reshape(rows, apart), order), padded);
    return Padded(array, /*inverse=*/true);
  }

 private:
  XlaOp Padded(XlaOp array, bool inverse) const {
    const absl::StatusOr<xla::Shape> shape = array.builder()->GetShape(array);
    if (!shape.ok()) return array.builder()->ReportError(shape.status());
    xla::PaddingConfig padding;
    for (const int64_t size : paddings_) {
      xla::PaddingConfig::PaddingConfigDimension* const edge = padding.add_dimensions();
      edge->set_edge_padding_high(inverse ? -size : size);
    }
    return xla::Pad(array, xla::Zero(array.builder(), shape->element_type()), padding);
  }

  Sizes counts_;
  Sizes paddings_;
  int64_t parts_ = 0;
};

class SplitLowering : public tensorflow::XlaOpKernel {
 public:
  explicit SplitLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, grid_.Read(construction, "num_splits"));
  }

  void Compile(XlaOpKernelContext* context) final {
    XlaOp array;
    TensorShape shape;
    if (input_type(0) == tensorflow::DT_RESOURCE) {
      OP_REQUIRES_OK(context, context->ReadVariableInput(0, output_type(0), &shape, &array));
    } else {
      array = context->Input(0);
      const absl::StatusOr<TensorShape> known = OperandShape(context, 0);
      OP_REQUIRES_OK(context, known.status());
      shape = *known;
    }
    const absl::StatusOr<Sizes> part = grid_.PartOf(shape);
    OP_REQUIRES_OK(context, part.status());
    const XlaOp rows = grid_.RowsOf(array, *part);
    for (int64_t i = 0; i < grid_.parts(); ++i) {
      context->SetOutput(i, xla::Reshape(xla::SliceInDim(rows, i, i + 1, /*stride=*/1, /*dimno=*/0), *part));
    }
  }

 private:
  Grid grid_;
};

class ConcatLowering : public tensorflow::XlaOpKernel {
 public:
  explicit ConcatLowering(OpKernelConstruction* construction) : XlaOpKernel(construction) {
    OP_REQUIRES_OK(construction, grid_.Read(construction, "num_concats"));
  }

  void Compile(XlaOpKernelContext* context) final {
    std::vector<XlaOp> parts;
    std::vector<TensorShape> shapes;
    OP_REQUIRES_OK(context, context->InputList("inputs", &parts, &shapes));
    // The errors are TensorFlow's own texts.
    OP_REQUIRES(context, shapes[0].dims() == grid_.rank(),
                absl::InvalidArgumentError(absl::StrCat("'inputs' rank must be the same as 'num_concats' length ",
                                                        grid_.rank(), ", but got rank ", shapes[0].dims(), ".")));
    for (size_t i = 1; i < shapes.size(); ++i) {
      OP_REQUIRES(context, shapes[i] == shapes[0],
                  absl::InvalidArgumentError(absl::StrCat("'inputs' must all have the same expected shape ",
                                                          shapes[0].DebugString(), ", but got ",
                                                          shapes[i].DebugString(), " at index ", i, ".")));
    }
    const auto dims = shapes[0].dim_sizes();
    const Sizes part(dims.begin(), dims.end());
    const absl::StatusOr<Sizes> sizes = grid_.SizesOf(part);
    OP_REQUIRES_OK(context, sizes.status());
    for (XlaOp& row : parts) row = xla::Reshape(row, {1, xla::Product(part)});
    const XlaOp array = grid_.ArrayOf(xla::ConcatInDim(context->builder(), parts, /*dimension=*/0), part);
    if (num_outputs() == 1) return context->SetOutput(0, array);
    OP_REQUIRES_OK(context, context->AssignVariable("resource", input_type(1), array));
  }

 private:
  Grid grid_;
};

REGISTER_XLA_OP(Name("XlaSplitND").Device(kCompilationDevice), SplitLowering)
REGISTER_XLA_OP(Name("ReadVariableXlaSplitND").Device(kCompilationDevice), SplitLowering)
REGISTER_XLA_OP(Name("XlaConcatND").Device(kCompilationDevice), ConcatLowering)
REGISTER_XLA_OP(Name("AssignVariableXlaConcatND").Device(kCompilationDevice), ConcatLowering)

}  // namespace
}  // namespace hpu
