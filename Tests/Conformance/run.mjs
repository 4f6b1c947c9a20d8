// Runs http-tests/cache-tests through CacheAdapter, and compares the results with results.json.
//
//   node run.mjs <checkout of cache-tests> <CacheAdapter> [--record | --only=<id>]
//
// The suite's server has to be running at $CACHE_TESTS_URL (http://localhost:8000).
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath, pathToFileURL } from 'node:url'

const [suite, adapter, option] = process.argv.slice(2)
if (!suite || !adapter) {
  console.error('usage: node run.mjs <checkout of cache-tests> <CacheAdapter> [--record | --only=<id>]')
  process.exit(2)
}
const base = process.env.CACHE_TESTS_URL ?? 'http://localhost:8000'
const own = dirname(fileURLToPath(import.meta.url))

// MARK: the adapter as fetch

const child = spawn(resolve(adapter), { stdio: ['pipe', 'pipe', 'inherit'] })
const waiting = new Map()
let lastID = 0
createInterface({ input: child.stdout }).on('line', line => {
  const answer = JSON.parse(line)
  const { accept, refuse } = waiting.get(answer.id)
  waiting.delete(answer.id)
  if (answer.error !== undefined) refuse(new Error(answer.error))
  else accept({
    status: answer.status,
    statusText: answer.reason,
    headers: new Headers(answer.headers),
    text: async () => answer.body
  })
})

const network = globalThis.fetch
globalThis.fetch = (url, init = {}) => {
  if (!url.includes('/test/')) return network(url, init)
  const id = ++lastID
  return new Promise((accept, refuse) => {
    waiting.set(id, { accept, refuse })
    init.signal?.addEventListener('abort', () => {
      if (waiting.has(id)) refuse(Object.assign(new Error('no answer'), { name: 'AbortError' }))
    })
    child.stdin.write(JSON.stringify({
      id,
      url,
      method: init.method ?? 'GET',
      headers: init.headers ?? [],
      body: init.body,
      cache: init.cache ?? 'default',
      redirect: init.redirect ?? 'follow'
    }) + '\n')
  })
}

// MARK: the suite

const load = path => import(pathToFileURL(join(resolve(suite), path)))
const tests = (await load('tests/index.mjs')).default
const { runTests, getResults } = await load('test-engine/client/runner.mjs')
const { determineTestResult, resultTypes } = await load('test-engine/lib/results.mjs')
const only = option?.startsWith('--only=') ? option.slice(7) : undefined
const chosen = only
  ? tests.map(set => ({ ...set, tests: set.tests.filter(test => test.id === only) }))
  : tests
if (only) chosen.forEach(set => set.tests.forEach(test => { test.dump = true }))
await runTests(chosen, true, base)
child.stdin.end()
const results = getResults()

const verdicts = {}
const counts = {}
for (const set of tests) {
  for (const test of set.tests) {
    if (results[test.id] === undefined) continue
    const kind = test.kind ?? 'required'
    const type = determineTestResult(tests, test.id, results)
    const verdict = Object.keys(resultTypes).find(name => resultTypes[name] === type)
    verdicts[test.id] = { kind, verdict }
    if (kind !== 'check' && verdict !== 'pass') console.log(`${kind} ${test.id}: ${verdict}: ${results[test.id][1]}`)
    counts[kind] ??= {}
    counts[kind][verdict] = (counts[kind][verdict] ?? 0) + 1
  }
}
console.log(JSON.stringify(counts, null, 2))
if (only) process.exit(0)

const file = join(own, 'results.json')
if (option === '--record') {
  const lines = Object.keys(verdicts).sort().map(id => `  ${JSON.stringify(id)}: ${JSON.stringify(verdicts[id])}`)
  writeFileSync(file, `{\n${lines.join(',\n')}\n}\n`)
} else {
  const recorded = JSON.parse(readFileSync(file, 'utf8'))
  const worse = Object.keys(recorded).filter(id =>
    recorded[id].kind !== 'check' && recorded[id].verdict === 'pass' && verdicts[id]?.verdict !== 'pass')
  for (const id of worse) console.error(`${id} passed when results.json was recorded`)
  process.exit(worse.length === 0 ? 0 : 1)
}
