// C functions: recipes, their files, and their persistent tensors.
#include "plugin/testing/synapse_double/graph/recipe.h"

#include <algorithm>
#include <cstring>

#include "plugin/testing/synapse_double/c_api/exports.h"
#include "plugin/testing/synapse_double/graph/recipe_file.h"
#include "plugin/testing/synapse_double/runtime/guard.h"
#include "plugin/testing/synapse_double/runtime/process.h"

namespace hpu::synapse {

using synapse_double::Handles;
using synapse_double::Recipe;
using synapse_double::RecipeData;
using synapse_double::RecipeTensor;
using synapse_double::Refuse;
using synapse_double::Report;
using synapse_double::Rule;
using synapse_double::Text;

namespace {

synStatus CheckCount(uint32_t count, size_t available) {
  if (count <= available) return synSuccess;
  return Refuse(Rule::kArguments, synInvalidArgument,
                Text("count ", count, ": the recipe has ", available, " such tensors"));
}

}  // namespace

synStatus synRecipeSerialize(const synRecipeHandle recipe, const char* path) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(path);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  return Report(WriteRecipe(found->data(), path));
}

synStatus synRecipeDeSerialize(synRecipeHandle* recipe, const char* path) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(recipe);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(path);
  RecipeData data;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Report(synapse_double::ReadRecipe(path, &data)));
  *recipe = Handles::Get().Add<synRecipeHandle>(std::make_shared<Recipe>(std::move(data)));
  return synSuccess;
}

synStatus synRecipeDestroy(synRecipeHandle recipe) {
  SYNAPSE_DOUBLE_CALL();
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  if (found->is_in_flight()) {
    synapse_double::Abort(Rule::kInFlight, Text("recipe ", found->data().name, " is destroyed during its launch"));
  }
  Handles::Get().Remove(recipe);
  return synSuccess;
}

synStatus synWorkspaceGetSize(uint64_t* size, const synRecipeHandle recipe) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(size);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  *size = found->data().workspace_bytes;
  return synSuccess;
}

synStatus synTensorRetrievePersistentAmount(const synRecipeHandle recipe, uint32_t* count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  *count = static_cast<uint32_t>(found->data().launch_tensors.size());
  return synSuccess;
}

synStatus synTensorRetrieveNames(const synRecipeHandle recipe, char names[][ENQUEUE_TENSOR_NAME_MAX_SIZE],
                                 const uint32_t count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(names);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckCount(count, found->data().launch_tensors.size()));
  for (uint32_t i = 0; i < count; ++i) {
    std::strncpy(names[i], found->LaunchTensor(i).name.c_str(), ENQUEUE_TENSOR_NAME_MAX_SIZE - 1);
    names[i][ENQUEUE_TENSOR_NAME_MAX_SIZE - 1] = '\0';
  }
  return synSuccess;
}

// Names that the recipe lacks get kInvalidTensorId.
synStatus synTensorRetrieveIds(const synRecipeHandle recipe, const char** names, uint64_t* ids, const uint32_t count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(names);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(ids);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  for (uint32_t i = 0; i < count; ++i) {
    SYNAPSE_DOUBLE_REQUIRE_POINTER(names[i]);
    const int32_t tensor = found->LaunchTensorOfName(names[i]);
    ids[i] = tensor == synapse_double::kNoIndex ? kInvalidTensorId : found->IdOf(tensor);
  }
  return synSuccess;
}

// Ids of the external tensors, in the order in which nodes write them.
synStatus synTensorExtExtractExecutionOrder(const synRecipeHandle recipe, uint32_t count, uint64_t* ids) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(ids);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  std::vector<uint64_t> order;
  for (const auto& node : found->data().nodes) {
    for (const int32_t output : node.outputs) {
      if (output == synapse_double::kNoIndex || !found->data().tensors[output].is_external) continue;
      order.push_back(found->IdOf(found->LaunchTensorOfName(found->data().tensors[output].name)));
    }
  }
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckCount(count, order.size()));
  std::copy_n(order.begin(), count, ids);
  return synSuccess;
}

#ifdef SYNAPSE_DOUBLE_1_5

// Returns 0 for a recipe's batch size, which the double does not know.
synStatus synRecipeGetAttribute(uint64_t* values, const synRecipeAttribute* attributes, const unsigned count,
                                const synRecipeHandle recipe) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(values);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(attributes);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case RECIPE_ATTRIBUTE_BATCH_SIZE:
        values[i] = 0;
        break;
      case RECIPE_ATTRIBUTE_WORKSPACE_SIZE:
        values[i] = found->data().workspace_bytes;
        break;
      default:
        return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown attribute ", uint32_t{attributes[i]}));
    }
  }
  return synSuccess;
}

#else

