// Kernels that add, replace, read or remove single elements of a TensorList. The errors are TensorFlow's own texts.
#include <memory>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"
#include "plugin/tensorflow/kernels/eager/tensor_list_kernel.h"
#include "tensorflow/core/framework/variant_encode_decode.h"

namespace hpu {
namespace {

using tensorflow::DataTypeString;
using tensorflow::OpKernelContext;
using tensorflow::PartialTensorShape;
using tensorflow::Tensor;
using tensorflow::TensorList;
using tensorflow::TensorShape;
using tensorflow::Variant;

std::vector<const Tensor*> Pointers(const std::vector<Tensor>& tensors) {
  std::vector<const Tensor*> pointers;
  pointers.reserve(tensors.size());
  for (const Tensor& tensor : tensors) pointers.push_back(&tensor);
  return pointers;
}

absl::Status IndexIsNoScalar(const Tensor& index) {
  return absl::InvalidArgumentError(absl::StrCat("Expected argument 1 to be a scalar. Received", index.DebugString()));
}

class GetItem : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    // TensorFlow's kernel accepts any shape with one element, and ends the process for other shapes.
    if (context->input(1).NumElements() != 1) return IndexIsNoScalar(context->input(1));
    const int64_t index = context->input(1).scalar<int32_t>()(), size = list->tensors().size();
    if (index < 0 || index >= size) {
      return absl::InvalidArgumentError(
          absl::StrCat("Trying to access element ", index, " in a list with ", size, " elements."));
    }
    const Tensor& element = list->tensors()[index];
    TensorShape shape;
    if (!IsSet(element)) HPU_RETURN_IF_ERROR(ShapeOfUnset(context, *list, &shape));
    return SetElementOutput(context, memory, 0, element, shape);
  }

 private:
  // Shape of an unset element, from the input element_shape, the list, or the set elements.
  static absl::Status ShapeOfUnset(OpKernelContext* context, const TensorList& list, TensorShape* shape) {
    PartialTensorShape partial;
    HPU_RETURN_IF_ERROR(tensorflow::GetElementShapeFromInput(context, list, 2, &partial));
    if (!partial.IsFullyDefined()) HPU_RETURN_IF_ERROR(MergeShapes(Pointers(list.tensors()), &partial));
    if (partial.AsTensorShape(shape)) return absl::OkStatus();
    return absl::InvalidArgumentError(absl::StrCat("Trying to read an uninitialized tensor but ",
                                                   "element_shape is not fully defined: ", partial.DebugString(),
                                                   " and no list element is set."));
  }
};

class PopBack : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    if (list->tensors().empty()) return absl::InvalidArgumentError("Trying to pop from an empty list.");
    TensorShape shape;
    if (!IsSet(list->tensors().back())) {
      PartialTensorShape partial;
      HPU_RETURN_IF_ERROR(tensorflow::GetElementShapeFromInput(context, *list, 1, &partial));
      if (!partial.AsTensorShape(&shape)) {
        return absl::InvalidArgumentError(absl::StrCat("Trying to read an uninitialized tensor but ",
                                                       "element_shape is not fully defined.", partial.DebugString()));
      }
    }
    HPU_RETURN_IF_ERROR(SetElementOutput(context, memory, 1, list->tensors().back(), shape));
    TensorList* output = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::ForwardInputOrCreateNewList(context, 0, 0, *list, &output));
    output->tensors().pop_back();
    return absl::OkStatus();
  }
};

class SetItem : public TensorListKernel {
 public:
  explicit SetItem(tensorflow::OpKernelConstruction* construction) : TensorListKernel(construction) {
    if (construction->HasAttr("resize_if_index_out_of_bounds")) {
      OP_REQUIRES_OK(construction, construction->GetAttr("resize_if_index_out_of_bounds", &resize_));
    }
  }
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    if (context->input(1).dims() != 0) return IndexIsNoScalar(context->input(1));
    const int64_t index = context->input(1).scalar<int32_t>()(), size = list->tensors().size();
    if (index < 0 || (!resize_ && index >= size)) {
      return absl::InvalidArgumentError(
          absl::StrCat("Trying to modify element ", index, " in a list with ", size, " elements."));
    }
    const Tensor& value = context->input(2);
    if (!list->element_shape.IsCompatibleWith(value.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Tried to set a tensor with incompatible shape at a list index. Item element shape: ",
                       value.shape().DebugString(), " list shape: ", list->element_shape.DebugString()));
    }
    TensorList* output = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::ForwardInputOrCreateNewList(context, 0, 0, *list, &output));
    if (index >= size) output->tensors().resize(index + 1, Tensor(tensorflow::DT_INVALID));
    output->tensors()[index] = value;
    return absl::OkStatus();
  }

 private:
  bool resize_ = false;
};

