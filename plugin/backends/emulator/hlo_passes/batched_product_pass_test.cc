// Tests of batches of small matrix products against HLO's evaluator and XLA.
#include "plugin/backends/emulator/hlo_passes/batched_product_pass.h"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "plugin/backends/emulator/kernels/batched_product.h"
#include "plugin/testing/kernel_harness.h"
#include "plugin/testing/recipe_harness.h"
#include "xla/hlo/builder/xla_builder.h"

namespace hpu::emulator {
namespace batched_product_pass_test {

// An einsum; each dimension of the operands is a letter. Batch dimensions are in both operands and in `batch`.
// Contracted dimensions are in both operands, but not in `batch`.
xla::XlaComputation Product(const std::string& a, const std::string& b, const std::string& batch,
                            const std::map<char, int64_t>& sizes, xla::PrimitiveType type = xla::F32) {
  xla::XlaBuilder builder("product");
  const auto parameter = [&](int64_t number, const std::string& letters) {
    std::vector<int64_t> dims;
    for (const char letter : letters) dims.push_back(sizes.at(letter));
    return xla::Parameter(&builder, number, xla::ShapeUtil::MakeShape(type, dims), letters);
  };
  xla::DotDimensionNumbers numbers;
  for (const char letter : a) {
    const size_t in_b = b.find(letter);
    if (in_b == std::string::npos) continue;
    const bool is_batch = batch.find(letter) != std::string::npos;
    const auto place = static_cast<int64_t>(a.find(letter));
    is_batch ? numbers.add_lhs_batch_dimensions(place) : numbers.add_lhs_contracting_dimensions(place);
    is_batch ? numbers.add_rhs_batch_dimensions(in_b) : numbers.add_rhs_contracting_dimensions(in_b);
  }
  xla::Tuple(&builder, {xla::DotGeneral(parameter(0, a), parameter(1, b), numbers)});
  return builder.Build().value();
}

size_t Count(const xla::XlaComputation& computation) { return CountKernels(computation, "batched_product.1"); }

TEST(BatchedProductPass, RandomProducts) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    Dice dice(seed);
    const auto shuffled = [&dice](std::string letters) {
      for (size_t i = letters.size() - 1; i > 0; --i) std::swap(letters[i], letters[dice.Roll(0, i)]);
      return letters;
    };
    const auto size = [&dice] { return dice.Roll(0, 3) == 0 ? dice.Roll(4, 9) : dice.Roll(10, 70); };
    // Two batch dimensions (one may have one element), rows, columns and the contracted dimension.
    std::map<char, int64_t> sizes = {
        {'p', dice.Roll(8, 12)}, {'q', dice.Roll(1, 3)}, {'r', size()}, {'c', size()}, {'k', size()}};
    const xla::XlaComputation computation = Product(shuffled("pqrk"), shuffled("pqck"), "pq", sizes);
    SCOPED_TRACE(seed);
    const bool enough = sizes['p'] * sizes['q'] * sizes['r'] * sizes['c'] * sizes['k'] >= 1 << 13;
    ExpectSameWithKernels(computation, ArgumentsOf(computation), enough ? 1 : 0, 1e-5);
  }
}

TEST(BatchedProductPass, SplitsFewMatricesByRows) {
  for (const int64_t rows : {4, 15, 16, 17, 130, 257}) {
    const xla::XlaComputation computation = Product("brk", "bkc", "b", {{'b', 2}, {'r', rows}, {'k', 90}, {'c', 37}});
    SCOPED_TRACE(rows);
    ExpectSameAsEvaluator(computation, ArgumentsOf(computation), 1, 1e-5);
  }
}

