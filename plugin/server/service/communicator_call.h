// MakeCommunicator call: communicator of a client with other sessions of the server.
#ifndef HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_

#include "absl/status/status.h"
#include "plugin/hal/communicator.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Serves the call that creates a communicator. The communicator ends with the call; pending work of other ranks then
// fails with Cancelled.
absl::Status ServeCommunicator(ServerCall* call, Session* session, Front* front,
                               const proto::CommunicatorHeader& header);

// Queues an operation. If the device refuses the operation, the communicator is aborted, because other ranks wait for
// the operation.
absl::Status QueueCollective(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                             const proto::Collective& collective);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_
