#include "plugin/backends/emulator/kernels/fourier_transform.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "plugin/backends/emulator/kernels/tensorflow_kernel.h"

namespace hpu::emulator {
namespace {

using Kind = FourierTransform::Kind;

constexpr char kFourierTransformName[] = "fourier_transform.1";

absl::StatusOr<FourierTransform> ParseFourierTransform(absl::Span<const int64_t> parameters) {
  if (parameters.size() < 4 || parameters.size() > 6 || parameters[0] < 0 || parameters[0] > 3 ||
      parameters[1] >> 1 != 0 || *std::min_element(parameters.begin() + 2, parameters.end()) <= 0) {
    return absl::InvalidArgumentError(
        "expected kind (0: forward, 1: inverse, 2: from real, 3: to real), of_doubles (0 or 1), batch > 0, and 1 to 3 "
        "positive lengths");
  }
  return FourierTransform{
      static_cast<Kind>(parameters[0]), parameters[1] != 0, parameters[2], {parameters.begin() + 3, parameters.end()}};
}

// Name of the TensorFlow op, for example RFFT2D or IFFT.
std::string TransformOpOf(const FourierTransform& transform) {
  const size_t rank = transform.lengths.size();
  const bool real = transform.kind == Kind::kFromReal || transform.kind == Kind::kToReal;
  const bool inverse = transform.kind == Kind::kInverse || transform.kind == Kind::kToReal;
  return absl::StrCat(inverse ? "I" : "", real ? "R" : "", "FFT", rank == 1 ? "" : absl::StrCat(rank, "D"));
}

absl::StatusOr<std::unique_ptr<const Kernel>> MakeFourierTransform(absl::Span<const int64_t> parameters) {
  absl::StatusOr<FourierTransform> parsed = ParseFourierTransform(parameters);
  if (!parsed.ok()) return parsed.status();
  const auto real = parsed->of_doubles ? tensorflow::DT_DOUBLE : tensorflow::DT_FLOAT;
  const auto complex = parsed->of_doubles ? tensorflow::DT_COMPLEX128 : tensorflow::DT_COMPLEX64;
  std::vector<int64_t> whole = {parsed->batch};
  whole.insert(whole.end(), parsed->lengths.begin(), parsed->lengths.end());
  std::vector<int64_t> half = whole;
  half.back() = half.back() / 2 + 1;

  tensorflow::NodeDef node;
  node.set_op(TransformOpOf(*parsed));
  (*node.mutable_attr())["Tcomplex"].set_type(complex);
  if (parsed->kind == Kind::kForward || parsed->kind == Kind::kInverse) {
    return TensorFlowKernel::Make(std::move(node), {TensorFlowKernel::Operand(0, complex, whole)}, complex, whole);
  }
  (*node.mutable_attr())["Treal"].set_type(real);
  const bool from_real = parsed->kind == Kind::kFromReal;
  std::vector<TensorFlowKernel::Input> inputs = {
      TensorFlowKernel::Operand(0, from_real ? real : complex, from_real ? whole : half),
      TensorFlowKernel::Constant(parsed->lengths)};
  return TensorFlowKernel::Make(std::move(node), std::move(inputs), from_real ? complex : real,
                                from_real ? half : whole);
}

const bool fourier_transform_registered = RegisterKernel(kFourierTransformName, MakeFourierTransform);

}  // namespace

KernelSpec FourierTransform::Spec() const {
  KernelSpec spec{kFourierTransformName, {static_cast<int64_t>(kind), of_doubles, batch}};
  spec.parameters.insert(spec.parameters.end(), lengths.begin(), lengths.end());
  return spec;
}

}  // namespace hpu::emulator