namespace {

struct RecipeSizes {
  uint64_t persistent_bytes = 0;
  uint64_t constant_bytes = 0;
  uint64_t external_count = 0;
};

RecipeSizes SizesOf(const RecipeData& data) {
  RecipeSizes sizes;
  for (const auto& section : data.sections)
    (section.is_constant ? sizes.constant_bytes : sizes.persistent_bytes) += section.bytes;
  for (const auto& tensor : data.tensors) sizes.external_count += tensor.is_external;
  return sizes;
}

synStatus FindSection(const Recipe& recipe, synSectionId section) {
  if (section < recipe.data().sections.size()) return synSuccess;
  return Refuse(Rule::kArguments, synInvalidArgument, Text("section id ", section, ": the recipe has no such section"));
}

synStatus Describe(const Recipe& recipe, synRetrievedLaunchTensorInfo* info) {
  const uint64_t id = info->tensorId;
  const int32_t index = recipe.LaunchTensorOfId(id);
  if (index == synapse_double::kNoIndex) {
    return Refuse(Rule::kArguments, synInvalidArgument,
                  Text("tensor id ", synapse_double::Hex(id), ": the recipe has no such tensor"));
  }
  const RecipeTensor& tensor = recipe.LaunchTensor(index);
  std::memset(info, 0, sizeof(*info));
  std::strncpy(info->tensorName, tensor.name.c_str(), sizeof(info->tensorName) - 1);
  info->tensorId = id;
  info->tensorType = tensor.kind;
  info->tensorDataType = tensor.type;
  info->tensorDims = static_cast<uint32_t>(tensor.sizes.size());
  for (size_t d = 0; d < tensor.sizes.size(); ++d) {
    info->tensorMaxSize[d] = info->tensorMinSize[d] = static_cast<uint64_t>(tensor.sizes[d]);
    info->tensorPermutation[d] = tensor.permutation.empty() ? static_cast<uint8_t>(d) : tensor.permutation[d];
  }
  info->tensorSectionId = static_cast<synSectionId>(tensor.section);
  info->tensorOffsetInSection = tensor.offset;
  info->isInput = tensor.is_input;
  return synSuccess;
}

}  // namespace

// HOST_MEM_SIZE counts constants and const sections, DEVICE_MEMORY_SIZE all device memory that a launch needs. The
// references name these attributes without a definition.
synStatus synRecipeGetAttribute(uint64_t* values, const synRecipeAttribute* attributes, const unsigned count,
                                const synRecipeHandle recipe) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(values);
  SYNAPSE_DOUBLE_REQUIRE_POINTER(attributes);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  const RecipeData& data = found->data();
  const RecipeSizes sizes = SizesOf(data);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case RECIPE_ATTRIBUTE_WORKSPACE_SIZE:
        values[i] = data.workspace_bytes;
        break;
      case RECIPE_ATTRIBUTE_NUM_PERSISTENT_TENSORS:
        values[i] = data.launch_tensors.size();
        break;
      case RECIPE_ATTRIBUTE_HOST_MEM_SIZE:
        values[i] = data.constants.size() + sizes.constant_bytes;
        break;
      case RECIPE_ATTRIBUTE_NUM_EXTERNAL_TENSORS:
        values[i] = sizes.external_count;
        break;
      case RECIPE_ATTRIBUTE_PERSISTENT_TENSORS_SIZE:
        values[i] = sizes.persistent_bytes;
        break;
      case RECIPE_ATTRIBUTE_CONST_SECTIONS_SIZE:
        values[i] = sizes.constant_bytes;
        break;
      case RECIPE_ATTRIBUTE_DEVICE_MEMORY_SIZE:
        values[i] = data.workspace_bytes + data.constants.size() + sizes.persistent_bytes + sizes.constant_bytes;
        break;
      default:
        return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown attribute ", uint32_t{attributes[i]}));
    }
  }
  return synSuccess;
}

synStatus synRecipeSectionGetProp(const synRecipeHandle recipe, const synSectionId section,
                                  const synSectionProp property, uint64_t* value) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(value);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(FindSection(*found, section));
  const auto& described = found->data().sections[section];
  switch (property) {
    case SECTION_SIZE:
      *value = described.bytes;
      return synSuccess;
    case IS_CONST:
      *value = described.is_constant;
      return synSuccess;
    case SECTION_DATA:
      *value = described.is_constant ? reinterpret_cast<uint64_t>(found->SectionData(section)) : 0;
      if (*value != 0) return synSuccess;
      return Refuse(Rule::kArguments, synInvalidArgument,
                    Text("section ", section, ": not const, or its host buffer was cleared"));
  }
  return Refuse(Rule::kArguments, synInvalidArgument, Text("unknown property ", uint32_t{property}));
}

synStatus synRecipeSectionHostBuffersClear(synRecipeHandle recipe, const synSectionId* sections, size_t count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(sections);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  for (size_t i = 0; i < count; ++i) {
    SYNAPSE_DOUBLE_RETURN_IF_ERROR(FindSection(*found, sections[i]));
    found->ClearSection(sections[i]);
  }
  return synSuccess;
}

synStatus synTensorRetrieveLaunchAmount(const synRecipeHandle recipe, uint32_t* count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(count);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  *count = static_cast<uint32_t>(found->data().launch_tensors.size());
  return synSuccess;
}

synStatus synTensorRetrieveLaunchIds(const synRecipeHandle recipe, uint64_t* ids, const uint32_t count) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(ids);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(CheckCount(count, found->data().launch_tensors.size()));
  for (uint32_t i = 0; i < count; ++i) ids[i] = found->IdOf(i);
  return synSuccess;
}

synStatus synTensorRetrieveLaunchInfoById(const synRecipeHandle recipe, const uint32_t count,
                                          synRetrievedLaunchTensorInfo* tensors) {
  SYNAPSE_DOUBLE_CALL();
  SYNAPSE_DOUBLE_REQUIRE_POINTER(tensors);
  std::shared_ptr<Recipe> found;
  SYNAPSE_DOUBLE_RETURN_IF_ERROR(Handles::Get().Find(recipe, &found));
  synapse_double::CheckArrayGuard(tensors, count, "tensors");
  for (uint32_t i = 0; i < count; ++i) SYNAPSE_DOUBLE_RETURN_IF_ERROR(Describe(*found, &tensors[i]));
  return synSuccess;
}

#endif

}  // namespace hpu::synapse
