// The package as it would be published: built and packed once, unpacked elsewhere, and used from there.
import { execFileSync, spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, normalize, resolve } from 'node:path'
import { build } from 'esbuild'
import { publint } from 'publint'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..', '..')
const folder = mkdtempSync(join(tmpdir(), 'pal-package-'))
const unpacked = join(folder, 'project', 'node_modules', 'palimpsest')
afterAll(() => rmSync(folder, { recursive: true, force: true }))

beforeAll(() => {
  // Built in a copy: a test must not change the tree that others are testing.
  const copy = join(folder, 'copy')
  for (const name of readdirSync(root))
    if (!['node_modules', 'dist', 'site', '.git'].includes(name))
      cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const npm = (...words: string[]) =>
    execFileSync('npm', words, { cwd: copy, encoding: 'utf8', stdio: 'pipe' })
  npm('run', 'build')
  const packed = npm('pack', '--pack-destination', folder).trim().split('\n').at(-1)!
  mkdirSync(unpacked, { recursive: true })
  execFileSync('tar', ['-xzf', join(folder, packed), '--strip-components=1', '-C', unpacked])
  // What npm would install beside it.
  const { dependencies } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) {
    const place = join(folder, 'project', 'node_modules', name)
    mkdirSync(dirname(place), { recursive: true })
    symlinkSync(join(root, 'node_modules', name), place)
  }
  writeFileSync(join(folder, 'project', 'package.json'), '{"type":"module"}')
})

const filesIn = (place: string): readonly string[] =>
  readdirSync(place, { recursive: true })
    .map(String)
    .filter((name) => statSync(join(place, name)).isFile())

describe('the packed package', () => {
  it('[H52] holds what its pages link to', () => {
    const pages = filesIn(unpacked).filter((name) => name.endsWith('.md'))
    const dead = pages.flatMap((page) =>
      [...readFileSync(join(unpacked, page), 'utf8').matchAll(/\]\(([^)#\s]+)/g)]
        .map(([, href]) => href!)
        .filter(
          (href) => !href.includes(':') && !existsSync(join(unpacked, normalize(join(dirname(page), href)))),
        )
        .map((href) => `${page}: ${href}`),
    )
    expect(pages.length).toBeGreaterThan(40)
    expect(dead).toEqual([])
  })

  it('[H52] has nothing that only tests or the build need', () => {
    expect(
      filesIn(unpacked).filter((name) => /\.test\.|examples\/run|^bench|^scripts|tsconfig/.test(name)),
    ).toEqual([])
  })

  it('[H52] has no code twice', () => {
    const code = filesIn(join(unpacked, 'dist')).filter((name) => /^(?!companion-).*\.js$/.test(name))
    const seen = new Map<string, string>()
    let [all, twice] = [0, 0]
    for (const name of code) {
      const text = readFileSync(join(unpacked, 'dist', name), 'utf8')
      // The client and the server of MCP come with a copy each of what they share.
      if (text.includes('DEFAULT_REQUEST_TIMEOUT_MSEC')) continue
      for (const piece of text.split(/[;\n]/)) {
        if (piece.length < 120) continue
        all += piece.length
        if ((seen.get(piece) ?? name) !== name) twice += piece.length
        seen.set(piece, name)
      }
    }
    expect(all).toBeGreaterThan(1_000_000)
    expect(twice / all).toBeLessThan(0.005)
  })

  it('[H52] has an entry for browsers that asks for no part of Node', async () => {
    const { outputFiles } = await build({
      entryPoints: [join(unpacked, 'dist', 'projection', 'index.js')],
      bundle: true,
      write: false,
      minify: true,
      platform: 'browser',
      format: 'esm',
      logLevel: 'silent',
    })
    expect(outputFiles[0]!.text).not.toMatch(/from"node:|require\("node:/)
    expect(outputFiles[0]!.text.length).toBeLessThan(200_000)
  })

  it('[H52] keeps the rules of published packages', async () => {
    const { messages } = await publint({ pkgDir: unpacked, level: 'warning' })
    expect(messages).toEqual([])
    const manifest = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as Record<
      string,
      unknown
    >
    for (const field of ['name', 'version', 'description', 'license', 'keywords', 'author', 'engines', 'bin'])
      expect([field, manifest[field] !== undefined]).toEqual([field, true])
  })

  it('[H52] what npm installs with it accepts the lowest Node it names', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { dev?: true; devOptional?: true; peer?: true; engines?: { node?: string } }>
    }
    const [floor] = packages['']!.engines!.node!.match(/\d+\.\d+/)!
    const [major, minor] = floor.split('.').map(Number) as [number, number]
    // Each alternative of a range begins with the lowest version it accepts.
    const accepts = (range: string): boolean =>
      range.split('||').some((part) => {
        const [, sign = '', low, lowMinor = '0'] = /([\^~>=]*)\s*v?(\d+)(?:\.(\d+))?/.exec(part) ?? []
        const isBelow = Number(low) < major || (Number(low) === major && Number(lowMinor) <= minor)
        return isBelow && (sign.startsWith('>') || Number(low) === major)
      })
    expect([accepts('>=18'), accepts('^20.0.0 || >=22'), accepts('>=22.12.0'), accepts('^18')]).toEqual([
      true,
      true,
      false,
      false,
    ])
    const installed = Object.entries(packages).filter(
      ([name, { dev, devOptional, peer }]) => name !== '' && !dev && !devOptional && !peer,
    )
    expect(installed.length).toBeGreaterThan(4)
    const refusing = installed.filter(
      ([, { engines }]) => engines?.node !== undefined && !accepts(engines.node),
    )
    expect(refusing.map(([name]) => name)).toEqual([])
  })

  it('[H52] every door opens from a project beside it, and pal answers', () => {
    const project = join(folder, 'project')
    const { exports } = JSON.parse(readFileSync(join(unpacked, 'package.json'), 'utf8')) as {
      exports: object
    }
    const doors = Object.keys(exports).map((door) => `palimpsest${door.slice(1)}`)
    const script = `for (const door of ${JSON.stringify(doors)}) console.log(door, Object.keys(await import(door)).length > 0)`
    writeFileSync(join(project, 'doors.mjs'), script)
    const opened = spawnSync(process.execPath, ['doors.mjs'], { cwd: project, encoding: 'utf8' })
    expect(opened.stdout.trim().split('\n')).toEqual(doors.map((door) => `${door} true`))
    const environment = { PATH: process.env['PATH'], HOME: folder }
    const pal = spawnSync(process.execPath, [join(unpacked, 'dist', 'pal.js'), '-p', 'hello', '--offline'], {
      cwd: project,
      env: environment,
      encoding: 'utf8',
    })
    expect([pal.status, pal.stdout.includes('hello')]).toEqual([0, true])
  })
})
