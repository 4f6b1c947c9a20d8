// The umbrella: one header per concern.
#ifndef COPERATIONNETWORKING_H
#define COPERATIONNETWORKING_H

#include "cache.h"
#include "certificates.h"
#include "checksum.h"
#include "compression.h"
#include "digest.h"
#include "epoll.h"
#include "files.h"
#include "libcurl.h"
#include "memory.h"
#include "netlink.h"
#include "owner.h"
#include "socket.h"
#include "stamp.h"
#include "suffixes.h"
#include "thread.h"
#include "tls.h"

#endif
