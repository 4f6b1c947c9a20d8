// The messages between an application and its decoder process, over a stream socket. All numbers are in the
// byte order of the machine: both are the same program.
//
//   decoder      cimages_hello, once
//   application  cimages_request, and the bytes of the image
//   decoder      cimages_answer, and the pixels, or a message with the reason why there are none
#ifndef COPERATIONNETWORKINGIMAGES_DECODER_H
#define COPERATIONNETWORKINGIMAGES_DECODER_H

#include <stdint.h>

// The first argument of a decoder process, which identifies it. No program is called that.
#define CIMAGES_DECODER_NAME "OperationNetworkingImages: decoder"
// The descriptor of the socket in a decoder process.
#define CIMAGES_DECODER_SOCKET 3
#define CIMAGES_MAGIC 0x4F4E5731u

// The formats, and the bits of those that a decoder process has.
enum cimages_format {
    CIMAGES_PNG, CIMAGES_JPEG, CIMAGES_GIF, CIMAGES_WEBP, CIMAGES_BMP, CIMAGES_TIFF, CIMAGES_ICO, CIMAGES_FORMATS
};

struct cimages_hello {
    uint32_t magic;
    uint32_t formats;       // bits
    uint32_t has_library;
    uint32_t is_confined;   // no system call but those for memory and its socket
    uint32_t major, minor, micro;
    uint32_t reserved;
};

struct cimages_request {
    uint32_t magic;
    uint32_t format;
    uint64_t length;         // of the image, in bytes
    uint64_t maximum_pixels;
    uint64_t memory;         // for this image, in bytes; 0: as much as there is
    uint32_t seconds;        // of processor time
    uint32_t orientation;    // 1 to 8 as in Exif; 0: that of the file
    uint32_t width, height;  // to be scaled to, before the orientation is applied; 0: as stored
    uint32_t maximum_side;   // of the result, whatever size the decoder finds; 0: any
    uint32_t reserved;
};

enum cimages_status { CIMAGES_DECODED, CIMAGES_MALFORMED, CIMAGES_TOO_LARGE, CIMAGES_NO_MEMORY, CIMAGES_NO_FORMAT };

struct cimages_answer {
    uint32_t magic;
    uint32_t status;
    uint32_t width, height;
    uint32_t has_alpha;
    uint32_t text_length;    // of the sentence, unless decoded
};

// Whether this code is there from the start of the program, so that a decoder process, which is started from
// the same program, becomes one before `main`. It is not in a plug-in, which would be loaded by `main`.
int cimages_is_there_from_the_start(void);

#endif
