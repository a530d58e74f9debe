#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_

#include "xla/client/xla_builder.h"

namespace hpu {

// Images [batch, height, width, channels] with `weights` [to, from] multiplied by their dimension 1 or 2, of which
// `from` become `to` lines; by the weights transposed in a gradient, which has `to` lines and gets `from`.
xla::XlaOp WithDimension(xla::XlaOp weights, xla::XlaOp images, int dimension, bool is_gradient);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
