#include "plugin/testing/synapse_double/kernels/registry.h"

#include <utility>

#include "plugin/testing/synapse_double/kernels/families.h"

namespace hpu::synapse_double {
namespace {

KernelRegistry* AllFamilies() {
  auto* registry = new KernelRegistry;
  AddActivations(registry);
  AddBatchNormalization(registry);
  AddBinary(registry);
  AddCasts(registry);
  AddComparisons(registry);
  AddConvolutions(registry);
  AddCropAndResize(registry);
  AddCumulative(registry);
  AddDataMovement(registry);
  AddFilling(registry);
  AddGathers(registry);
  AddIntegerArithmetic(registry);
  AddLayerNormalization(registry);
  AddPadding(registry);
  AddPooling(registry);
  AddProducts(registry);
  AddRandom(registry);
  AddReductions(registry);
  AddResize(registry);
  AddScatters(registry);
  AddSlices(registry);
  AddSoftmax(registry);
  AddSorting(registry);
  AddUnary(registry);
  return registry;
}

KernelStatus CheckViews(const std::vector<TensorView>& views, Arity arity, const char* kind) {
  const auto error = [&](const std::string& text) { return KernelStatus::Error(kind + (" " + text)); };
  if (views.size() < arity.min || views.size() > arity.max) {
    return error("count " + std::to_string(views.size()) + ": expected " + std::to_string(arity.min) + " to " +
                 std::to_string(arity.max));
  }
  for (size_t i = 0; i < views.size(); ++i) {
    const TensorView& view = views[i];
    if (!view.is_present()) {
      if (i < arity.min) return error(std::to_string(i) + " is missing");
      continue;
    }
    if (BytesOf(view.type) == 0) return error(std::to_string(i) + ": unknown element type");
    if (view.strides.size() != view.sizes.size())
      return error(std::to_string(i) + ": sizes and strides differ in rank");
  }
  return KernelStatus::Ok();
}

KernelStatus CheckParams(const KernelEntry& entry, const KernelArguments& arguments) {
  for (const size_t size : entry.params_sizes) {
    if (size == arguments.params_size && (size == 0 || arguments.params != nullptr)) return KernelStatus::Ok();
  }
  std::string sizes;
  for (const size_t size : entry.params_sizes) sizes += (sizes.empty() ? "" : ", ") + std::to_string(size);
  return KernelStatus::Error("params of " + std::to_string(arguments.params_size) + " bytes: versions have " + sizes);
}

bool HasType(const std::vector<TensorView>& views, ElementType type) {
  for (const TensorView& view : views) {
    if (view.is_present() && view.type == type) return true;
  }
  return false;
}

// Casts name both types; other guids name the type of an operand or a result.
KernelStatus CheckTypes(const KernelName& guid, const KernelArguments& arguments) {
  if (guid.suffix == ElementType::kNone) return KernelStatus::Ok();
  const bool agree = guid.source == ElementType::kNone
                         ? HasType(arguments.inputs, guid.suffix) || HasType(arguments.outputs, guid.suffix)
                         : HasType(arguments.inputs, guid.source) && HasType(arguments.outputs, guid.suffix);
  return agree ? KernelStatus::Ok() : KernelStatus::Error("the guid's types are not those of the tensors");
}

KernelStatus Run(const std::string& name, const KernelArguments& arguments) {
  const KernelRegistry& registry = KernelRegistry::Get();
  const KernelName guid = ParseGuid(name);
  const auto found = registry.entries().find(guid.stem);
  if (found == registry.entries().end()) return KernelStatus::Error("no kernel of this name");
  const KernelEntry& entry = found->second;
  const Suffix suffix = guid.suffix == ElementType::kNone   ? Suffix::kNone
                        : guid.source == ElementType::kNone ? Suffix::kType
                                                            : Suffix::kCast;
  if (suffix != entry.suffix) {
    return KernelStatus::Error(entry.suffix == Suffix::kNone ? "the guid takes no type" : "the guid lacks its types");
  }
  for (const KernelStatus& status :
       {CheckParams(entry, arguments), CheckViews(arguments.inputs, entry.inputs, "input"),
        CheckViews(arguments.outputs, entry.outputs, "output"), CheckTypes(guid, arguments)}) {
    if (!status.ok()) return status;
  }
  KernelContext context(arguments, guid.suffix);
  entry.kernel(context);
  return context.status();
}

}  // namespace

KernelName ParseGuid(const std::string& name) {
  KernelName guid{name, ElementType::kNone, ElementType::kNone};
  const size_t last = name.rfind('_');
  if (last == std::string::npos) return guid;
  guid.suffix = TypeOfSuffix(std::string_view(name).substr(last + 1));
  if (guid.suffix == ElementType::kNone) return guid;
  guid.stem = name.substr(0, last);
  const std::string cast = "cast_";
  const std::string to = "_to";
  if (guid.stem.rfind(cast, 0) == 0 && guid.stem.size() > cast.size() + to.size() &&
      guid.stem.compare(guid.stem.size() - to.size(), to.size(), to) == 0) {
    guid.source =
        TypeOfSuffix(std::string_view(guid.stem).substr(cast.size(), guid.stem.size() - cast.size() - to.size()));
    if (guid.source != ElementType::kNone) guid.stem = "cast";
  }
  return guid;
}

const KernelRegistry& KernelRegistry::Get() {
  static const KernelRegistry* const registry = AllFamilies();
  return *registry;
}

void KernelRegistry::Add(KernelEntry entry) {
  std::string stem = entry.stem;
  entries_.emplace(std::move(stem), std::move(entry));
}

KernelStatus RunKernel(const std::string& guid, const KernelArguments& arguments) {
  KernelStatus status = Run(guid, arguments);
  if (status.ok()) return status;
  for (const TensorView& output : arguments.outputs) Poison(output);
  return KernelStatus::Error(guid + ": " + status.text());
}

}  // namespace hpu::synapse_double
