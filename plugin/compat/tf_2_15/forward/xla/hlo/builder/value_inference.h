#include "xla/client/value_inference.h"
