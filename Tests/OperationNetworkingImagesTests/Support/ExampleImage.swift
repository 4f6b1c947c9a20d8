import Foundation
import OperationNetworking
import OperationNetworkingImages
import Testing

/// Small images of every format, made with Pillow 13: 16 x 8 pixels, of which the quarters are red, green, blue and
/// white. The white one of `png`, `webp` and the icons has the alpha 64.
struct ExampleImage: CustomTestStringConvertible {
    let name: String
    let format: ResponseImage.Format
    let data: Data

    private init(_ name: String, _ format: ResponseImage.Format, _ base64: String) {
        self.name = name
        self.format = format
        data = Data(base64Encoded: base64) ?? Data()
    }

    var testDescription: String { name }

    static func named(_ name: String) -> Data {
        all.first { $0.name == name }?.data ?? Data()
    }

    /// The JPEG with an orientation in Exif.
    static func jpeg(orientation: UInt8) -> Data {
        let exif: [UInt8] =
            Array("Exif\0\0MM\0*".utf8) + [0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, orientation]
            + [0, 0, 0, 0, 0, 0]
        let data = named("jpeg")
        return data.prefix(2) + Data([0xFF, 0xE1, 0, UInt8(exif.count + 2)] + exif) + data.dropFirst(2)
    }

    /// A TIFF of 2 x 2 equal pixels: three or four samples of 8 bits. By `extraSamples` the fourth one is an
    /// alpha: with 1 the colors are premultiplied, with 2 they are not. `width` has the directory's entries of
    /// the width, each a type and a value.
    static func tiff(
        _ pixel: [UInt8],
        extraSamples: UInt32? = nil,
        width: [(type: UInt16, value: UInt32)] = [(3, 2)]
    ) -> Data {
        func little(_ value: UInt32, _ count: Int = 4) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        func entry(_ tag: UInt16, _ type: UInt16, _ value: UInt32, count: UInt32 = 1) -> [UInt8] {
            little(UInt32(tag), 2) + little(UInt32(type), 2) + little(count) + little(value)
        }
        let samples = UInt32(pixel.count)
        let entryCount = UInt32(10 + width.count + (extraSamples == nil ? 0 : 1))
        let depths = 8 + 2 + entryCount * 12 + 4
        var data = Array("II*\0".utf8) + little(8) + little(entryCount, 2)
        for (type, value) in width { data += entry(256, type, value) }
        data += entry(257, 3, 2) + entry(258, 3, depths, count: samples) + entry(259, 3, 1)
        data += entry(262, 3, 2) + entry(273, 4, depths + 2 * samples) + entry(274, 3, 1)
        data += entry(277, 3, samples) + entry(278, 3, 2) + entry(279, 4, 4 * samples) + entry(284, 3, 1)
        if let extraSamples { data += entry(338, 3, extraSamples) }
        data += little(0) + pixel.flatMap { _ in little(8, 2) }
        for _ in 0..<4 { data += pixel }
        return Data(data)
    }

    /// A bitmap of run lengths that claims any size, and has no pixel but the first.
    static func bitmap(width: Int32, height: Int32) -> Data {
        func little(_ value: Int32) -> [UInt8] {
            (0..<4).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
        }
        let table = [UInt8](repeating: 0x40, count: 1_024)
        let body: [UInt8] = [1, 0, 0, 1]
        let head =
            little(40) + little(width) + little(height) + [1, 0, 8, 0] + little(1) + little(Int32(body.count))
        let rest = little(0) + little(0) + little(256) + little(0)
        return Data(
            Array("BM".utf8) + little(Int32(54 + 1_024 + body.count)) + little(0) + little(54 + 1_024) + head
                + rest
                + table + body
        )
    }

