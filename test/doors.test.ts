// What outsiders see: the names behind each door, frozen here, and that the browser door needs no Node.
import { build } from 'esbuild'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  exports: Record<string, { default: string }>
  dependencies: Record<string, string>
  devDependencies: Record<string, string>
}

describe('the doors', () => {
  it('[H29] are these, and each opens on a source file', () => {
    const doors = Object.entries(manifest.exports).map(([door, { default: file }]) => [door, file])
    expect(doors).toEqual([
      ['.', './dist/index.js'],
      ['./projection', './dist/projection/index.js'],
      ['./fit', './dist/fit/index.js'],
      ['./tools', './dist/tools/index.js'],
      ['./simulator', './dist/simulator/index.js'],
      ['./lab', './dist/lab/index.js'],
      ['./testing', './dist/testing/index.js'],
      ['./otel', './dist/telemetry/index.js'],
      ['./postgres', './dist/postgres/index.js'],
      ['./fleet', './dist/fleet/index.js'],
    ])
    for (const [, file] of doors) {
      const source = join(root, file!.replace('./dist', 'src').replace(/\.js$/, '.ts'))
      expect(readFileSync(source, 'utf8').length).toBeGreaterThan(0)
    }
  })

  it('[H29] the projection door bundles for a browser', async () => {
    const bundle = await build({
      entryPoints: [join(root, 'src/projection/index.ts')],
      bundle: true,
      write: false,
      platform: 'browser',
      format: 'esm',
      logLevel: 'silent',
    })
    expect(bundle.errors).toEqual([])
    expect(bundle.outputFiles[0]!.text).not.toMatch(/from "node:|require\("node:/)
  })

  it('[H29] versions are exact, so that what was tested is what is installed', () => {
    const versions = Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })
    expect(versions.filter(([, version]) => !/^\d+\.\d+\.\d+/.test(version))).toEqual([])
  })

  it('[H29] the front door offers these names', async () => {
    const door = await import('../src/index.ts')
    expect(Object.keys(door).sort()).toEqual([
      'AgentRegistry',
      'EngineError',
      'Session',
      'agentTools',
      'anthropicModel',
      'anthropicRepairer',
      'anthropicWire',
      'attending',
      'builtInTypes',
      'createDirectory',
      'createEngine',
      'createPreset',
      'fileStore',
      'geminiModel',
      'geminiWire',
      'hooks',
      'inMemoryStore',
      'knownServers',
      'leftBehind',
      'leftBehindText',
      'loadSkills',
      'lookUp',
      'machineFileSystem',
      'memoryToolHandlers',
      'modelSummary',
      'modelTable',
      'noAnswer',
      'noHooks',
      'openAiChatModel',
      'openAiChatWire',
      'openAiResponsesModel',
      'openAiResponsesWire',
      'originByMessage',
      'overflowOf',
      'price',
      'project',
      'projectOf',
      'providersOf',
      'repair',
      'routedModel',
      'scriptedMessage',
      'scriptedModel',
      'serverNamed',
      'sessionNotes',
      'silentOverflow',
      'standingAttachment',
      'tool',
      'windowOf',
      'wireChooser',
    ])
  })
})
