// HPU kernels for types that neither an op's lowering nor TensorFlow's DEVICE_DEFAULT kernels support.
#include <memory>
#include <utility>
#include <vector>

#include "plugin/tensorflow/device/hpu_device.h"
#include "plugin/tensorflow/kernels/eager/kernel_registration.h"
#include "tensorflow/core/framework/kernel_def.pb.h"

namespace hpu {
namespace {

using tensorflow::DataType;

void Register(const char* op, const char* attribute, const std::vector<DataType>& types) {
  auto kernel = std::make_unique<tensorflow::KernelDef>();
  kernel->set_op(op);
  kernel->set_device_type(kDeviceType);
  Constrain(kernel.get(), attribute, types);
  RegisterEagerKernel(std::move(kernel));
}

[[maybe_unused]] const bool types_registered = [] {
  // TensorFlow's kernels that only move tensors do not support float8.
  const std::vector<DataType> float8 = {tensorflow::DT_FLOAT8_E5M2, tensorflow::DT_FLOAT8_E4M3FN};
  Register("Const", "dtype", float8);
  for (const char* op : {"EnsureShape", "Identity", "PreventGradient", "Squeeze", "StopGradient"}) {
    Register(op, "T", float8);
  }
  // These ops run on their CPU kernels, because XLA decomposes only real matrices.
  const std::vector<DataType> complex = {tensorflow::DT_COMPLEX64, tensorflow::DT_COMPLEX128};
  for (const char* op : {"LogMatrixDeterminant", "MatrixDeterminant", "MatrixInverse", "MatrixSolve", "Qr",
                         "SelfAdjointEigV2", "Svd", "TridiagonalSolve"}) {
    Register(op, "T", complex);
  }
  return true;
}();

}  // namespace
}  // namespace hpu
