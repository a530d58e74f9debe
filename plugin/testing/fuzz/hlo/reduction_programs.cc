// Random programs of reductions: reduce, reduce-window, select-and-scatter, batch normalization.
#include <algorithm>
#include <cstdint>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/testing/fuzz/hlo/random_program.h"

namespace hpu::fuzz {
namespace {

std::string RandomCombiner(const ElementType& type, RandomChoice& random) {
  switch (type.type_class) {
    case TypeClass::kFloat:
      return random.Of(std::vector<const char*>{"add", "add", "maximum", "minimum", "multiply"});
    case TypeClass::kBoolean:
      return random.Of(std::vector<const char*>{"and", "or"});
    default:
      return random.Of(std::vector<const char*>{"add", "maximum", "minimum", "multiply", "and", "or", "xor"});
  }
}

// HLO text of the combiner's identity, which HLO requires as the initial value of a reduction.
std::string IdentityText(const ElementType& type, const std::string& combiner) {
  const bool is_float = type.type_class == TypeClass::kFloat;
  const bool is_unsigned = type.type_class == TypeClass::kUnsigned;
  if (type.type_class == TypeClass::kBoolean) return combiner == "and" ? "true" : "false";
  if (combiner == "multiply") return "1";
  if (combiner == "and") return is_unsigned ? absl::StrCat(~uint64_t{0} >> (64 - type.bits)) : "-1";
  if (combiner == "maximum") {
    if (is_float) return "-inf";
    return is_unsigned ? "0" : absl::StrCat(std::numeric_limits<int64_t>::min() >> (64 - type.bits));
  }
  if (combiner == "minimum") {
    if (is_float) return "inf";
    return is_unsigned ? absl::StrCat(~uint64_t{0} >> (64 - type.bits))
                       : absl::StrCat(std::numeric_limits<int64_t>::max() >> (64 - type.bits));
  }
  return "0";
}

struct WindowDimension {
  int64_t input, size, stride, low, high, dilation, output;
};

// A window that covers at least one element. `max_size`: of the window. `is_dense`: without dilation.
WindowDimension RandomWindow(int64_t input, int64_t max_size, bool is_dense, RandomChoice& random) {
  for (;;) {
    WindowDimension w;
    w.input = input;
    w.size = random.Between(1, max_size);
    w.stride = random.Between(1, 3);
    w.low = random.Between(0, w.size - 1);
    w.high = random.Between(0, w.size - 1);
    w.dilation = is_dense || random.OneIn(2) ? 1 : random.Between(1, 2);
    const int64_t covered = (w.size - 1) * w.dilation + 1;
    if (input + w.low + w.high < covered) continue;
    w.output = (input + w.low + w.high - covered) / w.stride + 1;
    return w;
  }
}

std::string ReductionWindowText(const std::vector<WindowDimension>& window) {
  const auto joined = [&](const auto& text) {
    return absl::StrJoin(window, "x",
                         [&](std::string* out, const WindowDimension& w) { absl::StrAppend(out, text(w)); });
  };
  return absl::StrCat("window={size=", joined([](const WindowDimension& w) { return absl::StrCat(w.size); }),
                      " stride=", joined([](const WindowDimension& w) { return absl::StrCat(w.stride); }),
                      " pad=", joined([](const WindowDimension& w) { return absl::StrCat(w.low, "_", w.high); }),
                      " rhs_dilate=", joined([](const WindowDimension& w) { return absl::StrCat(w.dilation); }), "}");
}

// Windows over an array, with their results' dimensions.
struct Windows {
  Dimensions input;
  Dimensions output;
  std::vector<WindowDimension> window;
};

Windows RandomWindows(int64_t max_rank, bool is_dense, RandomChoice& random) {
  Windows windows;
  windows.input = random.Shape(1, max_rank);
  for (const int64_t size : windows.input) {
    windows.window.push_back(
        RandomWindow(size, random.OneIn(3) ? 1 : std::min<int64_t>(3, size + 1), is_dense, random));
    windows.output.push_back(windows.window.back().output);
  }
  return windows;
}

}  // namespace

RandomProgram ReduceProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const std::string combiner = RandomCombiner(type, random);
  const Dimensions dimensions = random.ShapeOrEmpty(1, kMaxRank);
  const auto rank = static_cast<int64_t>(dimensions.size());
  const Dimensions reduced = random.Subset(rank, random.Between(random.OneIn(10) ? 0 : 1, rank));
  Dimensions result;
  for (int64_t i = 0; i < rank; ++i) {
    if (!std::binary_search(reduced.begin(), reduced.end(), i)) result.push_back(dimensions[i]);
  }
  const bool is_exact = combiner == "maximum" || combiner == "minimum";
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, dimensions), is_exact ? Values::kEdges : Values::kSmall);
  const std::string init = text.Add(ShapeText(type, {}), absl::StrCat("constant(", IdentityText(type, combiner), ")"));
  const std::string f = text.Combiner(type, combiner);
  text.Add(ShapeText(type, result),
           absl::StrCat("reduce(", x, ", ", init, "), dimensions={", Join(reduced), "}, to_apply=", f));
  // The evaluator rounds each partial result.
  return text.Finish("reduce " + combiner, is_exact ? 0 : 4 * type.tolerance);
}

