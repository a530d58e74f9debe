// Kernels that split a tensor into elements of a TensorList. The errors are TensorFlow's own texts.
#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/eager/tensor_list_kernel.h"

namespace hpu {
namespace {

using tensorflow::DataTypeString;
using tensorflow::OpKernelContext;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorList;
using tensorflow::TensorShape;
using tensorflow::TensorShapeUtils;

absl::Status CheckRank(const Tensor& tensor) {
  if (TensorShapeUtils::IsVectorOrHigher(tensor.shape())) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("Tensor must be at least a vector, but saw shape: ", tensor.shape().DebugString()));
}

// Reads the element shape from input `input`, at most a vector, and checks the shape against the rows of `tensor`.
absl::Status ElementShape(OpKernelContext* context, const char* op, int input, const Tensor& tensor,
                          PartialTensorShape* shape) {
  const TensorShape& given = context->input(input).shape();
  if (TensorShapeUtils::IsMatrixOrHigher(given)) {
    return absl::InvalidArgumentError(
        absl::StrCat(op, ": element_shape must be at most rank 1 but has the shape of ", given.DebugString()));
  }
  HPU_RETURN_IF_ERROR(tensorflow::TensorShapeFromTensor(context->input(input), shape));
  HPU_RETURN_IF_ERROR(CheckRank(tensor));
  TensorShape row = tensor.shape();
  row.RemoveDim(0);
  if (shape->IsCompatibleWith(row)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("Specified a list with shape ", shape->DebugString(),
                                                 " from a tensor with shape ", row.DebugString()));
}

class FromTensor : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const Tensor& tensor = context->input(0);
    TensorList list;
    list.element_dtype = tensor.dtype();
    HPU_RETURN_IF_ERROR(ElementShape(context, "TensorListFromTensor", 1, tensor, &list.element_shape));
    list.tensors().reserve(tensor.dim_size(0));
    for (int64_t i = 0; i < tensor.dim_size(0); ++i) {
      HPU_ASSIGN_OR_RETURN(Tensor element, CopyRow(memory, tensor, i));
      list.tensors().push_back(std::move(element));
    }
    return SetListOutput(context, std::move(list));
  }
};

class Split : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const Tensor& tensor = context->input(0);
    const Tensor& lengths = context->input(2);
    TensorList list;
    list.element_dtype = tensor.dtype();
    HPU_RETURN_IF_ERROR(CheckShapes(context, tensor, lengths, &list.element_shape));
    TensorShape shape = tensor.shape();
    const int64_t rows = tensor.dim_size(0), row = rows == 0 ? 0 : tensor.NumElements() / rows;
    int64_t start = 0;
    for (int64_t i = 0; i < lengths.NumElements(); ++i) {
      const int64_t length = lengths.vec<int64_t>()(i);
      if (length < 0) return absl::InvalidArgumentError(absl::StrCat("Invalid value in lengths: ", length));
      if (length > rows - start) {
        return absl::InvalidArgumentError(
            absl::StrCat("Attempting to slice [", start, ", ", start + length, "] from tensor with length ", rows));
      }
      shape.set_dim(0, length);
      HPU_ASSIGN_OR_RETURN(Tensor element, memory.Allocate(shape));
      HPU_RETURN_IF_ERROR(memory.Copy(tensor, start * row, &element, 0, length * row));
      list.tensors().push_back(std::move(element));
      start += length;
    }
    if (start != rows) {
      return absl::InvalidArgumentError(
          absl::StrCat("Unused values in tensor. Length of tensor: ", rows, " Values used: ", start));
    }
    return SetListOutput(context, std::move(list));
  }

 private:
  static absl::Status CheckShapes(OpKernelContext* context, const Tensor& tensor, const Tensor& lengths,
                                  PartialTensorShape* shape) {
    HPU_RETURN_IF_ERROR(tensorflow::TensorShapeFromTensor(context->input(1), shape));
    if (!shape->unknown_rank() && shape->dims() < 1) {
      return absl::InvalidArgumentError(absl::StrCat("TensorListSplit requires element_shape to be at least of ",
                                                     "rank 1, but saw: ", shape->DebugString()));
    }
    HPU_RETURN_IF_ERROR(CheckRank(tensor));
    TensorShape row = tensor.shape();
    row.RemoveDim(0);
    PartialTensorShape rest = *shape;
    if (!rest.unknown_rank()) rest.RemoveDim(0);
    if (!rest.IsCompatibleWith(row)) {
      return absl::InvalidArgumentError(absl::StrCat("tensor shape ", tensor.shape().DebugString(),
                                                     " is not compatible with element_shape ", shape->DebugString()));
    }
    if (TensorShapeUtils::IsVector(lengths.shape())) return absl::OkStatus();
    return absl::InvalidArgumentError(
        absl::StrCat("Expected lengths to be a vector, received shape: ", lengths.shape().DebugString()));
  }
};

