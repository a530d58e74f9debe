// HPU kernels of int32 variables, whose values are in host memory like every int32 input and output of an op.
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "plugin/tensorflow/device/hpu_device.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/resource_var.h"
#include "tensorflow/core/kernels/resource_variable_ops.h"

namespace hpu {
namespace {

using tensorflow::OpKernelContext;
using tensorflow::Tensor;
using tensorflow::Var;

// TensorFlow's AssignVariableOp supports only values in device memory. The variable may share the value's buffer,
// because a variable is updated in place only if its buffer has a single owner. The errors are TensorFlow's own texts.
class AssignHostVariable : public tensorflow::OpKernel {
 public:
  explicit AssignHostVariable(tensorflow::OpKernelConstruction* construction) : OpKernel(construction) {
    OP_REQUIRES_OK(construction, construction->GetAttr("dtype", &dtype_));
    if (construction->HasAttr("validate_shape")) {
      OP_REQUIRES_OK(construction, construction->GetAttr("validate_shape", &validate_shape_));
    }
  }

  void Compute(OpKernelContext* context) override {
    const Tensor& value = context->input(1);
    OP_REQUIRES(context, dtype_ == value.dtype(),
                absl::InvalidArgumentError(absl::StrCat("Variable and value dtypes don't match; respectively, ",
                                                        tensorflow::DataTypeString(dtype_), " and ",
                                                        tensorflow::DataTypeString(value.dtype()))));
    tensorflow::core::RefCountPtr<Var> variable;
    OP_REQUIRES_OK(context, tensorflow::LookupOrCreateResource<Var>(context, tensorflow::HandleFromInput(context, 0),
                                                                    &variable, [this](Var** created) {
                                                                      *created = new Var(dtype_);
                                                                      return absl::OkStatus();
                                                                    }));
    tensorflow::mutex_lock lock(*variable->mu());
    OP_REQUIRES_OK(context, Check(*variable, value));
    *variable->tensor() = value;
    variable->is_initialized = true;
  }

 private:
  absl::Status Check(Var& variable, const Tensor& value) const {
    const Tensor& current = *variable.tensor();
    if (current.dtype() != tensorflow::DT_INVALID && current.dtype() != dtype_) {
      return absl::InvalidArgumentError(absl::StrCat("Trying to assign variable with wrong dtype. Expected ",
                                                     tensorflow::DataTypeString(current.dtype()), " got ",
                                                     tensorflow::DataTypeString(dtype_)));
    }
    if (validate_shape_ && variable.is_initialized && !current.shape().IsSameSize(value.shape())) {
      return absl::InvalidArgumentError(
          absl::StrCat("Trying to assign to variable with tensor with wrong shape. Expected ",
                       current.shape().DebugString(), " got ", value.shape().DebugString()));
    }
    return absl::OkStatus();
  }

  tensorflow::DataType dtype_ = tensorflow::DT_INVALID;
  bool validate_shape_ = false;
};

REGISTER_KERNEL_BUILDER(Name("VarHandleOp").Device(kDeviceType).HostMemory("resource").TypeConstraint<int32_t>("dtype"),
                        tensorflow::VarHandleOp);
REGISTER_KERNEL_BUILDER(Name("ReadVariableOp")
                            .Device(kDeviceType)
                            .HostMemory("resource")
                            .HostMemory("value")
                            .TypeConstraint<int32_t>("dtype"),
                        tensorflow::ReadVariableOp);
REGISTER_KERNEL_BUILDER(Name("AssignVariableOp")
                            .Device(kDeviceType)
                            .HostMemory("resource")
                            .HostMemory("value")
                            .TypeConstraint<int32_t>("dtype"),
                        AssignHostVariable);

}  // namespace
}  // namespace hpu
