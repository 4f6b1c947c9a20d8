import Foundation
print("")
