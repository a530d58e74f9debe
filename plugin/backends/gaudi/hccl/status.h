// Result of HCCL's calls as absl::Status, and HPU_HCCL_CALL, which calls a function of the library.
#ifndef HPU_PLUGIN_BACKENDS_GAUDI_HCCL_STATUS_H_
#define HPU_PLUGIN_BACKENDS_GAUDI_HCCL_STATUS_H_

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "plugin/backends/gaudi/hccl/functions.h"

namespace hpu::hccl {

// The code that the HAL documents for the result (docs/developer/hal.md). Internal for results that it does not name.
absl::StatusCode StatusCode(hcclResult_t result);

// Error of a failed call. `arguments` holds the arguments that matter: "count=4, peer=1". Appends the texts that the
// library has for the error.
absl::Status ToStatus(const Functions& functions, hcclResult_t result, absl::string_view function,
                      absl::string_view arguments);

// Calls a function of a function table, and returns an absl::Status. The arguments after `parameters` are concatenated
// to the error's text:
//   HPU_HCCL_CALL(functions, hcclCommInitRank, (&comm, size, id, rank), "rank=", rank)
#define HPU_HCCL_CALL(functions, function, parameters, ...)                                         \
  [&]() -> absl::Status {                                                                           \
    const ::hpu::hccl::hcclResult_t hpu_hccl_result = (functions).function parameters;              \
    if (hpu_hccl_result == ::hpu::hccl::hcclSuccess) return absl::OkStatus();                       \
    return ::hpu::hccl::ToStatus(functions, hpu_hccl_result, #function, absl::StrCat(__VA_ARGS__)); \
  }()

}  // namespace hpu::hccl

#endif  // HPU_PLUGIN_BACKENDS_GAUDI_HCCL_STATUS_H_
