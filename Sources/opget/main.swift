import Foundation

CommandLineTool.run()
