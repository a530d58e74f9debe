// TensorListKernel: base class of the HPU kernels of TensorList ops.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_TENSOR_LIST_KERNEL_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_TENSOR_LIST_KERNEL_H_

#include <initializer_list>
#include <vector>

#include "absl/status/status.h"
#include "plugin/tensorflow/kernels/data_flow_memory.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/partial_tensor_shape.h"
#include "tensorflow/core/kernels/tensor_list.h"

// Declared here because TensorFlow's kernels/list_kernels.h would also include the Eigen kernels.
namespace tensorflow {
Status TensorShapeFromTensor(const Tensor& t, PartialTensorShape* out);
Status GetElementShapeFromInput(OpKernelContext* c, const TensorList& tensor_list, int index,
                                PartialTensorShape* element_shape);
Status GetInputList(OpKernelContext* c, int index, const TensorList** list);
Status ForwardInputOrCreateNewList(OpKernelContext* c, int32_t input_index, int32_t output_index,
                                   const TensorList& input_list, TensorList** output_list);
}  // namespace tensorflow

namespace hpu {

// TensorFlow's default kernels compute on the host. These kernels keep elements in the memory that their type requires
// (LivesOnDevice) and use TensorFlow's error messages. Stateless except for attributes; thread safe, like all kernels.
class TensorListKernel : public tensorflow::OpKernel {
 public:
  explicit TensorListKernel(tensorflow::OpKernelConstruction* construction);
  void Compute(tensorflow::OpKernelContext* context) final;

 protected:
  virtual absl::Status Run(tensorflow::OpKernelContext* context, const ElementMemory& memory) = 0;

  tensorflow::DataType element_dtype() const { return element_dtype_; }
  // Returns the list of input 0 after checking its element type.
  absl::Status InputList(tensorflow::OpKernelContext* context, const tensorflow::TensorList** list) const;
  // Sets output 0 to `list`.
  static absl::Status SetListOutput(tensorflow::OpKernelContext* context, tensorflow::TensorList list);
  // Sets output `index` to the element, or to zeros of `shape` if the element is not set.
  static absl::Status SetElementOutput(tensorflow::OpKernelContext* context, const ElementMemory& memory, int index,
                                       const tensorflow::Tensor& element, const tensorflow::TensorShape& shape);
  // Allocates output 0, a tensor of elements, in the memory that the type requires.
  absl::Status AllocateElements(tensorflow::OpKernelContext* context, const tensorflow::TensorShape& shape,
                                tensorflow::Tensor** output) const;
  // Merges the shapes of all set elements into `shape`.
  static absl::Status MergeShapes(const std::vector<const tensorflow::Tensor*>& elements,
                                  tensorflow::PartialTensorShape* shape);
  // Fills `output` with the elements one after another. An unset element becomes zeros.
  static absl::Status Join(const ElementMemory& memory, const std::vector<const tensorflow::Tensor*>& elements,
                           int64_t unset_elements_size, tensorflow::Tensor* output);
  // Returns a copy of row `row` of `tensor`.
  static absl::StatusOr<tensorflow::Tensor> CopyRow(const ElementMemory& memory, const tensorflow::Tensor& tensor,
                                                    int64_t row);

 private:
  tensorflow::DataType element_dtype_ = tensorflow::DT_INVALID;
};

inline bool IsSet(const tensorflow::Tensor& element) { return element.dtype() != tensorflow::DT_INVALID; }

// Registers a kernel class for an op on the HPU, both for element types in device memory and for int32.
// `host_arguments` are always in host memory; `element_argument` is in host memory for int32.
bool RegisterTensorListKernel(const char* op, std::initializer_list<const char*> host_arguments,
                              const char* element_argument,
                              tensorflow::OpKernel* (*create)(tensorflow::OpKernelConstruction*));

template <typename Kernel>
bool RegisterTensorListKernel(const char* op, std::initializer_list<const char*> host_arguments,
                              const char* element_argument) {
  return RegisterTensorListKernel(
      op, host_arguments, element_argument,
      [](tensorflow::OpKernelConstruction* construction) -> tensorflow::OpKernel* { return new Kernel(construction); });
}

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_TENSOR_LIST_KERNEL_H_
