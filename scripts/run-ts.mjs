// Runs a TypeScript file: `node scripts/run-ts.mjs [node flags] FILE [arguments]`. Node 20 cannot, so esbuild bundles it first.
// The bundle lies under node_modules, so that packages are found; `import.meta` speaks of FILE, not of the bundle.
import { spawn } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { build } from 'esbuild'

const given = process.argv.slice(2)
const at = given.findIndex((word) => !word.startsWith('-'))
if (at < 0) {
  process.stderr.write('usage: node scripts/run-ts.mjs [node flags] FILE [arguments]\n')
  process.exit(2)
}
const file = resolve(given[at])
const root = dirname(dirname(fileURLToPath(import.meta.url)))
const folder = join(root, 'node_modules', '.cache', 'run-ts')
const outfile = join(folder, `${basename(file, '.ts')}-${process.pid}.mjs`)

mkdirSync(folder, { recursive: true })
process.on('exit', () => rmSync(outfile, { force: true }))
try {
  await build({
    entryPoints: [file],
    outfile,
    bundle: true,
    packages: 'external',
    platform: 'node',
    format: 'esm',
    target: 'node20',
    sourcemap: 'inline',
    sourcesContent: false,
    logLevel: 'error',
    define: {
      'import.meta.url': JSON.stringify(pathToFileURL(file).href),
      'import.meta.dirname': JSON.stringify(dirname(file)),
      'import.meta.filename': JSON.stringify(file),
    },
  })
} catch {
  // esbuild has already said what is wrong.
  process.exit(1)
}
const child = spawn(
  process.execPath,
  ['--enable-source-maps', ...given.slice(0, at), outfile, ...given.slice(at + 1)],
  {
    stdio: 'inherit',
  },
)
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal))
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1))
