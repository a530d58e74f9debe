// Shapes of pooling over images {C,W,H,N}.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/graph/shapes/shape_check.h"

namespace hpu::synapse_double {
namespace {

// Sizes of a result with one element for each window of an image.
bool WindowsOf(ShapeCheck& check, const Sizes& image, Sizes* windows) {
  const auto p = check.params<synapse::ns_SpatialReduction::Params>();
  if (!check.Require(image.size() == 4, "image ", TextOf(image), ": expected rank 4")) return false;
  struct Side {
    int64_t pads, kernel, stride, dilation, pad_before;
  };
  const Side sides[] = {{int64_t{p.pad_w_begin} + p.pad_w_end, p.kernel_w, p.stride_w, p.dilation_w, p.pad_w_begin},
                        {int64_t{p.pad_h_begin} + p.pad_h_end, p.kernel_h, p.stride_h, p.dilation_h, p.pad_h_begin}};
  *windows = image;
  for (int i = 0; i < 2; ++i) {
    const auto& [pads, kernel, stride, dilation, pad_before] = sides[i];
    int64_t& size = (*windows)[1 + i];
    if (!check.Require(kernel > 0 && stride > 0 && dilation > 0, "kernel ", kernel, ", stride ", stride, ", dilation ",
                       dilation)) {
      return false;
    }
    if (!check.Require(pad_before >= 0 && pads >= pad_before, "padding ", pad_before, " and ", pads - pad_before,
                       ": negative")) {
      return false;
    }
    const int64_t room = size + pads - ((kernel - 1) * dilation + 1);
    const int64_t image_size = size;
    switch (p.pooling_convention) {
      case synapse::POOLING_CONVENTION_VALID:
        size = room < 0 ? 0 : room / stride + 1;
        break;
      case synapse::POOLING_CONVENTION_SAME:
        size = (size + stride - 1) / stride;
        break;
      case synapse::POOLING_CONVENTION_FULL:
      case synapse::POOLING_CONVENTION_FULL_PYTORCH:
        size = room < 0 ? 0 : (room + stride - 1) / stride + 1;
        // PyTorch drops a window that begins after the end of the image.
        if (p.pooling_convention == synapse::POOLING_CONVENTION_FULL_PYTORCH &&
            (size - 1) * stride >= image_size + pad_before) {
          --size;
        }
        break;
      default:
        check.Require(false, "unknown pooling_convention ", uint32_t{p.pooling_convention});
        return false;
    }
  }
  return true;
}

// Indices are u8 for f32 and i16 for types of 2 bytes.
void RequireIndexType(ShapeCheck& check, const Tensor& image, const Tensor& indices) {
  const synapse::synDataType expected =
      ElementBytes(image.type) == 2 ? synapse::syn_type_int16 : synapse::syn_type_uint8;
  check.Require(indices.type == expected, "indices ", indices.Describe(), " of ", TypeText(image.type), ": expected ",
                TypeText(expected));
}

// x -> indices, y
void MaxPool(ShapeCheck& check) {
  Sizes windows;
  if (!WindowsOf(check, check.in(0), &windows)) return;
  RequireIndexType(check, check.input(0), check.output(0));
  check.RequireOutput(0, windows);
  check.RequireOutput(1, windows);
}

// dY, indices -> dX
void MaxPoolGradient(ShapeCheck& check) {
  Sizes windows;
  if (!WindowsOf(check, check.out(0), &windows)) return;
  RequireIndexType(check, check.input(0), check.input(1));
  check.RequireInput(0, windows);
  check.RequireInput(1, windows);
}

void AveragePool(ShapeCheck& check) {
  Sizes windows;
  if (WindowsOf(check, check.in(0), &windows)) check.RequireOutput(0, windows);
}

// dY[, x] -> dX
void AveragePoolGradient(ShapeCheck& check) {
  Sizes windows;
  if (WindowsOf(check, check.out(0), &windows)) check.RequireInput(0, windows);
  check.RequireInput(1, check.out(0));
}

}  // namespace

ShapeRules PoolingShapes() {
  return {{"maxpool_2d_fwd", MaxPool},
          {"maxpool_2d_bwd", MaxPoolGradient},
          {"avg_pool_2d_fwd", AveragePool},
          {"avg_pool_2d_bwd", AveragePoolGradient}};
}

}  // namespace hpu::synapse_double
