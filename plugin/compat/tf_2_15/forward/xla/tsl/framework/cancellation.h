#include "tsl/framework/cancellation.h"
