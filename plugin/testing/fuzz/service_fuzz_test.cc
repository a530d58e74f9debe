#include "plugin/testing/fuzz/service_fuzz.h"

#include <gtest/gtest.h>

#include "plugin/compat/protobuf_silence.h"

namespace hpu::fuzz {
namespace {

TEST(ServiceFuzzTest, ServiceSurvivesMutatedMessages) {
  const compat::ProtobufSilence silence;  // silences the parser on damaged strings
  ServiceFuzzOptions options;
  options.messages = 3000;
  const ServiceFuzzReport report = FuzzService(options);
  EXPECT_GE(report.messages, options.messages);
  // A mix of accepted and refused calls shows that the mutations are neither too weak nor too strong.
  EXPECT_GT(report.refused, report.calls / 10);
  EXPECT_LT(report.refused, report.calls * 9 / 10);
}

}  // namespace
}  // namespace hpu::fuzz
