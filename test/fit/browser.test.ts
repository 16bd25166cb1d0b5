// `palimpsest/fit` where there is no Node: bundled for a browser, run in a realm that has only what every browser has.
import { build } from 'esbuild'
import { resolve } from 'node:path'
import { gzipSync } from 'node:zlib'
import { createContext, runInContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { fit, type FitOptions, type FitOutcome, type FitState } from '../../src/fit/index.ts'
import { inWords, linesOf, models, wires, type Step } from './lists.ts'

const root = resolve(import.meta.dirname, '../..')
/** What a page pays for it. Larger than this somebody has pulled in what does not belong. */
const mostBytes = 400_000

async function bundleOf(): Promise<string> {
  const { outputFiles, metafile } = await build({
    stdin: {
      contents: `export { fit } from ${JSON.stringify(resolve(root, 'src/fit/index.ts'))}`,
      resolveDir: root,
    },
    bundle: true,
    write: false,
    minify: true,
    metafile: true,
    platform: 'browser',
    format: 'iife',
    globalName: 'palimpsest',
    logLevel: 'silent',
  })
  const packages = Object.keys(metafile.inputs).filter((file) => file.includes('node_modules'))
  expect(packages.filter((file) => !file.includes('node_modules/zod/'))).toEqual([])
  return outputFiles[0]!.text
}

/** Only what every browser has, and nothing of Node. */
function realm(): Record<string, unknown> {
  return createContext({ TextEncoder, TextDecoder, structuredClone }) as Record<string, unknown>
}

const steps: Step[] = [{ kind: 'prompt', text: 'Do the task, Größe 大きい 🙂.' }]
for (let at = 0; at < 12; at++) {
  const call = { id: `c${at}`, name: 'read', input: { at } }
  steps.push(
    { kind: 'answer', text: `Step ${at}.`, calls: [call], reasons: at % 2 === 0 },
    { kind: 'result', call, text: linesOf(at % 5, 9000) },
  )
}

describe('in a browser', () => {
  let text = ''
  beforeAll(async () => {
    text = await bundleOf()
  })

  it('[FI7] asks for no part of Node, and is small', () => {
    expect(text).not.toMatch(/from"node:|require\("node:|\bBuffer\b|process\.(?:env|version)/u)
    console.log(`palimpsest/fit for a browser: ${text.length} bytes, ${gzipSync(text).length} compressed`)
    expect(text.length).toBeLessThan(mostBytes)
  })

  it.each(wires)('[FI7] gives the bytes that Node gives on %s', (wire) => {
    const page = realm()
    runInContext(text, page)
    const options: FitOptions = { wire, model: models[wire], window: 14_000, store: false }
    let state: FitState | null = null
    let compacted = 0
    for (let rounds = 1; rounds <= 12; rounds++) {
      const list = inWords(wire, steps.slice(0, 1 + 2 * rounds))
      const here: FitOutcome<unknown> = fit(list, { ...options, state })
      page['given'] = JSON.stringify({ list, options: { ...options, state } })
      const there = runInContext(
        'const asked = JSON.parse(given); JSON.stringify(palimpsest.fit(asked.list, asked.options))'
          .replace('const asked', `const asked${rounds}`)
          .replaceAll('asked.', `asked${rounds}.`),
        page,
      ) as string
      expect(there).toBe(JSON.stringify(here))
      if (!here.ok) throw new Error(here.message)
      compacted += here.report.boundary?.isNew === true ? 1 : 0
      state = here.state
    }
    expect(compacted).toBeGreaterThan(0)
  })
})
