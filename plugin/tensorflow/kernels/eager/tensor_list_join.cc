// Kernels that join the elements of a TensorList into one tensor. The errors are TensorFlow's own texts.
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/eager/tensor_list_kernel.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorList;
using tensorflow::TensorShape;

class Stack : public TensorListKernel {
 public:
  explicit Stack(tensorflow::OpKernelConstruction* construction) : TensorListKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("num_elements", &num_elements_));
  }
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    const int64_t size = list->tensors().size();
    if (num_elements_ != -1 && size != num_elements_) {
      return absl::InvalidArgumentError(absl::StrCat("Operation expected a list with ", num_elements_,
                                                     " elements but got a list with ", size, " elements."));
    }
    PartialTensorShape partial;
    HPU_RETURN_IF_ERROR(tensorflow::GetElementShapeFromInput(context, *list, 1, &partial));
    if (!partial.IsFullyDefined() && size == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("Tried to stack elements of an empty ",
                       "list with non-fully-defined element_shape: ", partial.DebugString()));
    }
    std::vector<const Tensor*> elements;
    for (const Tensor& element : list->tensors()) elements.push_back(&element);
    if (!list->element_shape.IsFullyDefined()) HPU_RETURN_IF_ERROR(MergeShapes(elements, &partial));
    TensorShape shape;
    if (!partial.AsTensorShape(&shape)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Tried to stack list which only contains uninitialized ",
                       "tensors and has a non-fully-defined element_shape: ", partial.DebugString()));
    }
    Tensor* output = nullptr;
    const int64_t element_size = shape.num_elements();
    HPU_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, size));
    HPU_RETURN_IF_ERROR(AllocateElements(context, shape, &output));
    return Join(memory, elements, element_size, output);
  }

 private:
  int num_elements_ = -1;
};

class Gather : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    const Tensor& indices = context->input(1);
    PartialTensorShape partial;
    HPU_RETURN_IF_ERROR(tensorflow::GetElementShapeFromInput(context, *list, 2, &partial));
    if (!partial.IsFullyDefined() && indices.NumElements() == 0) {
      return absl::InvalidArgumentError(absl::StrCat("Tried to gather 0-elements from ",
                                                     "a list with non-fully-defined shape: ", partial.DebugString()));
    }
    std::vector<const Tensor*> elements;
    HPU_RETURN_IF_ERROR(Select(*list, indices, &elements));
    if (!list->element_shape.IsFullyDefined()) HPU_RETURN_IF_ERROR(MergeShapes(elements, &partial));
    TensorShape shape;
    if (!partial.AsTensorShape(&shape)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Tried to gather uninitialized tensors from a ",
                       "list with non-fully-defined element_shape: ", partial.DebugString()));
    }
    Tensor* output = nullptr;
    const int64_t element_size = shape.num_elements();
    HPU_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, indices.NumElements()));
    HPU_RETURN_IF_ERROR(AllocateElements(context, shape, &output));
    return Join(memory, elements, element_size, output);
  }

 private:
  static absl::Status Select(const TensorList& list, const Tensor& indices, std::vector<const Tensor*>* elements) {
    const int64_t size = list.tensors().size();
    for (int64_t i = 0; i < indices.NumElements(); ++i) {
      const int64_t index = indices.flat<int32_t>()(i);
      if (index < 0 || index >= size) {
        return list.element_shape.IsFullyDefined()
                   ? absl::InvalidArgumentError(
                         absl::StrCat("Index ", index, " out o range; list only has ", size, " elements."))
                   : absl::InvalidArgumentError(
                         absl::StrCat("Trying to gather element ", index, " in a list with ", size, " elements."));
      }
      elements->push_back(&list.tensors()[index]);
    }
    return absl::OkStatus();
  }
};

