// A decoder process: it takes images from its socket, one after the other, decodes them with gdk-pixbuf, and
// returns pixels. It is this program, started again under another name, and never comes to `main`.
//
// The library is opened here and not linked: the application never has it in its own address space, and a
// program can be built, and started, where it is not installed.
#define _GNU_SOURCE
#include "decoder.h"
#include "confinement.h"
#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

// What is used of gdk-pixbuf 2 and GLib 2, as in their manuals; their binary interface has not changed since
// 2002.
typedef struct GdkPixbuf GdkPixbuf;
typedef struct GdkPixbufLoader GdkPixbufLoader;
typedef struct { uint32_t domain; int code; char *message; } GError;
enum { BILINEAR = 2, CLOCKWISE = 270, UPSIDE_DOWN = 180, COUNTERCLOCKWISE = 90 };
enum { INSUFFICIENT_MEMORY = 1 };

static struct {
    GdkPixbufLoader *(*loader_new_with_type)(const char *type, GError **error);
    int (*loader_write)(GdkPixbufLoader *loader, const unsigned char *bytes, size_t count, GError **error);
    int (*loader_close)(GdkPixbufLoader *loader, GError **error);
    void (*loader_set_size)(GdkPixbufLoader *loader, int width, int height);
    GdkPixbuf *(*loader_get_pixbuf)(GdkPixbufLoader *loader);
    GdkPixbuf *(*apply_embedded_orientation)(GdkPixbuf *pixbuf);
    GdkPixbuf *(*scale_simple)(const GdkPixbuf *pixbuf, int width, int height, int quality);
    GdkPixbuf *(*rotate_simple)(const GdkPixbuf *pixbuf, int angle);
    GdkPixbuf *(*flip)(const GdkPixbuf *pixbuf, int is_horizontal);
    int (*get_width)(const GdkPixbuf *pixbuf);
    int (*get_height)(const GdkPixbuf *pixbuf);
    int (*get_rowstride)(const GdkPixbuf *pixbuf);
    int (*get_n_channels)(const GdkPixbuf *pixbuf);
    int (*get_has_alpha)(const GdkPixbuf *pixbuf);
    const unsigned char *(*read_pixels)(const GdkPixbuf *pixbuf);
    unsigned char *(*get_pixels)(const GdkPixbuf *pixbuf);
    unsigned long (*signal_connect)(
        void *object, const char *signal, void (*handler)(void), void *context, void *destroy, int flags);
    void *(*object_ref)(void *object);
    void (*object_unref)(void *object);
    void (*error_free)(GError *error);
    uint32_t (*error_quark)(void);
    void *(*log_set_default_handler)(void (*handler)(const char *, int, const char *, void *), void *context);
} gdk;

static const struct { const char *name; size_t place; } functions[] = {
    {"gdk_pixbuf_loader_new_with_type", offsetof(__typeof__(gdk), loader_new_with_type)},
    {"gdk_pixbuf_loader_write", offsetof(__typeof__(gdk), loader_write)},
    {"gdk_pixbuf_loader_close", offsetof(__typeof__(gdk), loader_close)},
    {"gdk_pixbuf_loader_set_size", offsetof(__typeof__(gdk), loader_set_size)},
    {"gdk_pixbuf_loader_get_pixbuf", offsetof(__typeof__(gdk), loader_get_pixbuf)},
    {"gdk_pixbuf_apply_embedded_orientation", offsetof(__typeof__(gdk), apply_embedded_orientation)},
    {"gdk_pixbuf_scale_simple", offsetof(__typeof__(gdk), scale_simple)},
    {"gdk_pixbuf_rotate_simple", offsetof(__typeof__(gdk), rotate_simple)},
    {"gdk_pixbuf_flip", offsetof(__typeof__(gdk), flip)},
    {"gdk_pixbuf_get_width", offsetof(__typeof__(gdk), get_width)},
    {"gdk_pixbuf_get_height", offsetof(__typeof__(gdk), get_height)},
    {"gdk_pixbuf_get_rowstride", offsetof(__typeof__(gdk), get_rowstride)},
    {"gdk_pixbuf_get_n_channels", offsetof(__typeof__(gdk), get_n_channels)},
    {"gdk_pixbuf_get_has_alpha", offsetof(__typeof__(gdk), get_has_alpha)},
    {"gdk_pixbuf_read_pixels", offsetof(__typeof__(gdk), read_pixels)},
    {"gdk_pixbuf_get_pixels", offsetof(__typeof__(gdk), get_pixels)},
    {"g_signal_connect_data", offsetof(__typeof__(gdk), signal_connect)},
    {"g_object_ref", offsetof(__typeof__(gdk), object_ref)},
    {"g_object_unref", offsetof(__typeof__(gdk), object_unref)},
    {"g_error_free", offsetof(__typeof__(gdk), error_free)},
    {"gdk_pixbuf_error_quark", offsetof(__typeof__(gdk), error_quark)},
    {"g_log_set_default_handler", offsetof(__typeof__(gdk), log_set_default_handler)},
};

