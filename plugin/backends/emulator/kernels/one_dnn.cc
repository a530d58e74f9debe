#include "plugin/backends/emulator/kernels/one_dnn.h"

#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {

bool UsesOneDnn(const std::string& op, bool bfloat16) {
  return NativeNode(op, bfloat16 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT).op() != op;
}

}  // namespace hpu::emulator
