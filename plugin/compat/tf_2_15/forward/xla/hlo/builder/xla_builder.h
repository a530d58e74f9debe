#include "xla/client/xla_builder.h"
