#include "xla/client/lib/qr.h"
