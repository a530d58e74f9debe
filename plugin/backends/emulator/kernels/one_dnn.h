// Choice between TensorFlow's oneDNN kernels and its plain ones.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_

#include <string>

namespace hpu::emulator {

// True where TensorFlow uses oneDNN itself, and on all processors with AVX-512 unless TF_ENABLE_ONEDNN_OPTS is set.
// TensorFlow leaves oneDNN off without VNNI, although a step of ResNet-50 takes twice as long then. Thread safe.
bool IsOneDnnOn();

// True if oneDNN is on and has a kernel of the op that is worth calling, for float32 or for bfloat16. Without
// instructions for bfloat16, oneDNN takes two to three times as long as for float32. Thread safe.
bool UsesOneDnn(const std::string& op, bool bfloat16);

// For tests: while it exists, the processor seems to have instructions for bfloat16. With AVX-512, oneDNN computes the
// same results without them. Not thread safe: no other thread may compile.
class PretendedBfloat16Instructions {
 public:
  PretendedBfloat16Instructions();
  ~PretendedBfloat16Instructions();
  PretendedBfloat16Instructions(const PretendedBfloat16Instructions&) = delete;
  PretendedBfloat16Instructions& operator=(const PretendedBfloat16Instructions&) = delete;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
