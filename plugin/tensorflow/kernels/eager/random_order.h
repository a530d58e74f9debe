// RandomOrder: the permutations that TensorFlow's CPU kernel of RandomShuffle computes.
#ifndef HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_
#define HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_

#include "absl/status/status.h"
#include "tensorflow/core/framework/op_kernel.h"
#include "tensorflow/core/framework/tensor.h"
#include "tensorflow/core/framework/tensor_shape.h"
#include "tensorflow/core/util/guarded_philox_random.h"

namespace hpu {

// Keeps the random state of a shuffling kernel. Equal nonzero seeds produce the CPU's permutations. Thread safe.
class RandomOrder {
 public:
  // Reads the seeds from the kernel's attributes.
  absl::Status Initialize(tensorflow::OpKernelConstruction* construction) { return generator_.Init(construction); }

  // Whether shuffling cannot change a tensor of this shape, so that no random numbers are needed.
  static bool IsTrivial(const tensorflow::TensorShape& shape) {
    return shape.num_elements() <= 1 || shape.dim_size(0) <= 1;
  }

  // Fills `order` with a random permutation of 0 ... n-1. `order` is an int32 vector of n >= 2 elements in host memory.
  void Draw(tensorflow::Tensor* order);

 private:
  tensorflow::GuardedPhiloxRandom generator_;
};

}  // namespace hpu

#endif  // HPU_PLUGIN_TENSORFLOW_KERNELS_EAGER_RANDOM_ORDER_H_