class PushBack : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const Tensor& value = context->input(1);
    const TensorList* list = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::GetInputList(context, 0, &list));
    if (!list->element_shape.IsCompatibleWith(value.shape())) {
      return absl::InvalidArgumentError(absl::StrCat(
          "Tried to append a tensor with incompatible shape to a list. Op element shape: ", value.shape().DebugString(),
          " list shape: ", list->element_shape.DebugString()));
    }
    HPU_RETURN_IF_ERROR(InputList(context, &list));
    if (list->max_num_elements != -1 && static_cast<int>(list->tensors().size()) >= list->max_num_elements) {
      return absl::InvalidArgumentError(absl::StrCat("Tried to push item into a full list",
                                                     " list size: ", list->tensors().size(),
                                                     " max_num_elements: ", list->max_num_elements));
    }
    TensorList* output = nullptr;
    HPU_RETURN_IF_ERROR(tensorflow::ForwardInputOrCreateNewList(context, 0, 0, *list, &output));
    output->tensors().push_back(value);
    return absl::OkStatus();
  }
};

class PushBackBatch : public TensorListKernel {
 public:
  using TensorListKernel::TensorListKernel;
  absl::Status Run(OpKernelContext* context, const ElementMemory& memory) override {
    const Tensor& handles = context->input(0);
    const Tensor& values = context->input(1);
    HPU_RETURN_IF_ERROR(CheckBatch(handles, values));
    TensorShape element_shape = values.shape();
    element_shape.RemoveDim(0);
    HPU_RETURN_IF_ERROR(CheckLists(handles, element_shape));
    tensorflow::AllocatorAttributes host;
    host.set_on_host(true);
    Tensor* output = nullptr;
    HPU_RETURN_IF_ERROR(context->allocate_output(0, handles.shape(), &output, host));
    for (int64_t i = 0; i < handles.NumElements(); ++i) {
      TensorList list = handles.vec<Variant>()(i).get<TensorList>()->Copy();
      HPU_ASSIGN_OR_RETURN(Tensor element, CopyRow(memory, values, i));
      list.tensors().push_back(std::move(element));
      output->vec<Variant>()(i) = std::move(list);
    }
    return absl::OkStatus();
  }

 private:
  static absl::Status CheckBatch(const Tensor& handles, const Tensor& values) {
    if (!tensorflow::TensorShapeUtils::IsVectorOrHigher(values.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected tensor to be at least a vector, but saw shape: ", values.shape().DebugString()));
    }
    if (!tensorflow::TensorShapeUtils::IsVector(handles.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Expected input_handles to be a vector, but saw shape: ", handles.shape().DebugString()));
    }
    if (values.dim_size(0) != handles.NumElements()) {
      return absl::InvalidArgumentError(absl::StrCat("Expected tensor.shape[0] == input_handles.size, but saw ",
                                                     values.dim_size(0), " vs. ", handles.NumElements()));
    }
    return absl::OkStatus();
  }

  absl::Status CheckLists(const Tensor& handles, const TensorShape& element_shape) const {
    for (int64_t i = 0; i < handles.NumElements(); ++i) {
      const Variant& handle = handles.vec<Variant>()(i);
      const TensorList* list = handle.get<TensorList>();
      if (list == nullptr) {
        return absl::InvalidArgumentError(
            absl::StrCat("Input handle at index ", i, " is not a list. Saw: '", handle.DebugString(), "'"));
      }
      if (!list->element_shape.IsCompatibleWith(element_shape)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "Tried to append a tensor with incompatible shape to a list at index ", i,
            ". Op element shape: ", element_shape.DebugString(), " list shape: ", list->element_shape.DebugString()));
      }
      if (list->element_dtype != element_dtype()) {
        return absl::InvalidArgumentError(absl::StrCat("Invalid data type at index ", i, "; op elements ",
                                                       DataTypeString(element_dtype()), " but list elements ",
                                                       DataTypeString(list->element_dtype)));
      }
    }
    return absl::OkStatus();
  }
};

[[maybe_unused]] const bool elements_registered[] = {
    RegisterTensorListKernel<GetItem>("TensorListGetItem", {"index", "element_shape"}, "item"),
    RegisterTensorListKernel<PopBack>("TensorListPopBack", {"element_shape"}, "tensor"),
    RegisterTensorListKernel<SetItem>("TensorListSetItem", {"index"}, "item"),
    RegisterTensorListKernel<PushBack>("TensorListPushBack", {}, "tensor"),
    RegisterTensorListKernel<PushBackBatch>("TensorListPushBackBatch", {}, "tensor"),
};

}  // namespace
}  // namespace hpu
