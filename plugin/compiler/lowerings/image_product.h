// Product of images with a weight matrix along one dimension.
#ifndef HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
#define HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_

#include "xla/hlo/builder/xla_builder.h"

namespace hpu {

// Multiplies dimension 1 or 2 of images [batch, height, width, channels] by `weights` [to, from]: the dimension's size
// changes from `from` to `to`. With `is_gradient`, multiplies by the transposed weights: the size changes from `to` to
// `from`.
xla::XlaOp MultiplyDimension(xla::XlaOp weights, xla::XlaOp images, int dimension, bool is_gradient);

}  // namespace hpu

#endif  // HPU_PLUGIN_COMPILER_LOWERINGS_IMAGE_PRODUCT_H_