    static let all: [ExampleImage] = [
        ExampleImage(
            "png",
            .png,
            """
            iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAYAAADwdn+XAAAAKElEQVR42mP8z8DwnwEPYMQry8DAxEAhGHgDWBjx\
            BwHDfwYGx2EeBgAdvQVQTRgg3gAAAABJRU5ErkJggg==
            """
        ),
        ExampleImage(
            "pngPalette",
            .png,
            """
            iVBORw0KGgoAAAANSUhEUgAAABAAAAAIAgMAAACNGJcEAAAADFBMVEX///8A/wD/AAAAAP8XAUDqAAAAGUlEQVR4\
            2mNcxbCagYmBgQGJYPj/nwFdDABYuANhDcq/PwAAAABJRU5ErkJggg==
            """
        ),
        ExampleImage(
            "png16",
            .png,
            """
            iVBORw0KGgoAAAANSUhEUgAAABAAAAAIEAAAAACFjfwIAAAAEUlEQVR42mNsYMAPmBhGhAIAjMgAkHj41l8AAAAA\
            SUVORK5CYII=
            """
        ),
        ExampleImage(
            "pngTurned",
            .png,
            """
            iVBORw0KGgoAAAANSUhEUgAAABAAAAAICAIAAAB/FOjAAAAAGmVYSWZNTQAqAAAACAABARIAAwAAAAEABgAAAAAA\
            ANZnS2kAAAAgSURBVHjaY/zPgB0w4pBgYiAR0F4DIwMDdsf+Hzp+AAAUswULmSfH3wAAAABJRU5ErkJggg==
            """
        ),
        ExampleImage(
            "jpeg",
            .jpeg,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4R\
            DgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU\
            FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wAARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA\
            CAn/xAAcEAABAwUAAAAAAAAAAAAAAAAAFxhlZqSl4uP/xAAWAQEBAQAAAAAAAAAAAAAAAAAIBwn/xAAbEQABBQEB\
            AAAAAAAAAAAAAAAAFxhko+Nl4v/aAAwDAQACEQMRAD8AGyqxdxqXBsvYo2Ea4blXZFkGg1bjeoH0zmV+zONHp9Wh\
            /9k=
            """
        ),
        ExampleImage(
            "jpegProgressive",
            .jpeg,
            """
            /9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAAMCAgMCAgMDAwMEAwMEBQgFBQQEBQoHBwYIDAoMDAsKCwsNDhIQDQ4R\
            DgsLEBYQERMUFRUVDA8XGBYUGBIUFRT/2wBDAQMEBAUEBQkFBQkUDQsNFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQU\
            FBQUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFBT/wgARCAAIABADAREAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAA\
            Bwj/xAAWAQEBAQAAAAAAAAAAAAAAAAAHBgj/2gAMAwEAAhADEAAAARq4RrID84//xAAWEAEBAQAAAAAAAAAAAAAA\
            AAAAFRb/2gAIAQEAAQUCqsg//8QAGhEAAQUBAAAAAAAAAAAAAAAAABYXY6LiZP/aAAgBAwEBPwFw+W+RHz10f//E\
            ABsRAAEEAwAAAAAAAAAAAAAAAAAWF2OiZOHi/9oACAECAQE/AWyzKdiZmrs//8QAGRAAAQUAAAAAAAAAAAAAAAAA\
            ADM0oqPh/9oACAEBAAY/AkpDuvT/xAAWEAADAAAAAAAAAAAAAAAAAAAQ8PH/2gAIAQEAAT8hSBX/2gAMAwEAAgAD\
            AAAAELf/xAAUEQEAAAAAAAAAAAAAAAAAAAAQ/9oACAEDAQE/EBe//8QAFBEBAAAAAAAAAAAAAAAAAAAAEP/aAAgB\
            AgEBPxAIf//EABQQAQAAAAAAAAAAAAAAAAAAABD/2gAIAQEAAT8QIX//2Q==
            """
        ),
        ExampleImage(
            "gif",
            .gif,
            """
            R0lGODdhEAAIAIEAAP///wD/AP8AAAAA/ywAAAAAEAAIAAAIMAAFCBwoMIDBgwYJEkSIUOFAhgcdFoQYYIDFixYB\
            aNyoESNGjhw9XgS5UWRGkgACAgA7
            """
        ),
        ExampleImage(
            "gifAnimated",
            .gif,
            """
            R0lGODlhEAAIAIEAAP///wD/AP8AAAAA/yH5BAAKAAAALAAAAAAQAAgAAAgwAAUIHCgwgMGDBgkSRIhQ4UCGBx0W\
            hBhggMWLFgFo3KgRI0aOHD1eBLlRZEaSAAICACH5BAEKAAEALAAAAAAQAAgAgQkJCQAAAAAAAAAAAAgVAAEIHEiw\
            oMGDCBMqXMiwocOHCAMCADs=
            """
        ),
        ExampleImage(
            "webp",
            .webp,
            """
            UklGRjwAAABXRUJQVlA4TC8AAAAvD8ABEB8gEEjeHzqN+RcQFPwfnUAgSW1/qCNmDwJhttEkJznJ+x1DRP+j9MP2\
            AQA=
            """
        ),
        ExampleImage(
            "webpLossy",
            .webp,
            """
            UklGRmIAAABXRUJQVlA4IFYAAADwAwCdASoQAAgAAIAIJagCdLoB+AH6gTAD+AfgBd/92AfwAF8VKNxAAP7/SNn/\
            YMn/321v/7LkqP/qecb+sCRqyqU3jER/+8/GucoCBNtyJH34dgAAAA==
            """
        ),
        ExampleImage(
            "webpAnimated",
            .webp,
            """
            UklGRqAAAABXRUJQVlA4WAoAAAACAAAADwAABwAAQU5JTQYAAAAAAAAAAABBTk1GQgAAAAAAAAAAAA8AAAcAAAAA\
            AAJWUDhMKgAAAC8PwAEAHyAQSN4fOo35FxAU/B/d/EdkD4Aw22iSkzzJ/Y4hov+x6Ye6AUFOTUYqAAAAAAAAAAAA\
            DwAABwAAAAAAAFZQOEwRAAAALw/AAQAH0IQmNKH/gYjofwAA
            """
        ),
        ExampleImage(
            "webpTurned",
            .webp,
            """
            UklGRmoAAABXRUJQVlA4WAoAAAAIAAAADwAABwAAVlA4TCkAAAAvD8ABAB8gEEjeHzqN+RcQFPwf3fxHZA+A\
            MNtokpOc5P2OIaL/Ufph+wBFWElGGgAAAE1NACoAAAAIAAEBEgADAAAAAQAGAAAAAAAA
            """
        ),
        ExampleImage(
            "bmp",
            .bmp,
            """
            Qk3GAAAAAAAAAEYAAAAoAAAAEAAAAAgAAAABAAgAAAAAAIAAAADEDgAAxA4AAAQAAAAEAAAA////AAD/AAAAAP8A\
            /wAAAAMDAwMDAwMDAAAAAAAAAAADAwMDAwMDAwAAAAAAAAAAAwMDAwMDAwMAAAAAAAAAAAMDAwMDAwMDAAAAAAAA\
            AAACAgICAgICAgEBAQEBAQEBAgICAgICAgIBAQEBAQEBAQICAgICAgICAQEBAQEBAQECAgICAgICAgEBAQEBAQEB
            """
        ),
        ExampleImage(
            "tiff",
            .tiff,
            """
            SUkqAFAAAACAP8AACBQSBwWEQeFQuEwaHQ2BRCGROHQ+KRKDRiNQuLR2NxuPRyQSCQyWEP+USmVSuWSmLy+Hy2ZT\
            OYSOZzeVzWazieP+AgAKAAABAwABAAAAEAAAAAEBAwABAAAACAAAAAIBAwADAAAAzgAAAAMBAwABAAAABQAAAAYB\
            AwABAAAAAgAAABEBBAABAAAACAAAABUBAwABAAAAAwAAABYBAwABAAAACAAAABcBBAABAAAARwAAABwBAwABAAAA\
            AQAAAAAAAAAIAAgACAA=
            """
        ),
        ExampleImage(
            "tiffTurned",
            .tiff,
            """
            SUkqAFAAAACAP8AACBQSBwWEQeFQuEwaHQ2BRCGROHQ+KRKDRiNQuLR2NxuPRyQSCQyWEP+USmVSuWSmLy+Hy2ZT\
            OYSOZzeVzWazieP+AgALAAABAwABAAAAEAAAAAEBAwABAAAACAAAAAIBAwADAAAA2gAAAAMBAwABAAAABQAAAAYB\
            AwABAAAAAgAAABEBBAABAAAACAAAABIBAwABAAAABgAAABUBAwABAAAAAwAAABYBAwABAAAACAAAABcBBAABAAAA\
            RwAAABwBAwABAAAAAQAAAAAAAAAIAAgACAA=
            """
        ),
        ExampleImage(
            "tiffFlipped",
            .tiff,
            """
            SUkqAFAAAACAP8AACBQSBwWEQeFQuEwaHQ2BRCGROHQ+KRKDRiNQuLR2NxuPRyQSCQyWEP+USmVSuWSmLy+Hy2ZT\
            OYSOZzeVzWazieP+AgALAAABAwABAAAAEAAAAAEBAwABAAAACAAAAAIBAwADAAAA2gAAAAMBAwABAAAABQAAAAYB\
            AwABAAAAAgAAABEBBAABAAAACAAAABIBAwABAAAAAwAAABUBAwABAAAAAwAAABYBAwABAAAACAAAABcBBAABAAAA\
            RwAAABwBAwABAAAAAQAAAAAAAAAIAAgACAA=
            """
        ),
        ExampleImage(
            "icoBitmap",
            .ico,
            """
            AAABAAEAEAgAAAAAIAAoAgAAFgAAACgAAAAQAAAAEAAAAAEAIAAAAAAAAAIAAMQOAADEDgAAAAAAAAAAAAD/AAD/\
            /wAA//8AAP//AAD//wAA//8AAP//AAD//wAA/////0D///9A////QP///0D///9A////QP///0D///9A/wAA//8A\
            AP//AAD//wAA//8AAP//AAD//wAA//8AAP////9A////QP///0D///9A////QP///0D///9A////QP8AAP//AAD/\
            /wAA//8AAP//AAD//wAA//8AAP//AAD/////QP///0D///9A////QP///0D///9A////QP///0D/AAD//wAA//8A\
            AP//AAD//wAA//8AAP//AAD//wAA/////0D///9A////QP///0D///9A////QP///0D///9AAAD//wAA//8AAP//\
            AAD//wAA//8AAP//AAD//wAA//8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wAA//8AAP//AAD//wAA\
            //8AAP//AAD//wAA//8AAP//AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8AAP//AAD//wAA//8AAP//\
            AAD//wAA//8AAP//AAD//wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AAD//wAA//8AAP//AAD//wAA\
            //8AAP//AAD//wAA//8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/wD/AP8A/w==
            """
        ),
        ExampleImage(
            "icoPNG",
            .ico,
            """
            AAABAAEAEAgAAAAAIABlAAAAFgAAAIlQTkcNChoKAAAADUlIRFIAAAAQAAAACAgGAAAA8HZ/lwAAACxJREFUeJxj\
            /M/A8J8BD2DEK8vAwIRfmjAYeANYGPEHAcN/BgZHmrpg4A0AAB29BVDg39OzAAAAAElFTkSuQmCC
            """
        ),
    ]
}
