#include "plugin/compiler/lowerings/image_product.h"

#include <string_view>

#include "xla/hlo/builder/lib/matrix.h"
#include "xla/xla_data.pb.h"

namespace hpu {

xla::XlaOp MultiplyDimension(xla::XlaOp weights, xla::XlaOp images, int dimension, bool is_gradient) {
  const std::string_view equation = dimension == 1 ? (is_gradient ? "ho,bhwc->bowc" : "oh,bhwc->bowc")
                                                   : (is_gradient ? "wo,bhwc->bhoc" : "ow,bhwc->bhoc");
  return xla::Einsum(weights, images, equation, xla::PrecisionConfig::HIGHEST);
}

}  // namespace hpu
