#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "plugin/c_api/c_api.h"
#include "plugin/c_api/c_buffer.h"
#include "plugin/tensorflow/device/process_device.h"
#include "plugin/tensorflow/kernels/collective/collective_group.h"
#include "plugin/tensorflow/kernels/collective/horovod_kernel.h"

int32_t hpu_communicator_id(hpu_buffer* out) {
  const absl::StatusOr<hpu::ProcessDevice*> device = hpu::ProcessDevice::Get();
  const absl::StatusOr<std::string> id = device.ok() ? (*device)->hal().CreateCommunicatorId() : device.status();
  *out = hpu::MakeBuffer(id.ok() ? absl::string_view(*id) : id.status().message());
  return static_cast<int32_t>(id.status().code());
}

int32_t hpu_communicator_join(int32_t group_key, const char* id, int32_t rank, int32_t size, const char* names,
                              int32_t in_calling_order, hpu_buffer* message) {
  hpu::hal::CommunicatorOptions options;
  options.id = id;
  options.rank = rank;
  options.size = size;
  const absl::Status status =
      hpu::CollectiveGroup::Join(group_key, options, absl::StrSplit(names, '\n'), in_calling_order != 0);
  return hpu::ReportStatus(status, message);
}

void hpu_horovod_loaded(void) { hpu::RegisterHorovodKernel(); }
