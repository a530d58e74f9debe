#include "plugin/compiler/pooling_rules.h"

#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/compat/lowering_values.h"
#include "tensorflow/core/framework/kernel_shape_util.h"
#include "tensorflow/core/framework/node_def_util.h"
#include "tensorflow/core/util/padding.h"
#include "tensorflow/core/util/tensor_format.h"

namespace hpu {
namespace {

using tensorflow::OpKernel;
using tensorflow::TensorShape;
using tensorflow::XlaOpKernelContext;

std::string TextOfNumbers(const TensorShape& shape) { return shape.DebugString(); }

absl::Status CheckRank(const TensorShape& shape, int rank, absl::string_view name) {
  if (shape.dims() == rank) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(name, " must be ", rank, "-dimensional, got ", TextOfNumbers(shape)));
}

absl::Status CheckSame(const TensorShape& shape, const TensorShape& expected, absl::string_view name) {
  if (shape == expected) return absl::OkStatus();
  // TensorFlow's own text.
  return absl::InvalidArgumentError(
      absl::StrCat("Expected ", name, " shape to be ", TextOfNumbers(expected), ", but got ", TextOfNumbers(shape)));
}

// Validated ksize, strides, padding and data format of a pooling op.
class PoolingWindows {
 public:
  static absl::StatusOr<PoolingWindows> Make(const OpKernel& kernel, XlaOpKernelContext* context) {
    PoolingWindows windows;
    windows.op_ = kernel.type_string();
    windows.rank_ = absl::StrContains(kernel.type_string(), "3D") ? 5 : 4;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "padding", &windows.padding_));
    std::string format;
    HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "data_format", &format));
    if (!tensorflow::FormatFromString(format, &windows.format_)) {
      return absl::InvalidArgumentError(absl::StrCat(windows.op_, ": invalid data_format '", format, "', expected ",
                                                     windows.rank_ == 5 ? "NDHWC or NCDHW" : "NHWC or NCHW"));
    }
    if (windows.padding_ == tensorflow::EXPLICIT) {
      HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), "explicit_paddings", &windows.explicit_));
      HPU_RETURN_IF_ERROR(
          tensorflow::CheckValidPadding(windows.padding_, windows.explicit_, windows.rank_, windows.format_));
    }
    HPU_ASSIGN_OR_RETURN(windows.sizes_, Numbers(kernel, context, "ksize"));
    HPU_ASSIGN_OR_RETURN(windows.strides_, Numbers(kernel, context, "strides"));
    HPU_RETURN_IF_ERROR(windows.Check("ksize", windows.sizes_));
    HPU_RETURN_IF_ERROR(windows.Check("stride", windows.strides_));
    return windows;
  }

  int rank() const { return rank_; }

  // The op's output shape for `images`.
  absl::StatusOr<TensorShape> OutputShape(const TensorShape& images) const {
    TensorShape shape = images;
    if (format_ == tensorflow::FORMAT_NCHW_VECT_C) {
      return absl::UnimplementedError(absl::StrCat(op_, ": data_format NCHW_VECT_C is not supported; use NHWC"));
    }
    for (int i = 0; i < rank_; ++i) {
      int64_t output = 0;
      int64_t before = padding_ == tensorflow::EXPLICIT ? explicit_[2 * i] : 0;
      int64_t after = padding_ == tensorflow::EXPLICIT ? explicit_[2 * i + 1] : 0;
      HPU_RETURN_IF_ERROR(tensorflow::GetWindowedOutputSizeVerbose(images.dim_size(i), sizes_[i], /*dilation_rate=*/1,
                                                                   strides_[i], padding_, &output, &before, &after));
      HPU_RETURN_IF_ERROR(shape.SetDimWithStatus(i, output));
    }
    return shape;
  }

  // Max pooling gradients do not support windows or strides over channels. The error is TensorFlow's own text.
  absl::Status CheckDepth() const {
    const int channels = tensorflow::GetTensorFeatureDimIndex(rank_, format_);
    if (sizes_[channels] == 1 && strides_[channels] == 1) return absl::OkStatus();
    return absl::UnimplementedError("MaxPoolingGrad is not yet supported on the depth dimension.");
  }

 private:
  static absl::StatusOr<std::vector<int64_t>> Numbers(const OpKernel& kernel, XlaOpKernelContext* context,
                                                      const char* name) {
    std::vector<int64_t> numbers;
    if (tensorflow::HasNodeAttr(kernel.def(), name)) {
      std::vector<int32_t> attribute;
      HPU_RETURN_IF_ERROR(tensorflow::GetNodeAttr(kernel.def(), name, &attribute));
      numbers.assign(attribute.begin(), attribute.end());
    } else {
      HPU_RETURN_IF_ERROR(context->ConstantInputAsIntVector(name, &numbers));
    }
    return numbers;
  }

  // The errors are TensorFlow's own texts.
  absl::Status Check(absl::string_view name, const std::vector<int64_t>& numbers) const {
    if (static_cast<int>(numbers.size()) != rank_) {
      return absl::InvalidArgumentError(
          absl::StrCat("Sliding window ", name, " field must specify ", rank_, " dimensions"));
    }
    for (int i = 0; i < rank_; ++i) {
      if (numbers[i] > 0) continue;
      return absl::InvalidArgumentError(
          absl::StrCat("Sliding window ", name, " for dimension ", i, " must be positive, got ", numbers[i]));
    }
    if (numbers[tensorflow::GetTensorBatchDimIndex(rank_, format_)] != 1) {
      return absl::UnimplementedError("Pooling is not yet supported on the batch dimension.");
    }
    return absl::OkStatus();
  }

  std::string op_;
  int rank_ = 0;
  tensorflow::Padding padding_;
  std::vector<int64_t> explicit_;  // EXPLICIT: padding before and after each dimension
  tensorflow::TensorFormat format_;
  std::vector<int64_t> sizes_;
  std::vector<int64_t> strides_;
};

