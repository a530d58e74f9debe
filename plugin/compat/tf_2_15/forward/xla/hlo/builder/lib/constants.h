#include "xla/client/lib/constants.h"
