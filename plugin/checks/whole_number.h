// Integers in TensorFlow tensors.
#ifndef HPU_PLUGIN_CHECKS_WHOLE_NUMBER_H_
#define HPU_PLUGIN_CHECKS_WHOLE_NUMBER_H_

#include <cstdint>

#include "tensorflow/core/framework/tensor.h"

namespace hpu::checks {

// The first element of an int16, int32 or int64 tensor.
inline int64_t WholeNumber(const tensorflow::Tensor& value) {
  switch (value.dtype()) {
    case tensorflow::DT_INT16:
      return value.flat<int16_t>()(0);
    case tensorflow::DT_INT32:
      return value.flat<int32_t>()(0);
    default:
      return value.flat<int64_t>()(0);
  }
}

}  // namespace hpu::checks

#endif  // HPU_PLUGIN_CHECKS_WHOLE_NUMBER_H_
