// RandomOrder: the permutations that TensorFlow's CPU kernel of RandomShuffle draws.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/guarded_philox_random.h"

namespace hpu {

// Keeps the state of a kernel that shuffles: the same seeds give the same orders, as on the CPU. Thread safe.
class RandomOrder {
 public:
  // Seeds are the kernel's attributes.
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) { return generator_.Init(construction); }

  // Whether a tensor of this shape is its own shuffle, for which nothing is drawn.
  static bool IsTrivial(const tensorflow::TensorShape& shape) {
    return shape.num_elements() <= 1 || shape.dim_size(0) <= 1;
  }

  // Fills `order`, an int32 vector in host memory of at least two elements.
  void Draw(tensorflow::Tensor* order);

 private:
  tensorflow::GuardedPhiloxRandom generator_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_
