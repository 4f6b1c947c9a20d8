import Foundation
import Testing

@testable import OperationNetworking

/// Images as Pillow, libheif and ImageMagick write them, of 7 x 5 pixels mostly, and what they are.
struct ExampleImage: Sendable, CustomTestStringConvertible {
    let name: String
    let format: ResponseImage.Format
    let width: Int
    let height: Int
    let orientation: Int
    let isAnimated: Bool
    let data: Data

    var testDescription: String { name }

    private init(
        _ name: String,
        _ format: ResponseImage.Format,
        width: Int = 7,
        height: Int = 5,
        orientation: Int = 1,
        isAnimated: Bool = false,
        base64 lines: String...
    ) {
        self.name = name
        self.format = format
        self.width = width
        self.height = height
        self.orientation = orientation
        self.isAnimated = isAnimated
        data = Data(base64Encoded: lines.joined()) ?? Data()
    }

    private init(_ name: String, _ format: ResponseImage.Format, text: String) {
        self.init(name, format, base64: Data(text.utf8).base64EncodedString())
    }

    /// One of ``all``.
    static func named(_ name: String) -> ExampleImage? { all.first { $0.name == name } }

    static let all = [
        ExampleImage(
            "png",
            .png,
            base64:
                "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAAAAACs8akEAAAADElEQVR4nGNgIA4AAAAoAAE1VHKEAAAAAElFTkSuQmCC"
        ),
        ExampleImage(
            "png-turned",
            .png,
            orientation: 6,
            base64:
                "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAAAAACs8akEAAAAGmVYSWZNTQAqAAAACAABARIAAwAAAAEABgAAAAAAANZn",
            "S2kAAAAMSURBVHicY2AgDgAAACgAATVUcoQAAAAASUVORK5CYII="
        ),
        ExampleImage(
            "png-animated",
            .png,
            isAnimated: true,
            base64:
                "iVBORw0KGgoAAAANSUhEUgAAAAcAAAAFCAAAAACs8akEAAAACGFjVEwAAAACAAAAAPONk3AAAAAaZmNUTAAAAAAAAAAH",
            "AAAABQAAAAAAAAAAAAAAAQAAfOqY8QAAAAxJREFUeJxjYCAOAAAAKAABNVRyhAAAABpmY1RMAAAAAQAAAAcAAAAFAAAA",
            "AAAAAAAAAAABAADnmXIlAAAAGGZkQVQAAAACeJxj5GRgYGBgYGBiwE8DAAJPABMfuBjjAAAAAElFTkSuQmCC"
        ),
        ExampleImage(
            "jpeg",
            .jpeg,
            base64:
                "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////",
            "////////////////////////////wAALCAAFAAcBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAAA//EABQQAQAAAAAAAAAA",
            "AAAAAAAAAAD/2gAIAQEAAD8AN//Z"
        ),
        ExampleImage(
            "jpeg-progressive-turned",
            .jpeg,
            orientation: 6,
            base64:
                "/9j/4AAQSkZJRgABAQAAAQABAAD/4QAiRXhpZgAATU0AKgAAAAgAAQESAAMAAAABAAYAAAAAAAD/2wBDAP//////////",
            "////////////////////////////////////////////////////////////////////////////wgALCAAFAAcBAREA",
            "/8QAFAABAAAAAAAAAAAAAAAAAAAAAv/aAAgBAQAAAAE//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABBQJ//8QA",
            "FBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQAGPwJ//8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPyF//9oACAEB",
            "AAAAEH//xAAUEAEAAAAAAAAAAAAAAAAAAAAA/9oACAEBAAE/EH//2Q=="
        ),
        ExampleImage(
            "gif",
            .gif,
            base64: "R0lGODdhBwAFAIEAAAAAAAAAAAAAAAAAACwAAAAABwAFAAAIDAABCBxIsKDBgwcDAgA7"
        ),
        ExampleImage(
            "gif-animated",
            .gif,
            isAnimated: true,
            base64:
                "R0lGODlhBwAFAPAAAAAAAAAAACH5BAAAAAAAIf8LTkVUU0NBUEUyLjADAQAAACwAAAAABwAFAAACBYSPqbsFACH5BAAA",
            "AAAALAAAAAAHAAUAgP///wAAAAIFhI+puwUAOw=="
        ),
        ExampleImage(
            "webp-lossy",
            .webp,
            base64: "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoHAAUADMDOJaQAA3AA/uxnAAA="
        ),
        ExampleImage(
            "webp-lossless",
            .webp,
            base64: "UklGRhoAAABXRUJQVlA4TA4AAAAvBgABAAcQEf0PRET/Aw=="
        ),
        ExampleImage(
            "webp-turned",
            .webp,
            orientation: 6,
            base64:
                "UklGRk4AAABXRUJQVlA4WAoAAAAIAAAABgAABAAAVlA4TA4AAAAvBgABAAcQEf0PRET/A0VYSUYaAAAATU0AKgAAAAgA",
            "AQESAAMAAAABAAYAAAAAAAA="
        ),
        ExampleImage(
            "webp-animated",
            .webp,
            isAnimated: true,
            base64:
                "UklGRoQAAABXRUJQVlA4WAoAAAACAAAABgAABAAAQU5JTQYAAAAAAAAAAABBTk1GJgAAAAAAAAAAAAYAAAQAAAAAAAJW",
            "UDhMDgAAAC8GAAEABxAR/Q9ERP8DQU5NRioAAAAAAAAAAAAGAAAEAAAAAAAAVlA4TBEAAAAvBgABAAfQhCY0of+BiOh/",
            "AAA="
        ),
        ExampleImage(
            "bmp",
            .bmp,
            base64:
                "Qk1SAAAAAAAAAD4AAAAoAAAABwAAAAUAAAABAAEAAAAAABQAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAA=="
        ),
        ExampleImage(
            "bmp-down",
            .bmp,
            base64:
                "Qk1SAAAAAAAAAD4AAAAoAAAABwAAAPv///8BAAEAAAAAABQAAADEDgAAxA4AAAIAAAACAAAAAAAAAP///wAAAAAAAAAA",
            "AAAAAAAAAAAAAAAAAA=="
        ),
        ExampleImage(
            "bmp2",
            .bmp,
            base64: "Qk00AAAAAAAAACAAAAAMAAAABwAFAAEAAQAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=="
        ),
        ExampleImage(
            "ico",
            .ico,
            width: 16,
            height: 16,
            base64:
                "AAABAAEAEBAAAAAAIABGAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAQAAAAEAgAAAAAOpigvQAAAA1JREFUeJxjYBgF",
            "yAAAARAAAaCTEaUAAAAASUVORK5CYII="
        ),
        ExampleImage(
            "cur",
            .cur,
            width: 16,
            height: 16,
            base64:
                "AAACAAEAEBAAAAAAIABGAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAQAAAAEAgAAAAAOpigvQAAAA1JREFUeJxjYBgF",
            "yAAAARAAAaCTEaUAAAAASUVORK5CYII="
        ),
        ExampleImage(
            "tiff",
            .tiff,
            base64:
                "SUkqAAgAAAAIAAABBAABAAAABwAAAAEBBAABAAAABQAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAABAAAAbgAA",
            "ABYBBAABAAAABQAAABcBBAABAAAABQAAABwBAwABAAAAAQAAAAAAAAAAAAAAAA=="
        ),
        ExampleImage(
            "tiff-turned",
            .tiff,
            orientation: 6,
            base64:
                "SUkqAAgAAAAJAAABBAABAAAABwAAAAEBBAABAAAABQAAAAMBAwABAAAAAQAAAAYBAwABAAAAAQAAABEBBAABAAAAegAA",
            "ABIBAwABAAAABgAAABYBBAABAAAABQAAABcBBAABAAAABQAAABwBAwABAAAAAQAAAAAAAAAAAAAAAA=="
        ),
        ExampleImage(
            "tiff-big",
            .tiff,
            base64:
                "SUkrAAgAAAAQAAAAAAAAAAgAAAAAAAAAAAEEAAEAAAAAAAAABwAAAAAAAAABAQQAAQAAAAAAAAAFAAAAAAAAAAMBAwAB",
            "AAAAAAAAAAEAAAAAAAAABgEDAAEAAAAAAAAAAQAAAAAAAAARAQQAAQAAAAAAAADAAAAAAAAAABYBBAABAAAAAAAAAAUA",
            "AAAAAAAAFwEEAAEAAAAAAAAABQAAAAAAAAAcAQMAAQAAAAAAAAABAAAAAAAAAAAAAAAAAAAAAAAAAAA="
        ),
        ExampleImage(
            "tiff-msb",
            .tiff,
            base64:
                "TU0AKgAAAE4AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
            "AAAAAAAAAAAAAA0BAAADAAAAAQAHAAABAQADAAAAAQAFAAABAgADAAAAAQAQAAABAwADAAAAAQABAAABBgADAAAAAQAB",
            "AAABCgADAAAAAQABAAABEQAEAAAAAQAAAAgBEgADAAAAAQABAAABFQADAAAAAQABAAABFgADAAAAAQAFAAABFwAEAAAA",
            "AQAAAEYBHAADAAAAAQABAAABKQADAAAAAgAAAAEAAAAA"
        ),
        ExampleImage(
            "avif",
            .avif,
            base64:
                "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAADrbWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAA",
            "AAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAETAAAAIAAAAChpaW5mAAAAAAABAAAA",
            "GmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAABqaXBycAAAAEtpcGNvAAAAFGlzcGUAAAAAAAAABwAAAAUAAAAQcGl4aQAA",
            "AAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAABdpcG1hAAAAAAAAAAEAAQQBAoMEAAAAKG1kYXQS",
            "AAoIGAi0aICGg0IyEh/3h4UV3///4sAAAJA1jjx+3A=="
        ),
        ExampleImage(
            "avif-turned",
            .avif,
            orientation: 6,
            base64:
                "AAAAIGZ0eXBhdmlmAAAAAGF2aWZtaWYxbWlhZk1BMUIAAAD1bWV0YQAAAAAAAAAhaGRscgAAAAAAAAAAcGljdAAAAAAA",
            "AAAAAAAAAAAAAAAOcGl0bQAAAAAAAQAAAB5pbG9jAAAAAEQAAAEAAQAAAAEAAAEdAAAAIAAAAChpaW5mAAAAAAABAAAA",
            "GmluZmUCAAAAAAEAAGF2MDFDb2xvcgAAAAB0aXBycAAAAFRpcGNvAAAAFGlzcGUAAAAAAAAABwAAAAUAAAAQcGl4aQAA",
            "AAADCAgIAAAADGF2MUOBAAwAAAAAE2NvbHJuY2x4AAEADQAGgAAAAAlpcm90AwAAABhpcG1hAAAAAAAAAAEAAQUBAoME",
            "hQAAAChtZGF0EgAKCBgItGiAhoNCMhIf94eFFd///+LAAACQNY48ftw="
        ),
        ExampleImage(
            "heic-turned",
            .heic,
            width: 70,
            height: 50,
            orientation: 6,
            base64:
                "AAAAHGZ0eXBoZWl4AAAAAG1pZjFoZWl4bWlhZgAAAcJtZXRhAAAAAAAAACFoZGxyAAAAAAAAAABwaWN0AAAAAAAAAAAA",
            "AAAAAAAAADRpbG9jAAAAAERAAAIAAQAAAAAB5gABAAAAAAAAABkAAgAAAAAB/wABAAAAAAAAACQAAAA4aWluZgAAAAAA",
            "AgAAABVpbmZlAgAAAAABAABodmMxAAAAABVpbmZlAgAAAQACAABFeGlmAAAAAA5waXRtAAAAAAABAAABAWlwcnAAAADg",
            "aXBjbwAAAHJodmNDAQQIAAAAn/gAAAAAHvAA/Pz4+AAADwNgAAEAF0ABDAH//wQIAAADAJ/4AAADAAAeugJAYQABACdC",
            "AQEECAAAAwCf+AAAAwAAHsCSBB35bq5Ka5sCAAADADIAAAMAAhBiAAEABkQBwXPBiQAAABNjb2xybmNseAABAA0ABoAA",
            "AAAUaXNwZQAAAAAAAABGAAAAQAAAAChjbGFwAAAARgAAAAEAAAAyAAAAAQAAAAAAAAAC////8gAAAAIAAAAOcGl4aQAA",
            "AAABCAAAAAlpcm90AwAAABlpcG1hAAAAAAAAAAEAAQaBAgMFhIYAAAAaaXJlZgAAAAAAAAAOY2RzYwACAAEAAQAAAEVt",
            "ZGF0AAAAFSgBrgook+GdXO/8hkCIk5Cw+fLnwAAAAAZFeGlmAABNTQAqAAAACAABARIAAwAAAAEABgAAAAAAAA=="
        ),
        ExampleImage(
            "xbm",
            .xbm,
            text: "/* a */\n#define im_width 7\n#define im_height 5\nstatic char im_bits[] = {0};\n"
        ),
    ]
}
