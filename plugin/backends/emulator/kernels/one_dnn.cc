#include "plugin/backends/emulator/kernels/one_dnn.h"

#include <cstdlib>

#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"
#include "plugin/backends/emulator/kernels/vectorize.h"
#include "tensorflow/core/util/util.h"

namespace hpu::emulator {

bool IsOneDnnOn() {
  static const bool on = tensorflow::IsMKLEnabled() || (std::getenv("TF_ENABLE_ONEDNN_OPTS") == nullptr && HasAvx512());
  return on;
}

bool UsesOneDnn(const std::string& op, bool bfloat16) {
  return NativeNode(op, bfloat16 ? tensorflow::DT_BFLOAT16 : tensorflow::DT_FLOAT).op() != op;
}

}  // namespace hpu::emulator
