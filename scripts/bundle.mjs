// The package as it is shipped: the command and every entry of the library, with the packages they need, in chunks that
// they share and that are loaded when asked for, so that nothing is in it twice. Bundled packages start several times
// faster than installed ones (bench/start.ts). Tests that need the command alone bundle it alone.
// `node scripts/bundle.mjs [folder]`
import { chmodSync, copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { version, exports, peerDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
/** The command, and what it starts in a thread of its own. */
const command = { pal: 'src/cli/main.ts', 'inspect-replay': 'src/inspector/replay-worker.ts' }
const library = Object.fromEntries(
  Object.values(exports).map(({ default: file }) => {
    const name = file.slice('./dist/'.length, -'.js'.length)
    return [name, `src/${name}.ts`]
  }),
)

// Packages written for require still look for it; esbuild asks for it in one chunk, on behalf of all. Browsers load that
// chunk too (palimpsest/projection), so it imports nothing of Node.
const requireLine = `const require=globalThis.process?.getBuiltinModule?.('module').createRequire(import.meta.url);`

/** Importing this one by its name would have Node evaluate every getter of `process`, at every start. */
const plainProcess = {
  name: 'plain-process',
  setup(build) {
    build.onResolve({ filter: /^node:process$/ }, ({ path }) => ({ path, namespace: 'plain-process' }))
    build.onLoad({ filter: /.*/, namespace: 'plain-process' }, () => ({
      contents: 'export default globalThis.process',
    }))
  },
}

/**
 * Telemetry must speak to the copy of OpenTelemetry's API that a program has set up, so ours is the installed one; the SDK of
 * Anthropic imports it at every start, and the copy bundled for it costs no further files.
 */
const installedApi = {
  name: 'installed-api',
  setup(build) {
    build.onResolve({ filter: /^@opentelemetry\/api$/ }, ({ path, importer }) =>
      importer.startsWith(join(root, 'src')) ? { path, external: true } : undefined,
    )
  },
}
const installed = Object.keys(peerDependencies).filter((name) => name !== '@opentelemetry/api')

/** Writes `pal.js` and its chunks into a folder; with the library, its entries too. */
export async function bundle(folder, withLibrary = false) {
  // Chunks are named by their content: those of earlier builds would be packed along.
  rmSync(withLibrary ? folder : join(folder, 'pal'), { recursive: true, force: true })
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: withLibrary ? { ...command, ...library } : command,
    outdir: folder,
    bundle: true,
    splitting: true,
    chunkNames: 'pal/[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node20.19',
    // Names stay: stack traces that people send us must name our functions, and putting names back costs every start.
    minifyWhitespace: true,
    minifySyntax: true,
    define: { PAL_VERSION: JSON.stringify(version) },
    // The first holds a program of the platform beside its code; the others are installed by those who need them.
    external: ['@vscode/ripgrep', ...installed],
    plugins: [plainProcess, installedApi],
    write: false,
    legalComments: 'none',
    logLevel: 'error',
  })
  const pal = join(folder, 'pal.js')
  for (const { path, text } of outputFiles) {
    const start = path === pal ? '#!/usr/bin/env node\n' : ''
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, `${start}${text.includes('typeof require') ? requireLine : ''}${text}`)
  }
  chmodSync(pal, 0o755)
  await Promise.all([bundleHooks(folder), bundlePage(join(folder, pageFolder))])
}

/** Where the inspector's page lies in a bundle. */
export const pageFolder = 'inspector'

/**
 * The inspector's page: `index.html`, `page.js` with the chunks it loads on demand, `page.css`, and `export.js`, which is the
 * whole page as one classic script for exported files.
 */
export async function bundlePage(folder) {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const source = join(root, 'src', 'inspector', 'page')
  const shared = {
    absWorkingDir: root,
    bundle: true,
    platform: 'browser',
    target: ['es2022'],
    jsx: 'automatic',
    jsxImportSource: 'preact',
    minify: true,
    legalComments: 'none',
    logLevel: 'error',
    metafile: true,
  }
  const [{ metafile }] = await Promise.all([
    build({
      ...shared,
      entryPoints: [
        { in: join(source, 'main.tsx'), out: 'page' },
        { in: join(source, 'style.css'), out: 'page' },
      ],
      outdir: folder,
      format: 'esm',
      splitting: true,
      chunkNames: '[name]-[hash]',
    }),
    build({
      ...shared,
      entryPoints: { export: join(source, 'exported.tsx') },
      outdir: folder,
      format: 'iife',
    }),
  ])
  copyFileSync(join(source, 'index.html'), join(folder, 'index.html'))
  return metafile
}

/** What runs in the hooks of other programs, each in one file without packages or chunks: started at every event, or loaded by another program. */
const hookBundles = [
  { entry: 'src/companion/hook/main.ts', name: 'companion-hook.cjs', format: 'cjs' },
  { entry: 'src/companion/hook/opencode.ts', name: 'companion-opencode.js', format: 'esm' },
]

/** Writes them into a folder; says what each is made of. */
export async function bundleHooks(folder) {
  const [hook, opencode] = await Promise.all(hookBundles.map((one) => bundleHook(folder, one)))
  return { hook, opencode }
}

async function bundleHook(folder, { entry, name, format }) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: [entry],
    outfile: join(folder, name),
    bundle: true,
    platform: 'node',
    format,
    target: 'node20.19',
    minifyWhitespace: true,
    minifySyntax: true,
    plugins: [plainProcess],
    metafile: true,
    legalComments: 'none',
    logLevel: 'error',
  })
  return metafile
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  await bundle(resolve(root, process.argv[2] ?? 'dist'), true)
}
