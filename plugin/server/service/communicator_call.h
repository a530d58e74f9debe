// A client's communicator with other sessions of the server.
#ifndef HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_
#define HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_

#include "absl/status/status.h"
#include "plugin/hal/communicator.h"
#include "plugin/server/service/front.h"
#include "plugin/server/service/session.h"

namespace hpu::serve {

// Serves the call that makes one; it goes with the call, and what other ranks still wait for then ends with Cancelled.
absl::Status ServeCommunicator(ServerCall* call, Session* session, Front* front,
                               const proto::CommunicatorHeader& header);

// Queues an operation. What the device refuses aborts the communicator, for other ranks wait for it.
absl::Status QueueCollective(const Session& session, hal::Communicator& communicator, hal::Stream& stream,
                             const proto::Collective& collective);

}  // namespace hpu::serve

#endif  // HPU_PLUGIN_SERVER_SERVICE_COMMUNICATOR_CALL_H_
