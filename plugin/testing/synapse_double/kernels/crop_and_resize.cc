// crop_and_resize_fwd and _bwd, as TensorFlow's CropAndResize. Images are {C,W,H,N}, boxes {4,B}: y1, x1, y2, x2.
#include "plugin/backends/gaudi/synapse/params.h"
#include "plugin/testing/synapse_double/kernels/families.h"
#include "plugin/testing/synapse_double/kernels/indices.h"
#include "plugin/testing/synapse_double/kernels/interpolation.h"

namespace hpu::synapse_double {
namespace {

// The boxes of the crops, the image of each box, and the interpolation.
struct Crops {
  InterpolationMode mode;
  double extrapolation;
  DenseArray<double> boxes{{}};
  DenseArray<int64_t> images{{}};  // one for each box
};

// Inputs 1 and 2 are the boxes and their images.
bool ReadCrops(KernelContext* context, const Sizes& image, const Sizes& crops, Crops* read) {
  const auto params = context->params<synapse::ns_CropAndResizeKernel::Params>();
  if (!context->Require(params.mode <= 1, "mode ", params.mode, " is unknown")) return false;
  if (!context->Require(image.size() == 4 && crops.size() == 4 && image[0] == crops[0], "image ", TextOf(image),
                        ", crops ", TextOf(crops), ": expected rank 4 and common channels")) {
    return false;
  }
  if (!context->RequireSizes(context->input(1), {4, crops[3]}, "input 1")) return false;
  if (!context->RequireSizes(context->input(2), {crops[3]}, "input 2")) return false;
  read->mode = InterpolationMode{params.mode};
  read->extrapolation = params.extrapolationValue;
  read->boxes = Load<double>(context->input(1));
  return LoadIndices(context, 2, image[3], &read->images);
}

// Samples for position `at` of a crop that has `count` positions from `begin` to `end`; none outside the image.
WeightedSamples SamplesOfCrop(InterpolationMode mode, double begin, double end, int64_t at, int64_t count,
                              int64_t size) {
  const auto last = static_cast<double>(size - 1);
  double coordinate = (begin + end) / 2 * last;
  if (count > 1) {
    coordinate = begin * last + static_cast<double>(at) * (end - begin) * last / static_cast<double>(count - 1);
  }
  if (!(coordinate >= 0 && coordinate <= last)) return {};
  if (mode == InterpolationMode::kLinear) return LinearSamples(coordinate, size);
  return {{static_cast<int64_t>(std::round(coordinate)), 1}};
}

// Calls visit(position in the images, position in the crops, weight), and outside(position in the crops).
template <typename Visit, typename Outside>
void ForEachCropSample(const Crops& crops, const Sizes& image, const Sizes& sizes, const Visit& visit,
                       const Outside& outside) {
  const Sizes strides = DenseStrides(image);
  Sizes index(sizes.size());
  for (int64_t to = 0; to < ElementCount(sizes); ++to) {
    const int64_t box = index[3];
    const auto edge = [&](int64_t i) { return crops.boxes[4 * box + i]; };
    const WeightedSamples along_w = SamplesOfCrop(crops.mode, edge(1), edge(3), index[1], sizes[1], image[1]);
    const WeightedSamples along_h = SamplesOfCrop(crops.mode, edge(0), edge(2), index[2], sizes[2], image[2]);
    if (along_w.empty() || along_h.empty()) outside(to);
    for (const WeightedSample& w : along_w) {
      for (const WeightedSample& h : along_h) {
        visit(Dot({index[0], w.position, h.position, crops.images[box]}, strides), to, w.weight * h.weight);
      }
    }
    NextIndex(sizes, &index);
  }
}

// images, boxes, image of each box -> crops
void CropForward(KernelContext& context) {
  Crops crops;
  const Sizes& image = context.input(0).sizes;
  const Sizes& sizes = context.output(0).sizes;
  if (!ReadCrops(&context, image, sizes, &crops)) return;
  const DenseArray<double> x = Load<double>(context.input(0));
  DenseArray<double> y(sizes);
  ForEachCropSample(
      crops, image, sizes, [&](int64_t from, int64_t to, double weight) { y[to] += weight * x[from]; },
      [&](int64_t to) { y[to] = crops.extrapolation; });
  Store(y, context.output(0));
}

// dCrops, boxes, image of each box -> dImages
void CropBackward(KernelContext& context) {
  Crops crops;
  const Sizes& image = context.output(0).sizes;
  const Sizes& sizes = context.input(0).sizes;
  if (!ReadCrops(&context, image, sizes, &crops)) return;
  const DenseArray<double> dy = Load<double>(context.input(0));
  DenseArray<double> dx(image);
  ForEachCropSample(
      crops, image, sizes, [&](int64_t to, int64_t from, double weight) { dx[to] += weight * dy[from]; },
      [](int64_t) {});
  Store(dx, context.output(0));
}

}  // namespace

void AddCropAndResize(KernelRegistry* registry) {
  constexpr size_t kParams = sizeof(synapse::ns_CropAndResizeKernel::Params);
  registry->Add({"crop_and_resize_bwd", Suffix::kType, {3, 3}, {1, 1}, {kParams}, CropBackward});
  registry->Add({"crop_and_resize_fwd", Suffix::kType, {3, 3}, {1, 1}, {kParams}, CropForward});
}

}  // namespace hpu::synapse_double
