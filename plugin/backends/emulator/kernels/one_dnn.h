// Whether TensorFlow computes by oneDNN.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_

#include <string>

namespace hpu::emulator {

// True if TensorFlow runs the op, of float32 or of bfloat16, by oneDNN in this process: it is on
// (TF_ENABLE_ONEDNN_OPTS) and has a kernel for the type. Thread safe.
bool UsesOneDnn(const std::string& op, bool bfloat16);

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
