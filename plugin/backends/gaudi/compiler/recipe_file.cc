#include "plugin/backends/gaudi/compiler/recipe_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "plugin/base/status_macros.h"

namespace hpu::gaudi {
namespace {

// A new folder that only this user can read. The destructor removes it.
class PrivateFolder {
 public:
  static absl::StatusOr<PrivateFolder> Create() {
    std::error_code error;
    std::filesystem::path parent = "/dev/shm";
    if (access(parent.c_str(), W_OK | X_OK) != 0) parent = std::filesystem::temp_directory_path(error);
    std::string path = (parent / "hpu_recipe.XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) {
      return absl::UnavailableError(absl::StrCat("cannot create the folder ", path, " for a recipe: ", strerror(errno),
                                                 "; free space there, or set TMPDIR if it is not in /dev/shm"));
    }
    return PrivateFolder(std::move(path));
  }
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::exchange(other.path_, "")) {}
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }

  std::string file() const { return absl::StrCat(path_, "/recipe"); }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}

  std::string path_;
};

}  // namespace

absl::StatusOr<std::string> SerializeSynapseRecipe(const synapse::Library& library, synapse::synRecipeHandle recipe) {
  HPU_ASSIGN_OR_RETURN(const PrivateFolder folder, PrivateFolder::Create());
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(library.functions(), synRecipeSerialize, (recipe, folder.file().c_str())));
  std::ifstream file(folder.file(), std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  if (!file) {
    return absl::InternalError(absl::StrCat("cannot read ", folder.file(),
                                            ", which synRecipeSerialize wrote: ", strerror(errno),
                                            "; if the file is missing, see SynapseAI's logs (HABANA_LOGS)"));
  }
  return std::move(bytes).str();
}

absl::StatusOr<synapse::OwnedRecipe> LoadSynapseRecipe(const synapse::Library& library, absl::string_view bytes) {
  HPU_ASSIGN_OR_RETURN(const PrivateFolder folder, PrivateFolder::Create());
  std::ofstream file(folder.file(), std::ios::binary);
  file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (!file) {
    return absl::ResourceExhaustedError(absl::StrCat("cannot write ", bytes.size(), " bytes of a recipe to ",
                                                     folder.file(),
                                                     "; free space there, or set TMPDIR if it is not in /dev/shm"));
  }
  synapse::synRecipeHandle recipe = nullptr;
  HPU_RETURN_IF_ERROR(HPU_SYNAPSE_CALL(library.functions(), synRecipeDeSerialize, (&recipe, folder.file().c_str())));
  return synapse::OwnedRecipe(&library.functions(), recipe);
}

}  // namespace hpu::gaudi
