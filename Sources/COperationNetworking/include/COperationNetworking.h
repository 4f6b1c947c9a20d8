// The umbrella: one header per concern.
#ifndef COPERATIONNETWORKING_H
#define COPERATIONNETWORKING_H

#include "libcurl.h"

#endif