// Whether an operand has a dynamic dimension. LowerWindows (dynamic_windows.h) then checks the shapes.
bool IsDynamicPooling(XlaOpKernelContext* context, int input) {
  const absl::StatusOr<xla::Shape> shape = context->InputXlaShape(input);
  return shape.ok() && shape->is_dynamic();
}

// Checks the shapes of the maxima and of the gradient. In second gradients, the gradient has the images' shape.
absl::Status CheckMaxima(const OpKernel& kernel, XlaOpKernelContext* context, bool second) {
  HPU_ASSIGN_OR_RETURN(const PoolingWindows windows, PoolingWindows::Make(kernel, context));
  HPU_RETURN_IF_ERROR(windows.CheckDepth());
  HPU_ASSIGN_OR_RETURN(const TensorShape images, OperandShape(context, 0));
  HPU_ASSIGN_OR_RETURN(const TensorShape given_maxima, OperandShape(context, 1));
  HPU_ASSIGN_OR_RETURN(const TensorShape gradient, OperandShape(context, 2));
  HPU_RETURN_IF_ERROR(CheckRank(images, windows.rank(), "orig_input"));
  HPU_ASSIGN_OR_RETURN(const TensorShape maxima, windows.OutputShape(images));
  for (const int input : {0, 1, 2}) {
    if (IsDynamicPooling(context, input)) return absl::OkStatus();
  }
  HPU_RETURN_IF_ERROR(CheckSame(given_maxima, maxima, "orig_output"));
  if (second && windows.rank() == 5 && images.num_elements() == 0) {
    // TensorFlow's own text.
    return absl::InvalidArgumentError(absl::StrCat("received empty tensor tensor_in: ", TextOfNumbers(images)));
  }
  return CheckSame(gradient, second ? images : maxima, "grad");
}

}  // namespace

absl::Status CheckPooling(const OpKernel& kernel, XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const PoolingWindows windows, PoolingWindows::Make(kernel, context));
  HPU_ASSIGN_OR_RETURN(const TensorShape images, OperandShape(context, 0));
  HPU_RETURN_IF_ERROR(CheckRank(images, windows.rank(), "tensor_in"));
  return windows.OutputShape(images).status();
}

absl::Status CheckMaxPoolingGradient(const OpKernel& kernel, XlaOpKernelContext* context) {
  return CheckMaxima(kernel, context, /*second=*/false);
}

absl::Status CheckMaxPoolingSecondGradient(const OpKernel& kernel, XlaOpKernelContext* context) {
  return CheckMaxima(kernel, context, /*second=*/true);
}

absl::Status CheckAveragePoolingGradient(const OpKernel& kernel, XlaOpKernelContext* context) {
  HPU_ASSIGN_OR_RETURN(const PoolingWindows windows, PoolingWindows::Make(kernel, context));
  TensorShape images;
  HPU_RETURN_IF_ERROR(context->ConstantInputAsShape(0, &images, xla::ValueInferenceMode::kUpperBound));
  HPU_RETURN_IF_ERROR(CheckRank(images, windows.rank(), "orig_input_shape"));
  HPU_ASSIGN_OR_RETURN(const TensorShape averages, windows.OutputShape(images));
  if (IsDynamicPooling(context, 1) || IsKnownUpToBound(context, 0)) return absl::OkStatus();
  HPU_ASSIGN_OR_RETURN(const TensorShape gradient, OperandShape(context, 1));
  return CheckSame(gradient, averages, "grad");
}

}  // namespace hpu
