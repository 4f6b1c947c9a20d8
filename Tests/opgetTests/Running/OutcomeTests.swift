import Foundation
import FoundationNetworking
import OperationNetworking
import Testing

@testable import opget

@Suite struct OutcomeTests {
    private static let inOrder: [Outcome] = [
        .signal(2), .usage, .file, .network, .tls, .authorization, .wrongAnswer, .server, .other, .success,
    ]

    @Test func oneOrderDecidesWhichOfTwoIsTold() {
        for (index, first) in Self.inOrder.enumerated() {
            for second in Self.inOrder[index...] {
                #expect(first.combined(with: second) == first)
                #expect(second.combined(with: first) == first)
            }
        }
    }

    @Test func codesAreThoseOfTheTable() {
        #expect(Self.inOrder.map(\.code) == [130, 2, 3, 4, 5, 6, 7, 8, 1, 0])
        #expect(Outcome.closedOutput.code == 141)
        for status in Self.inOrder.dropFirst() {
            #expect(Outcome.table.contains { $0.code == "\(status.code)" })
        }
    }

    @Test(
        arguments: [
            (.cannotFindHost, .network), (.cannotConnectToHost, .network), (.networkConnectionLost, .network),
            (.timedOut, .network), (.unknown, .network), (.secureConnectionFailed, .tls),
            (.serverCertificateUntrusted, .tls), (.clientCertificateRequired, .tls),
            (.badServerResponse, .wrongAnswer),
            (.cannotDecodeRawData, .wrongAnswer), (.httpTooManyRedirects, .wrongAnswer),
            (.unsupportedURL, .usage),
            (.userAuthenticationRequired, .authorization),
        ] as [(URLError.Code, Outcome)]
    )
    func transportFailuresHaveAClass(code: URLError.Code, expected: Outcome) {
        #expect(Failure(URLError(code)).outcome == expected)
    }

    @Test func otherFailuresHaveAClass() {
        #expect(Failure(CocoaError(.fileWriteOutOfSpace)).outcome == .file)
        #expect(Failure(NSError(domain: NSPOSIXErrorDomain, code: 5)).outcome == .file)
        #expect(Failure(ResumeError.representationChanged).outcome == .wrongAnswer)
        #expect(Failure(CancellationError()).outcome == .other)
        #expect(Failure(Failure.closedOutput) == .closedOutput)
    }
}
