#include "plugin/testing/synapse_double/graph/recipe_file.h"

#include <cstring>
#include <fstream>
#include <iterator>
#include <type_traits>
#include <utility>

#include "plugin/testing/synapse_double/runtime/release.h"

namespace hpu::synapse_double {
namespace {

constexpr char kMagic[] = "synapse-double-recipe";
constexpr uint32_t kFormat = 1;

// FNV-1a.
uint64_t Checksum(const char* data, size_t size) {
  uint64_t hash = 0xcbf29ce484222325;
  for (size_t i = 0; i < size; ++i) hash = (hash ^ static_cast<unsigned char>(data[i])) * 0x100000001b3;
  return hash;
}

class Writer {
 public:
  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
    } else {
      uint64_t count = value.size();
      (*this)(count);
      for (auto& element : value) (*this)(element);
    }
  }
  template <typename T>
  void Structs(std::vector<T>& values) {
    uint64_t count = values.size();
    (*this)(count);
    for (T& value : values) Visit(value, *this);
  }

  std::string bytes_;
};

class Reader {
 public:
  Reader(const char* data, size_t size) : at_(data), left_(size) {}

  template <typename T>
  void operator()(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (left_ < sizeof(value)) {
        ok_ = false;
        return;
      }
      std::memcpy(&value, at_, sizeof(value));
      at_ += sizeof(value);
      left_ -= sizeof(value);
    } else {
      value.resize(Count());
      for (auto& element : value) (*this)(element);
    }
  }
  template <typename T>
  void Structs(std::vector<T>& values) {
    values.resize(Count());
    for (T& value : values) Visit(value, *this);
  }

  bool is_complete() const { return ok_ && left_ == 0; }

 private:
  // Number of elements that follow. Fails if there are fewer bytes left: an element has at least one byte.
  uint64_t Count() {
    uint64_t count = 0;
    (*this)(count);
    if (count > left_) ok_ = false;
    return ok_ ? count : 0;
  }

  const char* at_;
  size_t left_;
  bool ok_ = true;
};

template <typename Archive>
void Visit(RecipeTensor& tensor, Archive& archive) {
  archive(tensor.name);
  archive(tensor.kind);
  archive(tensor.type);
  archive(tensor.sizes);
  archive(tensor.permutation);
  archive(tensor.place);
  archive(tensor.section);
  archive(tensor.offset);
  archive(tensor.bytes);
  archive(tensor.is_input);
  archive(tensor.is_external);
}

template <typename Archive>
void Visit(RecipeSection& section, Archive& archive) {
  archive(section.bytes);
  archive(section.group);
  archive(section.is_constant);
  archive(section.data);
}

template <typename Archive>
void Visit(RecipeNode& node, Archive& archive) {
  archive(node.guid);
  archive(node.name);
  archive(node.inputs);
  archive(node.outputs);
  archive(node.params);
  archive(node.deterministic);
  archive(node.rounding);
  archive(node.before);
}

template <typename Archive>
void Visit(RecipeData& recipe, Archive& archive) {
  archive(recipe.name);
  archive(recipe.generation);
  archive.Structs(recipe.tensors);
  archive.Structs(recipe.sections);
  archive.Structs(recipe.nodes);
  archive(recipe.launch_tensors);
  archive(recipe.constants);
  archive(recipe.workspace_bytes);
}

std::string Header() { return Text(kMagic, " ", kFormat, " ", ThisRelease().version, "\n"); }

Verdict Unreadable(const std::string& path, const char* reason) {
  return {Rule::kArguments, synapse::synFail, Text("recipe file ", path, ": ", reason), false};
}

}  // namespace

Verdict WriteRecipe(const RecipeData& recipe, const std::string& path) {
  Writer writer;
  RecipeData copy = recipe;
  Visit(copy, writer);
  uint64_t checksum = Checksum(writer.bytes_.data(), writer.bytes_.size());
  writer(checksum);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << Header() << writer.bytes_;
  file.close();
  return file ? Verdict{} : Unreadable(path, "cannot be written");
}

Verdict ReadRecipe(const std::string& path, RecipeData* recipe) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return Unreadable(path, "cannot be opened");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const std::string header = Header();
  if (text.compare(0, header.size(), header) != 0) return Unreadable(path, "no recipe of this release");
  const char* const data = text.data() + header.size();
  const size_t size = text.size() - header.size();
  uint64_t checksum;
  if (size < sizeof(checksum)) return Unreadable(path, "cut off");
  std::memcpy(&checksum, data + size - sizeof(checksum), sizeof(checksum));
  if (checksum != Checksum(data, size - sizeof(checksum))) return Unreadable(path, "cut off or changed");
  Reader reader(data, size - sizeof(checksum));
  RecipeData read;
  Visit(read, reader);
  if (!reader.is_complete()) return Unreadable(path, "its fields do not fill it");
  *recipe = std::move(read);
  return {};
}

}  // namespace hpu::synapse_double
