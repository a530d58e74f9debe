// Choice between TensorFlow's oneDNN kernels and its plain kernels.
#ifndef HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
#define HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_

#include <string>

namespace hpu::emulator {

// True if TensorFlow enables oneDNN. Also true on processors with AVX-512, unless TF_ENABLE_ONEDNN_OPTS is false. By
// default, TensorFlow disables oneDNN on processors without VNNI, although a step of ResNet-50 takes twice as long
// without oneDNN. Thread safe.
bool IsOneDnnOn();

// True if oneDNN is on and has a kernel of the op for the type, which is bfloat16 or float32. False for bfloat16 on
// processors without bfloat16 instructions, where oneDNN takes two to three times as long as for float32. Thread safe.
bool UsesOneDnn(const std::string& op, bool bfloat16);

// For tests: while an object of this class exists, UsesOneDnn assumes that the processor has bfloat16 instructions.
// With AVX-512, oneDNN computes the same results without these instructions. Not thread safe: no other thread may
// compile.
class PretendedBfloat16Instructions {
 public:
  PretendedBfloat16Instructions();
  ~PretendedBfloat16Instructions();
  PretendedBfloat16Instructions(const PretendedBfloat16Instructions&) = delete;
  PretendedBfloat16Instructions& operator=(const PretendedBfloat16Instructions&) = delete;
};

}  // namespace hpu::emulator

#endif  // HPU_PLUGIN_BACKENDS_EMULATOR_KERNELS_ONE_DNN_H_
