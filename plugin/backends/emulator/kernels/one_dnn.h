// Whether TensorFlow's kernels that compute by oneDNN are called.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_

#include <string>

namespace hpu::emulator {

// Where TensorFlow itself calls them, and on all processors with AVX-512 unless TF_ENABLE_ONEDNN_OPTS is set:
// TensorFlow leaves them off without VNNI, where a step of ResNet-50 takes twice as long without them. Thread safe.
bool IsOneDnnOn();

// True if they are on and there is one of the op that is to be called, of float32 or of bfloat16: without instructions
// for bfloat16, oneDNN takes two to three times as long as for float32. Thread safe.
bool UsesOneDnn(const std::string& op, bool bfloat16);

// For tests: as if the processor had instructions for bfloat16, as long as this lives. With AVX-512 oneDNN computes the
// same without them. Not while other threads compile.
class PretendedBfloat16Instructions {
 public:
  PretendedBfloat16Instructions();
  ~PretendedBfloat16Instructions();
  PretendedBfloat16Instructions(const PretendedBfloat16Instructions&) = delete;
  PretendedBfloat16Instructions& operator=(const PretendedBfloat16Instructions&) = delete;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