static const char *const types[CIMAGES_FORMATS] = {"png", "jpeg", "gif", "webp", "bmp", "tiff", "ico"};

static void say_nothing(const char *domain, int level, const char *message, void *context) {
    (void)domain; (void)level; (void)message; (void)context;
}

static int open_library(void) {
    // Its dependencies, GObject and GLib, are found through it.
    void *library = dlopen("libgdk_pixbuf-2.0.so.0", RTLD_NOW | RTLD_LOCAL);
    if (!library) return 0;
    for (size_t index = 0; index < sizeof functions / sizeof functions[0]; index++) {
        void *function = dlsym(library, functions[index].name);
        if (!function) return 0;
        memcpy((char *)&gdk + functions[index].place, &function, sizeof function);
    }
    gdk.log_set_default_handler(say_nothing, NULL);
    return 1;
}

// Loads the modules of all formats, since no file can be opened later. The bits of those there are.
static uint32_t load_formats(void) {
    uint32_t formats = 0;
    for (int format = 0; format < CIMAGES_FORMATS; format++) {
        GError *error = NULL;
        GdkPixbufLoader *loader = gdk.loader_new_with_type(types[format], &error);
        if (error) gdk.error_free(error);
        if (!loader) continue;
        formats |= 1u << format;
        error = NULL;
        gdk.loader_close(loader, &error);  // it has read nothing, which is an error
        if (error) gdk.error_free(error);
        gdk.object_unref(loader);
    }
    return formats;
}

// MARK: - The socket

static void read_all(void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t step = read(CIMAGES_DECODER_SOCKET, (char *)bytes + done, count - done);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) _exit(0);  // the application has no more images, or is gone
        done += step;
    }
}

static void write_all(const void *bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t step = write(CIMAGES_DECODER_SOCKET, (const char *)bytes + done, count - done);
        if (step < 0 && errno == EINTR) continue;
        if (step <= 0) _exit(0);
        done += step;
    }
}

static void refuse(enum cimages_status status, const char *sentence) {
    size_t length = sentence ? strnlen(sentence, 1000) : 0;
    struct cimages_answer answer = {.magic = CIMAGES_MAGIC, .status = status, .text_length = length};
    write_all(&answer, sizeof answer);
    write_all(sentence, length);
}

// MARK: - One image

struct size_check {
    const struct cimages_request *request;
    int is_too_large;
};

// The size that the loader has found, which must be within the limits whatever the application found.
static void size_prepared(GdkPixbufLoader *loader, int width, int height, struct size_check *check) {
    if (width < 1 || height < 1 || (uint64_t)width * (uint64_t)height > check->request->maximum_pixels) {
        check->is_too_large = 1;
        gdk.loader_set_size(loader, 0, 0);  // which ends it
    } else if (check->request->width && check->request->format == CIMAGES_JPEG) {
        // This loader decodes fewer pixels then; what others do is done below.
        gdk.loader_set_size(loader, check->request->width, check->request->height);
    }
}

static GdkPixbuf *replaced(GdkPixbuf *old, GdkPixbuf *new) {
    if (old) gdk.object_unref(old);
    return new;
}

