#include "plugin/base/trace/nvtx.h"

#include <nvtx3/nvToolsExt.h>

#include "plugin/base/flags/flags.h"

namespace hpu::trace {
namespace {

uint32_t CategoryOf(Lane lane) { return static_cast<uint32_t>(lane) + 1; }  // 0 means no category

// Lives as long as the process, because ranges may end during its exit.
nvtxDomainHandle_t Domain() {
  static const nvtxDomainHandle_t domain = [] {
    const nvtxDomainHandle_t made = nvtxDomainCreateA("hpu-tensorflow");
    for (int i = 0; i < kLanes; ++i) {
      const auto lane = static_cast<Lane>(i);
      nvtxDomainNameCategoryA(made, CategoryOf(lane), LaneName(lane));
    }
    return made;
  }();
  return domain;
}

}  // namespace

bool HasNvtx() {
  static const bool has = flags::TfEnableNvtxRanges() || flags::TfEnableNvtxRangesDetailed();
  return has;
}

bool HasDetailedNvtx() {
  static const bool has = flags::TfEnableNvtxRangesDetailed();
  return has;
}

NvtxRange::NvtxRange(Lane lane, const std::string& name, uint64_t bytes) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  attributes.category = CategoryOf(lane);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  attributes.payload.ullValue = bytes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name.c_str();
  id_ = nvtxDomainRangeStartEx(Domain(), &attributes);
}

NvtxRange::~NvtxRange() { nvtxDomainRangeEnd(Domain(), id_); }

}  // namespace hpu::trace
