// Macros for early return on errors, which all of plugin/ uses in place of those of TensorFlow.
#ifndef HPU_PLUGIN_BASE_STATUS_MACROS_H_
#define HPU_PLUGIN_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"

// Returns the status of `expression` from the enclosing function unless it is OK.
#define HPU_RETURN_IF_ERROR(expression)                             \
  do {                                                              \
    if (absl::Status hpu_status = (expression); !hpu_status.ok()) { \
      return hpu_status;                                            \
    }                                                               \
  } while (false)

// Assigns the value of the StatusOr `expression` to `target`, which may be a declaration. Returns the status on errors.
#define HPU_ASSIGN_OR_RETURN(target, expression) \
  HPU_ASSIGN_OR_RETURN_IMPL(HPU_STATUS_CONCAT(hpu_status_or_, __LINE__), target, expression)
#define HPU_ASSIGN_OR_RETURN_IMPL(name, target, expression) \
  auto name = (expression);                                 \
  if (!name.ok()) {                                         \
    return std::move(name).status();                        \
  }                                                         \
  target = std::move(name).value()
#define HPU_STATUS_CONCAT(a, b) HPU_STATUS_CONCAT_IMPL(a, b)
#define HPU_STATUS_CONCAT_IMPL(a, b) a##b

#endif  // HPU_PLUGIN_BASE_STATUS_MACROS_H_
