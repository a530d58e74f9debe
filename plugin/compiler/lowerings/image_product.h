#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_

#include "xla/client/xla_builder.h"

namespace hpu {

// Multiplies dimension 1 or 2 of images [batch, height, width, channels] by `weights` [to, from]: `from` lines become
// `to`. A gradient has `to` lines and is multiplied by the transposed weights, so it gets `from` lines.
xla::XlaOp WithDimension(xla::XlaOp weights, xla::XlaOp images, int dimension, bool is_gradient);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
