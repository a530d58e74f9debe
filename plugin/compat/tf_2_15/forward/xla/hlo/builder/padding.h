#include "xla/client/padding.h"
