#include "plugin/backends/pjrt/cuda_cards.h"

#include <dlfcn.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>

#include "absl/algorithm/container.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "plugin/base/flags/flags.h"
#include "plugin/base/log/log.h"
#include "plugin/base/status_payloads.h"
#include "xla/tsl/lib/hash/crc32c.h"

namespace hpu::pjrt {
namespace {

// CUDA_VISIBLE_DEVICES; an empty value hides all cards.
std::optional<absl::string_view> VisibleSetting() {
  const char* value = std::getenv("CUDA_VISIBLE_DEVICES");
  if (value == nullptr) return std::nullopt;
  return absl::string_view(value);
}

}  // namespace

bool IsForCuda(absl::string_view file) {
  return absl::StrContains(std::filesystem::path(std::string(file)).filename().string(), "cuda");
}

int CountCards(const std::string& folder) {
  int count = 0;
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
    const std::string name = entry.path().filename().string();
    absl::string_view number = name;
    int index = 0;
    if (absl::ConsumePrefix(&number, "nvidia") && absl::SimpleAtoi(number, &index)) ++count;
  }
  // Windows Subsystem for Linux exposes all cards as one device file, /dev/dxg.
  if (count == 0 && access(absl::StrCat(folder, "/dxg").c_str(), F_OK) == 0) return 1;
  return count;
}

std::vector<int> VisibleCards(int count, std::optional<absl::string_view> setting) {
  std::vector<int> cards;
  if (!setting.has_value()) {
    for (int card = 0; card < count; ++card) cards.push_back(card);
    return cards;
  }
  for (absl::string_view entry : absl::StrSplit(*setting, ',')) {
    entry = absl::StripAsciiWhitespace(entry);
    int card = 0;
    if (absl::StartsWith(entry, "GPU-") || absl::StartsWith(entry, "MIG-")) {
      card = static_cast<int>(cards.size());
    } else if (!absl::SimpleAtoi(entry, &card) || card < 0 || card >= count) {
      break;
    }
    if (absl::c_linear_search(cards, card)) break;
    cards.push_back(card);
  }
  return cards;
}

absl::StatusOr<common::Modules> CudaModules(const std::string& folder) {
  const int count = CountCards(folder);
  if (count == 0) {
    return absl::UnavailableError(absl::StrCat("no NVIDIA card: there is no ", folder,
                                               "/nvidia0. Install the driver, or start the container with its cards "
                                               "(docker run --gpus all); run hpu doctor to list missing parts"));
  }
  const std::optional<absl::string_view> setting = VisibleSetting();
  common::Modules modules;
  modules.ids = VisibleCards(count, setting);
  if (modules.ids.empty()) {
    return absl::UnavailableError(absl::StrCat("CUDA_VISIBLE_DEVICES=", setting.value_or(""), " hides all ", count,
                                               " NVIDIA cards: correct or unset it"));
  }
  modules.kind = "NVIDIA card";
  modules.lock_name = "cuda";
  modules.setting =
      setting.has_value() ? absl::StrCat("CUDA_VISIBLE_DEVICES=", *setting) : absl::StrCat("device files in ", folder);
  if (setting.has_value() && absl::StrContains(*setting, "-")) {
    // With UUIDs, an index identifies a card only among processes with the same setting.
    modules.lock_name = absl::StrCat("cuda-", absl::Hex(tsl::crc32c::Value(setting->data(), setting->size())));
  }
  modules.remedy_of_shortage = "use more cards";
  return modules;
}

Options CudaOptions(int module_id, const std::string& folder) {
  Options options;
  const std::vector<int> cards = VisibleCards(CountCards(folder), VisibleSetting());
  // CUDA counts the visible cards from 0.
  const auto found = absl::c_find(cards, module_id);
  if (found != cards.end()) options.emplace_back("visible_devices", std::vector<int64_t>{found - cards.begin()});
  if (flags::TfForceGpuAllowGrowth()) options.emplace_back("preallocate", false);
  if (flags::TfGpuAllocator() == "cuda_malloc_async") options.emplace_back("allocator", std::string("cuda_async"));
  return options;
}

absl::Status CudaClientError(const absl::Status& error) {
  const char* const remedy = absl::IsResourceExhausted(error)
                                 ? "another process uses the card's memory: end it (hpu smi lists processes), set "
                                   "TF_FORCE_GPU_ALLOW_GROWTH=true, or use another card (CUDA_VISIBLE_DEVICES)"
                                 : "run hpu doctor, which checks the driver, the plugin and CUDA's libraries; hpu smi "
                                   "shows the state of the cards";
  return Reworded(error, absl::StrCat("cannot use the NVIDIA card: ", error.message(), "; ", remedy));
}

std::string FindCuda(const CudaPlaces& places) {
  const int count = CountCards(places.devices);
  if (count == 0) return "";
  const auto refuse = [](const auto&... why) {
    HPU_LOG(kBackend, kInfo) << absl::StrCat("an NVIDIA card is not used: ", why...);
    return std::string();
  };
  if (const auto setting = VisibleSetting(); VisibleCards(count, setting).empty()) {
    return refuse("CUDA_VISIBLE_DEVICES=", setting.value_or(""), " hides all cards");
  }
  if (const auto file = PluginFile("cuda", places.packages); !file.ok()) return refuse(file.status().message());
  if (dlopen(places.driver.c_str(), RTLD_LAZY | RTLD_LOCAL) == nullptr) {
    return refuse("cannot load the driver library: ", dlerror());
  }
  return "pjrt:cuda";
}

}  // namespace hpu::pjrt