// A sequential float32 sum of 30,000 products 0.1 * 0.1 has a relative error of 6e-5.
TEST(BatchedProductPass, LongSumsAreExact) {
  const xla::XlaComputation computation = Product("brk", "bkc", "b", {{'b', 3}, {'r', 4}, {'k', 30000}, {'c', 4}});
  const auto filled = [](std::vector<int64_t> dims) {
    xla::Literal literal(xla::ShapeUtil::MakeShape(xla::F32, dims));
    literal.PopulateWithValue(0.1f);
    return literal;
  };
  std::vector<xla::Literal> arguments;
  arguments.push_back(filled({3, 4, 30000}));
  arguments.push_back(filled({3, 30000, 4}));
  EXPECT_EQ(Count(computation), 1);
  const auto results = ElementsOf<float>(ResultOf(computation, arguments));
  ASSERT_EQ(results.size(), 3 * 4 * 4);
  for (const float value : results) EXPECT_NEAR(value, 300, 300 * 2e-6);
}

TEST(BatchedProductPass, MergesAdjacentDimensions) {
  const std::map<char, int64_t> sizes = {{'b', 6}, {'r', 5}, {'s', 4}, {'k', 7}, {'l', 8}, {'c', 9}, {'d', 3}};
  for (const auto& [a, b] : {std::pair{"brskl", "bcdkl"}, {"klbrs", "klbcd"}, {"rsbkl", "cdklb"}}) {
    const xla::XlaComputation computation = Product(a, b, "b", sizes);
    SCOPED_TRACE(a);
    EXPECT_EQ(Count(computation), 1);
    ExpectSameWithKernels(computation, ArgumentsOf(computation), 1, 1e-5);
  }
}

TEST(BatchedProductPass, OfOneElement) {
  const std::vector<float> a = {3}, b = {-0.5f};
  const BatchedProduct product{1, 1, 1, 1, 1, 1, 1, {{1, 1, 1}}};
  const auto result = ElementsOf<float>(RunKernel(product.Spec(), {BytesOf(a), BytesOf(b)}, sizeof(float)));
  EXPECT_EQ(result, std::vector<float>{-1.5f});
}

TEST(BatchedProductPass, LeavesUnsupportedUnchanged) {
  const auto count = [](const char* a, const char* b, const std::map<char, int64_t>& sizes,
                        xla::PrimitiveType type = xla::F32) { return Count(Product(a, b, "b", sizes, type)); };
  EXPECT_EQ(count("brk", "bkc", {{'b', 16}, {'r', 16}, {'k', 16}, {'c', 16}}), 1);
  EXPECT_EQ(count("brk", "bkc", {{'b', 16}, {'r', 16}, {'k', 16}, {'c', 16}}, xla::F16), 0) << "half precision";
  EXPECT_EQ(count("brk", "bkc", {{'b', 1}, {'r', 64}, {'k', 64}, {'c', 64}}), 0) << "one product";
  EXPECT_EQ(count("brk", "bkc", {{'b', 4}, {'r', 8}, {'k', 8}, {'c', 8}}), 0) << "small products";
  EXPECT_EQ(count("brk", "bkc", {{'b', 64}, {'r', 1}, {'k', 64}, {'c', 64}}), 0) << "vectors";
  EXPECT_EQ(count("brk", "bkc", {{'b', 2}, {'r', 512}, {'k', 512}, {'c', 512}}), 0) << "large matrices";
  EXPECT_EQ(count("brk", "bkc", {{'b', 16}, {'r', 16}, {'k', 0}, {'c', 16}}), 0) << "no elements";
  EXPECT_EQ(count("brsk", "bkc", {{'b', 16}, {'r', 16}, {'s', 16}, {'k', 16}, {'c', 16}}), 1);
  EXPECT_EQ(count("rbsk", "bkc", {{'b', 16}, {'r', 16}, {'s', 16}, {'k', 16}, {'c', 16}}), 0) << "row dimensions apart";
  EXPECT_EQ(count("bkrl", "bklc", {{'b', 16}, {'r', 16}, {'k', 4}, {'l', 4}, {'c', 16}}), 0)
      << "contracted dimensions apart";
}

}  // namespace batched_product_pass_test
}  // namespace hpu::emulator