static GdkPixbuf *oriented(GdkPixbuf *image, uint32_t orientation) {
    switch (orientation) {
    case 2: return replaced(image, gdk.flip(image, 1));
    case 3: return replaced(image, gdk.rotate_simple(image, UPSIDE_DOWN));
    case 4: return replaced(image, gdk.flip(image, 0));
    case 6: return replaced(image, gdk.rotate_simple(image, CLOCKWISE));
    case 8: return replaced(image, gdk.rotate_simple(image, COUNTERCLOCKWISE));
    case 5:
        image = replaced(image, gdk.rotate_simple(image, CLOCKWISE));
        return image ? replaced(image, gdk.flip(image, 1)) : NULL;
    case 7:
        image = replaced(image, gdk.rotate_simple(image, CLOCKWISE));
        return image ? replaced(image, gdk.flip(image, 0)) : NULL;
    default: return image;
    }
}

// The pixels of a TIFF as those of the other formats are: libtiff's are premultiplied, whatever the file's
// are, and have an alpha of 255 where the file has none. Answers whether some are not opaque.
static int unpremultiply(const GdkPixbuf *image) {
    if (gdk.get_n_channels(image) != 4) return 0;
    int width = gdk.get_width(image), height = gdk.get_height(image), has_alpha = 0;
    size_t stride = gdk.get_rowstride(image);
    unsigned char *pixels = gdk.get_pixels(image);
    for (int row = 0; pixels && row < height; row++) {
        unsigned char *pixel = pixels + row * stride;
        for (int column = 0; column < width; column++, pixel += 4) {
            unsigned alpha = pixel[3];
            if (alpha == 255) continue;
            has_alpha = 1;
            for (int color = 0; alpha && color < 3; color++) {
                unsigned value = (pixel[color] * 255u + alpha / 2) / alpha;
                pixel[color] = value < 255 ? value : 255;
            }
        }
    }
    return has_alpha;
}

static void write_pixels(const GdkPixbuf *image, int has_alpha) {
    int width = gdk.get_width(image), height = gdk.get_height(image), channels = gdk.get_n_channels(image);
    size_t stride = gdk.get_rowstride(image);
    const unsigned char *pixels = gdk.read_pixels(image);
    struct cimages_answer answer = {
        .magic = CIMAGES_MAGIC, .status = CIMAGES_DECODED, .width = width, .height = height,
        .has_alpha = has_alpha,
    };
    write_all(&answer, sizeof answer);
    if (channels == 4) {
        for (int row = 0; row < height; row++) write_all(pixels + row * stride, (size_t)width * 4);
        return;
    }
    static unsigned char piece[65536];
    size_t filled = 0;
    for (int row = 0; row < height; row++) {
        const unsigned char *pixel = pixels + row * stride;
        for (int column = 0; column < width; column++, pixel += 3) {
            if (filled == sizeof piece) { write_all(piece, filled); filled = 0; }
            piece[filled++] = pixel[0];
            piece[filled++] = pixel[1];
            piece[filled++] = pixel[2];
            piece[filled++] = 255;
        }
    }
    write_all(piece, filled);
}