// TensorListConcat and TensorListConcatV2. V2 has the inputs element_shape and leading_dims.
class Concat : public TensorListKernel {
 public:
  explicit Concat(tensorflow::OpKernelConstruction* construction) : TensorListKernel(construction) {
    if (construction->HasAttr("element_shape")) {
      OP_REQUIRES_OK(construction, construction->GetAttr("element_shape", &element_shape_));
    }
  }

  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    Shape shape;
    HPU_RETURN_IF_ERROR(RequestedShape(context, *list, &shape));
    if (list->tensors().empty() && !shape.rest.IsFullyDefined()) {
      return absl::InvalidArgumentError(
          absl::StrCat("All except the first dimension must be fully defined ",
                       "when concating an empty tensor list. element_shape: ", shape.rest.DebugString()));
    }
    if (!list->element_shape.IsFullyDefined()) HPU_RETURN_IF_ERROR(MergeElements(*list, &shape));
    TensorShape output_shape;
    if (!shape.rest.AsTensorShape(&output_shape)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Trying to concat list with only uninitialized tensors ",
                       "but element_shape_except_first_dim is not fully defined: ", shape.rest.DebugString()));
    }
    Tensor* lengths = nullptr;
    const int64_t size = list->tensors().size();
    HPU_RETURN_IF_ERROR(context->allocate_output(1, TensorShape({size}), &lengths));
    HPU_RETURN_IF_ERROR(FillLengths(context, *list, shape.first, lengths));
    return Concatenate(context, memory, *list, *lengths, std::move(output_shape));
  }

 private:
  // Shape of the elements: the first dimension (-1: unknown or different sizes) and the other dimensions.
  struct Shape {
    int64_t first = -1;
    PartialTensorShape rest;
  };

  absl::Status RequestedShape(OpKernelContext* context, const TensorList& list, Shape* shape) const {
    PartialTensorShape whole = element_shape_;
    const bool is_v2 = context->num_inputs() > 1;
    if (is_v2) HPU_RETURN_IF_ERROR(tensorflow::GetElementShapeFromInput(context, list, 1, &whole));
    if (whole.unknown_rank()) return absl::OkStatus();
    if (whole.dims() < 1) {
      return is_v2 ? absl::InvalidArgumentError(
                         absl::StrCat("Concat requires elements to be at least vectors, ", "found scalars instead."))
                   : absl::InvalidArgumentError("element_shape must not be empty");
    }
    if (is_v2) shape->first = whole.dim_size(0);
    shape->rest = whole;
    shape->rest.RemoveDim(0);
    return absl::OkStatus();
  }

  static absl::Status MergeElements(const TensorList& list, Shape* shape) {
    const int64_t expected = shape->first;
    int64_t common = expected;
    bool differ = false;
    for (size_t i = 0; i < list.tensors().size(); ++i) {
      const Tensor& element = list.tensors()[i];
      if (!IsSet(element)) continue;
      if (element.dims() == 0) {
        return absl::InvalidArgumentError(
            absl::StrCat("Concat saw a scalar shape at index ", i, " but requires at least vectors."));
      }
      TensorShape rest = element.shape();
      rest.RemoveDim(0);
      const PartialTensorShape before = shape->rest;
      HPU_RETURN_IF_ERROR(before.MergeWith(rest, &shape->rest));
      const int64_t first = element.dim_size(0);
      if (expected != -1 && expected != first) {
        return absl::InvalidArgumentError(absl::StrCat("First entry of element_shape input does not match ",
                                                       "the first dim of list element at index: ", i,
                                                       " Expected: ", expected, " Actual: ", first));
      }
      differ |= common != -1 && common != first;
      common = first;
    }
    shape->first = differ ? -1 : common;
    return absl::OkStatus();
  }

  static absl::Status FillLengths(OpKernelContext* context, const TensorList& list, int64_t first, Tensor* lengths) {
    const bool has_leading = context->num_inputs() > 2;
    const int64_t leading = has_leading ? context->input(2).NumElements() : 0;
    for (int64_t i = 0; i < lengths->NumElements(); ++i) {
      const Tensor& element = list.tensors()[i];
      int64_t& length = lengths->vec<int64_t>()(i);
      if (IsSet(element)) {
        length = element.dim_size(0);
      } else if (i >= leading && first != -1) {
        length = first;
      } else if (!has_leading) {
        return absl::InvalidArgumentError(absl::StrCat("Concating lists with uninitialized tensors is not ",
                                                       "supported in this version of TensorListConcat. ",
                                                       "Consider updating your GraphDef to run the newer version."));
      } else if (i >= leading) {
        return absl::InvalidArgumentError(absl::StrCat("List contains uninitialized tensor at index ", i,
                                                       " but leading_dims has only ", leading, " elements."));
      } else {
        length = context->input(2).vec<int64_t>()(i);
      }
    }
    return absl::OkStatus();
  }

  absl::Status Concatenate(OpKernelContext* context, const ElementMemory& memory, const TensorList& list,
                           const Tensor& lengths, TensorShape shape) const {
    const int64_t row = shape.num_elements();
    int64_t rows = 0;
    for (int64_t i = 0; i < lengths.NumElements(); ++i) rows += lengths.vec<int64_t>()(i);
    HPU_RETURN_IF_ERROR(shape.InsertDimWithStatus(0, rows));
    Tensor* output = nullptr;
    HPU_RETURN_IF_ERROR(AllocateElements(context, shape, &output));
    int64_t position = 0;
    for (int64_t i = 0; i < lengths.NumElements(); ++i) {
      const Tensor& element = list.tensors()[i];
      const int64_t count = lengths.vec<int64_t>()(i) * row;
      HPU_RETURN_IF_ERROR(IsSet(element) ? memory.Copy(element, 0, output, position, count)
                                         : memory.Clear(output, position, count));
      position += count;
    }
    return absl::OkStatus();
  }

  PartialTensorShape element_shape_;
};

[[maybe_unused]] const bool join_registered[] = {
    RegisterTensorListKernel<Stack>("TensorListStack", {"element_shape"}, "tensor"),
    RegisterTensorListKernel<Gather>("TensorListGather", {"indices", "element_shape"}, "values"),
    RegisterTensorListKernel<Concat>("TensorListConcat", {"lengths"}, "tensor"),
    RegisterTensorListKernel<Concat>("TensorListConcatV2", {"element_shape", "leading_dims", "lengths"}, "tensor"),
};

}  // namespace
}  // namespace hpu
