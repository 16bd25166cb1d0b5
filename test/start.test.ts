// What a start loads. The graph of imports is read from the bundle, since a single import at the top of a file is enough
// to put a large package before every first request.
import { build, type Metafile } from 'esbuild'
import { resolve } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
/** Loaded one after the other by `pal -p`, each late. */
const stations = ['src/cli/main.ts', 'src/cli/terminal/io.ts', 'src/cli/program.ts', 'src/cli/headless.ts']
const late = [
  'node_modules/',
  'src/disk/yaml.ts',
  'src/memory/format/frontmatter.ts',
  'src/memory/recall/',
  'src/memory/trust/sentences.ts',
  'src/tools/permission/shell/analyse.ts',
  'src/tools/web/http-get.ts',
  'src/simulator/',
  'src/lab/',
  'src/cli/screen/',
]
const early = [
  'node_modules/commander/',
  'node_modules/zod/',
  'src/memory/recall/memory-source.ts',
  // What is kept of the index and how it is read back: no tables.
  'src/memory/recall/stored-index.ts',
]

function reachedFrom(inputs: Metafile['inputs'], starts: readonly string[]): ReadonlySet<string> {
  const reached = new Set(starts)
  for (const file of reached)
    for (const { path, kind, external } of inputs[file]?.imports ?? [])
      if (kind !== 'dynamic-import' && external !== true) reached.add(path)
  return reached
}

describe('the start of pal', () => {
  let metafile: Metafile
  beforeAll(async () => {
    const built = await build({
      absWorkingDir: root,
      entryPoints: ['src/cli/main.ts'],
      outdir: 'dist',
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      external: ['@vscode/ripgrep'],
      metafile: true,
      write: false,
      logLevel: 'silent',
    })
    metafile = built.metafile
  })

  it('[H31] up to the first request it loads no more packages than these, and no tables that wait for a need', () => {
    const reached = [...reachedFrom(metafile.inputs, stations)]
    expect(reached).toContain('src/engine/engine.ts')
    const tooEarly = reached.filter(
      (file) =>
        late.some((start) => file.startsWith(start)) && !early.some((start) => file.startsWith(start)),
    )
    expect(tooEarly).toEqual([])
  })

  it('[H31] of the SDK only what posts a request is in the bundle', () => {
    const kept = Object.values(metafile.outputs).flatMap(({ inputs }) => Object.entries(inputs))
    const bytes = kept
      .filter(([file]) => file.startsWith('node_modules/@anthropic-ai/sdk/'))
      .reduce((sum, [, { bytesInOutput }]) => sum + bytesInOutput, 0)
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThan(300_000)
  })
})