static void decode(const struct cimages_request *request, const unsigned char *bytes) {
    GError *error = NULL;
    GdkPixbufLoader *loader = gdk.loader_new_with_type(types[request->format], &error);
    if (!loader) {
        refuse(CIMAGES_NO_FORMAT, error ? error->message : NULL);
        if (error) gdk.error_free(error);
        return;
    }
    struct size_check check = {.request = request};
    gdk.signal_connect(loader, "size-prepared", (void (*)(void))size_prepared, &check, NULL, 0);
    int is_written = gdk.loader_write(loader, bytes, request->length, &error);
    // To be closed in any case; its error is that of a file that breaks off.
    int is_closed = gdk.loader_close(loader, is_written ? &error : NULL);
    GdkPixbuf *image = is_written && is_closed && !check.is_too_large ? gdk.loader_get_pixbuf(loader) : NULL;
    if (image) image = gdk.object_ref(image);
    gdk.object_unref(loader);
    if (check.is_too_large) {
        refuse(CIMAGES_TOO_LARGE, NULL);
    } else if (!image && error && error->domain == gdk.error_quark() && error->code == INSUFFICIENT_MEMORY) {
        refuse(CIMAGES_NO_MEMORY, NULL);  // of the image nothing is known
    } else if (!image) {
        refuse(CIMAGES_MALFORMED, error ? error->message : "It has no pixels.");
    } else if ((uint64_t)gdk.get_width(image) * (uint64_t)gdk.get_height(image) > request->maximum_pixels) {
        refuse(CIMAGES_TOO_LARGE, NULL);  // a loader that did not report its size before
    } else {
        int width = request->width, height = request->height;
        // Before it is scaled, which weighs colors by their alpha.
        int has_alpha = request->format == CIMAGES_TIFF ? unpremultiply(image) : gdk.get_has_alpha(image);
        if (!request->orientation) {
            // Which is applied first, since a scaled image does not have it any more.
            int stored = gdk.get_width(image);
            image = replaced(image, gdk.apply_embedded_orientation(image));
            if (image && gdk.get_width(image) != stored) {
                int turned = width;
                width = height;
                height = turned;
            }
        }
        // The loader may find another size than the application did, which then requested none.
        if (image && !width && request->maximum_side) {
            uint64_t own_width = gdk.get_width(image), own_height = gdk.get_height(image);
            uint64_t longer = own_width > own_height ? own_width : own_height, side = request->maximum_side;
            if (longer > side) {
                width = (own_width * side + longer / 2) / longer;
                height = (own_height * side + longer / 2) / longer;
                if (width < 1) width = 1;
                if (height < 1) height = 1;
            }
        }
        if (image && width && (gdk.get_width(image) != width || gdk.get_height(image) != height))
            image = replaced(image, gdk.scale_simple(image, width, height, BILINEAR));
        if (image) image = oriented(image, request->orientation);
        if (image) write_pixels(image, has_alpha);
        else refuse(CIMAGES_NO_MEMORY, NULL);
    }
    if (image) gdk.object_unref(image);
    if (error) gdk.error_free(error);
}

// MARK: - The process

static void serve(void) {
    // A program with more rights than its caller: the caller's environment names no modules.
    if (getauxval(AT_SECURE)) clearenv();
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
    prctl(PR_SET_DUMPABLE, 0);
    // Allocations of some size are returned to the system: one image leaves nothing of its size to the next.
    setenv("G_SLICE", "always-malloc", 1);
    struct cimages_hello hello = {.magic = CIMAGES_MAGIC};
    hello.has_library = open_library();
    if (hello.has_library) {
        hello.formats = load_formats();
        hello.is_confined = cimages_confine();
    }
    write_all(&hello, sizeof hello);
    if (!hello.has_library) return;
    for (;;) {
        struct cimages_request request;
        read_all(&request, sizeof request);
        if (request.magic != CIMAGES_MAGIC || request.format >= CIMAGES_FORMATS) return;
        cimages_limit(request.memory, request.seconds);
        // Not from the heap, which would have to be one piece, and would keep it.
        size_t mapped = request.length ? request.length : 1;
        unsigned char *bytes = mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (bytes == MAP_FAILED) {
            unsigned char piece[4096];
            for (uint64_t left = request.length; left > 0;) {
                size_t step = left < sizeof piece ? left : sizeof piece;
                read_all(piece, step);
                left -= step;
            }
            refuse(CIMAGES_NO_MEMORY, NULL);
            continue;
        }
        read_all(bytes, request.length);
        decode(&request, bytes);
        munmap(bytes, mapped);
    }
}

__attribute__((constructor)) static void become_decoder(int argc, char **argv) {
    if (argc < 1 || !argv || !argv[0] || strcmp(argv[0], CIMAGES_DECODER_NAME) != 0) return;
    serve();
    _exit(0);
}

static int holds_this_code(struct dl_phdr_info *object, size_t size, void *is_found) {
    (void)size;
    uintptr_t code = (uintptr_t)become_decoder;
    for (int index = 0; index < object->dlpi_phnum; index++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[index];
        uintptr_t begin = object->dlpi_addr + part->p_vaddr;
        if (part->p_type == PT_LOAD && code >= begin && code < begin + part->p_memsz) *(int *)is_found = 1;
    }
    return 1;  // the first object is the program itself: look no further
}

int cimages_is_there_from_the_start(void) {
    int is_found = 0;
    dl_iterate_phdr(holds_this_code, &is_found);
    // Else in a library that the program is linked with: those are looked up, plug-ins are not.
    return is_found || dlsym(RTLD_DEFAULT, "cimages_is_there_from_the_start") == (void *)cimages_is_there_from_the_start;
}