RandomProgram ReduceWindowProgram(RandomChoice& random) {
  const ElementType& type = random.OneIn(2) ? TypeNamed("f32") : random.Type();
  const std::string combiner = RandomCombiner(type, random);
  const bool is_exact = combiner == "maximum" || combiner == "minimum";
  Windows windows = RandomWindows(5, /*is_dense=*/false, random);
  if (random.OneIn(4)) {
    // A cumulative operation.
    const int64_t i = random.Between(0, static_cast<int64_t>(windows.input.size()) - 1);
    const int64_t size = windows.input[i];
    const bool is_reverse = random.OneIn(2);
    windows.window[i] = {size, size, 1, is_reverse ? 0 : size - 1, is_reverse ? size - 1 : 0, 1, size};
    windows.output[i] = size;
  }
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, windows.input), is_exact ? Values::kEdges : Values::kSmall);
  // The lowering accepts any initial value.
  const std::string init =
      random.OneIn(3) ? text.Argument(ShapeText(type, {}), Values::kSmall)
                      : text.Add(ShapeText(type, {}), absl::StrCat("constant(", IdentityText(type, combiner), ")"));
  const std::string f = text.Combiner(type, combiner);
  text.Add(ShapeText(type, windows.output),
           absl::StrCat("reduce-window(", x, ", ", init, "), ", ReductionWindowText(windows.window), ", to_apply=", f));
  return text.Finish("reduce-window " + combiner, is_exact ? 0 : 4 * type.tolerance);
}

RandomProgram SelectAndScatterProgram(RandomChoice& random) {
  const ElementType& type = random.OneIn(2) ? TypeNamed("f32") : TypeNamed("bf16");
  const Windows windows = RandomWindows(5, /*is_dense=*/true, random);
  const std::string direction = random.Of(std::vector<const char*>{"GE", "GE", "GT", "LE", "LT"});
  ProgramText text;
  text.AddComputation(absl::StrCat("s { a = ", type.name, "[] parameter(0)\n b = ", type.name,
                                   "[] parameter(1)\n ROOT r = pred[] compare(a, b), direction=", direction, " }\n"));
  const std::string f = text.Combiner(type, "add");
  const std::string x = text.Argument(ShapeText(type, windows.input), Values::kSmall);
  const std::string source = text.Argument(ShapeText(type, windows.output), Values::kSmall);
  const std::string init = text.Add(ShapeText(type, {}), "constant(0)");
  text.Add(ShapeText(type, windows.input),
           absl::StrCat("select-and-scatter(", x, ", ", source, ", ", init, "), ", ReductionWindowText(windows.window),
                        ", select=s, scatter=", f));
  return text.Finish("select-and-scatter " + direction, 2 * type.tolerance);
}

RandomProgram BatchNormProgram(RandomChoice& random) {
  const ElementType& type = TypeNamed("f32");
  const Dimensions dimensions = random.Shape(2, 5);
  const int64_t feature = random.Between(0, static_cast<int64_t>(dimensions.size()) - 1);
  const std::string shape = ShapeText(type, dimensions);
  const std::string vector = ShapeText(type, {dimensions[feature]});
  const std::string attributes = absl::StrCat("), epsilon=0.01, feature_index=", feature);
  const std::string results = absl::StrCat("(", shape, ", ", vector, ", ", vector, ")");
  ProgramText text;
  const std::string x = text.Argument(shape, Values::kSmall);
  const std::string scale = text.Argument(vector, Values::kSmall);
  switch (random.Between(0, 2)) {
    case 0: {
      const std::string offset = text.Argument(vector, Values::kSmall);
      text.Add(results, absl::StrCat("batch-norm-training(", x, ", ", scale, ", ", offset, attributes));
      return text.Finish("batch-norm-training", 1e-4);
    }
    case 1: {
      const std::string offset = text.Argument(vector, Values::kSmall);
      const std::string mean = text.Argument(vector, Values::kSmall);
      const std::string variance = text.Argument(vector, Values::kPositive);
      text.Add(shape, absl::StrCat("batch-norm-inference(", x, ", ", scale, ", ", offset, ", ", mean, ", ", variance,
                                   attributes));
      return text.Finish("batch-norm-inference", 1e-4);
    }
    default: {
      const std::string mean = text.Argument(vector, Values::kSmall);
      const std::string variance = text.Argument(vector, Values::kPositive);
      const std::string gradient = text.Argument(shape, Values::kSmall);
      text.Add(results, absl::StrCat("batch-norm-grad(", x, ", ", scale, ", ", mean, ", ", variance, ", ", gradient,
                                     attributes));
      return text.Finish("batch-norm-grad", 1e-4);
    }
  }
}

}  // namespace hpu::fuzz
