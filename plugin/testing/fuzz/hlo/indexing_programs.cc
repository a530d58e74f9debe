// Random programs of gathers, scatters, sorts and generators of random bits.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "plugin/testing/fuzz/hlo/random_program.h"

namespace hpu::fuzz {
namespace {

// Dimension numbers that gathers and scatters share.
struct Indexing {
  Dimensions operand;
  Dimensions window;         // sizes of a slice, by dimension of the operand
  Dimensions collapsed;      // dimensions of the operand that slices lack
  Dimensions index_map;      // for each component of an index: the dimension of the operand
  Dimensions indices;        // of the array of indices
  int64_t vector_dimension;  // dimension of the indices that holds one index
  Dimensions offset;         // dimensions of the slices in the result or in the updates
  Dimensions slices;         // of the result or of the updates
};

Indexing RandomIndexing(RandomChoice& random) {
  Indexing indexing;
  indexing.operand = random.Shape(1, 4);
  const auto rank = static_cast<int64_t>(indexing.operand.size());
  indexing.collapsed = random.Subset(rank, random.Between(0, rank));
  Dimensions offset_sizes;
  for (int64_t i = 0; i < rank; ++i) {
    const bool is_collapsed = std::binary_search(indexing.collapsed.begin(), indexing.collapsed.end(), i);
    const int64_t size = indexing.operand[i];
    indexing.window.push_back(is_collapsed ? 1 : random.OneIn(2) ? size : random.Between(1, size));
    if (!is_collapsed) offset_sizes.push_back(indexing.window.back());
  }
  indexing.index_map = random.Permutation(rank);
  indexing.index_map.resize(random.Between(1, rank));
  const Dimensions batch = random.OneIn(2) ? Dimensions{random.Between(1, 6)} : random.Shape(0, 2);
  const auto batch_rank = static_cast<int64_t>(batch.size());
  indexing.indices = batch;
  indexing.vector_dimension = random.Between(0, batch_rank);
  if (indexing.index_map.size() == 1 && random.OneIn(2)) {
    indexing.vector_dimension = batch_rank;  // an index is a scalar
  } else {
    indexing.indices.insert(indexing.indices.begin() + indexing.vector_dimension,
                            static_cast<int64_t>(indexing.index_map.size()));
  }
  const auto offset_rank = static_cast<int64_t>(offset_sizes.size());
  indexing.offset = random.Subset(batch_rank + offset_rank, offset_rank);
  size_t next_offset = 0, next_batch = 0;
  for (int64_t i = 0; i < batch_rank + offset_rank; ++i) {
    const bool is_offset = std::binary_search(indexing.offset.begin(), indexing.offset.end(), i);
    indexing.slices.push_back(is_offset ? offset_sizes[next_offset++] : batch[next_batch++]);
  }
  return indexing;
}

const ElementType& IndexType(RandomChoice& random) {
  return TypeNamed(random.Of(std::vector<const char*>{"s32", "s32", "s64", "u32", "u8"}));
}

}  // namespace

RandomProgram GatherProgram(RandomChoice& random) {
  const ElementType& type = random.Type();
  const Indexing indexing = RandomIndexing(random);
  ProgramText text;
  const std::string x = text.Argument(ShapeText(type, indexing.operand), Values::kEdges);
  const std::string indices = text.Argument(ShapeText(IndexType(random), indexing.indices), Values::kIndices);
  text.Add(
      ShapeText(type, indexing.slices),
      absl::StrCat("gather(", x, ", ", indices, "), offset_dims={", Join(indexing.offset), "}, collapsed_slice_dims={",
                   Join(indexing.collapsed), "}, start_index_map={", Join(indexing.index_map),
                   "}, index_vector_dim=", indexing.vector_dimension, ", slice_sizes={", Join(indexing.window), "}"));
  return text.Finish("gather", 0);
}

RandomProgram ScatterProgram(RandomChoice& random) {
  const ElementType& type = random.OneIn(2) ? TypeNamed("f32") : random.Type();
  const Indexing indexing = RandomIndexing(random);
  const bool is_boolean = type.type_class == TypeClass::kBoolean;
  const std::string combiner =
      is_boolean ? random.Of(std::vector<const char*>{"and", "or"})
                 : random.Of(std::vector<const char*>{"add", "add", "maximum", "minimum", "multiply"});
  ProgramText text;
  const std::string f = text.Combiner(type, combiner);
  const std::string x = text.Argument(ShapeText(type, indexing.operand), Values::kSmall);
  const std::string indices = text.Argument(ShapeText(IndexType(random), indexing.indices), Values::kIndices);
  const std::string updates = text.Argument(ShapeText(type, indexing.slices), Values::kSmall);
  text.Add(ShapeText(type, indexing.operand),
           absl::StrCat("scatter(", x, ", ", indices, ", ", updates, "), update_window_dims={", Join(indexing.offset),
                        "}, inserted_window_dims={", Join(indexing.collapsed), "}, scatter_dims_to_operand_dims={",
                        Join(indexing.index_map), "}, index_vector_dim=", indexing.vector_dimension, ", to_apply=", f));
  return text.Finish("scatter " + combiner, 4 * type.tolerance);
}

RandomProgram SortProgram(RandomChoice& random) {
  const ElementType& key = random.Type();
  const Dimensions dimensions = random.Shape(1, 5);
  const int64_t axis = random.Between(0, static_cast<int64_t>(dimensions.size()) - 1);
  const int64_t count = random.Between(1, 3);
  const bool is_float = key.type_class == TypeClass::kFloat;
  ProgramText text;
  std::vector<std::string> operands, shapes;
  std::string parameters;
  for (int64_t i = 0; i < count; ++i) {
    const ElementType& type = i == 0 ? key : random.Type();
    shapes.push_back(ShapeText(type, dimensions));
    operands.push_back(text.Argument(shapes.back(), Values::kEdges));
    absl::StrAppend(&parameters, "a", i, " = ", type.name, "[] parameter(", 2 * i, ")\nb", i, " = ", type.name,
                    "[] parameter(", 2 * i + 1, ")\n");
  }
  // Floats need the total order, because NaN is among them.
  text.AddComputation(absl::StrCat("less {\n", parameters, "ROOT r = pred[] compare(a0, b0), direction=",
                                   random.OneIn(2) ? "LT" : "GT", is_float ? ", type=TOTALORDER" : "", " }\n"));
  const std::string tuple = absl::StrCat("(", absl::StrJoin(shapes, ", "), ")");
  const std::string sorted = text.Add(count == 1 ? shapes.front() : tuple,
                                      absl::StrCat("sort(", absl::StrJoin(operands, ", "), "), dimensions={", axis,
                                                   "}, is_stable=true, to_apply=less"));
  if (count > 1) {
    // Adds a tuple of the single results as root, because a sort that is the root is lowered differently.
    for (int64_t i = 0; i < count; ++i) {
      operands[i] = text.Add(shapes[i], absl::StrCat("get-tuple-element(", sorted, "), index=", i));
    }
    text.Add(tuple, absl::StrCat("tuple(", absl::StrJoin(operands, ", "), ")"));
  }
  return text.Finish("sort", 0);
}

RandomProgram GeneratorProgram(RandomChoice& random) {
  const bool is_philox = random.OneIn(2);
  const std::string state = ShapeText(TypeNamed("u64"), {is_philox ? 3 : 2});
  const std::string bits = ShapeText(TypeNamed(random.OneIn(2) ? "u32" : "u64"), random.Shape(is_philox ? 0 : 1, 5));
  ProgramText text;
  const std::string argument = text.Argument(state, Values::kEdges);
  text.Add(absl::StrCat("(", state, ", ", bits, ")"),
           absl::StrCat("rng-bit-generator(", argument, "), algorithm=", is_philox ? "rng_philox" : "rng_three_fry"));
  return text.Finish("rng-bit-generator", 0);
}

}  // namespace hpu::fuzz