class ScatterKernel : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;

 protected:
  // Sets element indices[i] of `list` to row i of `tensor`. The indices must be valid.
  static absl::Status ScatterRows(const ElementMemory& memory, const Tensor& tensor, const Tensor& indices,
                                  TensorList* list) {
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      HPU_ASSIGN_OR_RETURN(list->tensors()[indices.flat<int32_t>()(i)], CopyRow(memory, tensor, i));
    }
    return absl::OkStatus();
  }
};

// TensorListScatter and TensorListScatterV2. V2 has the input num_elements.
class Scatter : public ScatterKernel {
 public:
  using ScatterKernel::ScatterKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const Tensor& tensor = context->input(0);
    const Tensor& indices = context->input(1);
    TensorList list;
    list.element_dtype = tensor.dtype();
    int num_elements = -1;
    if (context->num_inputs() >= 4) {
      if (!TensorShapeUtils::IsScalar(context->input(3).shape())) {
        return absl::InvalidArgumentError("num_elements must be a scalar");
      }
      num_elements = context->input(3).scalar<int32_t>()();
    }
    if (num_elements < -1) {
      return absl::InvalidArgumentError(
          absl::StrCat("TensorListScatter expects num_elements >= -1, found: ", num_elements));
    }
    HPU_RETURN_IF_ERROR(ElementShape(context, "TensorListScatter", 2, tensor, &list.element_shape));
    if (indices.NumElements() != tensor.dim_size(0)) {
      return absl::InvalidArgumentError(absl::StrCat("Invalid number of rows in input tensor. Expected: ",
                                                     indices.NumElements(), " Actual: ", tensor.dim_size(0)));
    }
    int highest = -1;
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int index = indices.flat<int32_t>()(i);
      if (index < 0) return absl::InvalidArgumentError("Indices in TensorListScatter must all be non-negative.");
      if (num_elements != -1 && index >= num_elements) {
        return absl::InvalidArgumentError(
            absl::StrCat("TensorListScatter: Trying to scatter at index ", index, " in list with size ", num_elements));
      }
      highest = std::max(highest, index);
    }
    list.tensors().resize(std::max(highest + 1, num_elements), Tensor(tensorflow::DT_INVALID));
    HPU_RETURN_IF_ERROR(ScatterRows(memory, tensor, indices, &list));
    return SetListOutput(context, std::move(list));
  }
};

class ScatterIntoExistingList : public ScatterKernel {
 public:
  using ScatterKernel::ScatterKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::GetInputList(context, 0, &list));
    const Tensor& tensor = context->input(1);
    const Tensor& indices = context->input(2);
    HPU_RETURN_IF_ERROR(Check(*list, tensor, indices));
    int highest = -1;
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int index = indices.vec<int32_t>()(i);
      if (index < 0) return absl::InvalidArgumentError("Indices in TensorListScatter must all be non-negative.");
      highest = std::max(highest, index);
    }
    TensorList* output = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::ForwardInputOrCreateNewList(context, 0, 0, *list, &output));
    if (highest >= static_cast<int>(output->tensors().size())) {
      output->tensors().resize(highest + 1, Tensor(tensorflow::DT_INVALID));
    }
    return ScatterRows(memory, tensor, indices, output);
  }

 private:
  static absl::Status Check(const TensorList& list, const Tensor& tensor, const Tensor& indices) {
    if (tensor.dtype() != list.element_dtype) {
      return absl::InvalidArgumentError(
          absl::StrCat("Invalid data types; input tensor type: ", DataTypeString(tensor.dtype()),
                       " list element_type: ", DataTypeString(list.element_dtype)));
    }
    HPU_RETURN_IF_ERROR(CheckRank(tensor));
    if (!TensorShapeUtils::IsVector(indices.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected indices to be a vector, but received shape: ", indices.shape().DebugString()));
    }
    if (indices.NumElements() != tensor.dim_size(0)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Expected len(indices) == tensor.shape[0], but saw: ", indices.NumElements(), " vs. ", tensor.dim_size(0)));
    }
    return absl::OkStatus();
  }
};

[[maybe_unused]] const bool part_registered[] = {
    RegisterTensorListKernel<FromTensor>("TensorListFromTensor", {"element_shape"}, "tensor"),
    RegisterTensorListKernel<Split>("TensorListSplit", {"element_shape", "lengths"}, "tensor"),
    RegisterTensorListKernel<Scatter>("TensorListScatter", {"indices", "element_shape"}, "tensor"),
    RegisterTensorListKernel<Scatter>("TensorListScatterV2", {"indices", "element_shape", "num_elements"}, "tensor"),
    RegisterTensorListKernel<ScatterIntoExistingList>("TensorListScatterIntoExistingList", {"indices"}, "tensor"),
};

}  // namespace
}  // namespace hpu
