// The demo that deployment begins with, as its own process.
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { skipReason } from '../postgres/server.ts'

const root = join(import.meta.dirname, '..', '..')

describe('deployment', () => {
  it.skipIf(skipReason !== null)(
    '[FL15] the demo kills a worker, every input is answered once, and the inspector shows what the workers wrote',
    { timeout: 600_000 },
    () => {
      const words = ['scripts/run-ts.mjs', 'scripts/fleet-demo.ts', '--direct', '--inputs', '4']
      const ended = spawnSync(process.execPath, words, { cwd: root, encoding: 'utf8' })
      expect(ended.stderr).toBe('')
      expect(ended.stdout).toContain('killed with -9')
      expect(ended.stdout).toContain('4 of 4 inputs delivered once and answered once')
      expect(ended.stdout).toMatch(/4 of 4 sessions shown by the inspector.*: http:\/\/127\.0\.0\.1:\d+\/#t=/)
      expect(ended.stdout).toContain('the wall between tenants holds for this login')
      expect(ended.status).toBe(0)
    },
  )

  it('[FL15] the compose files name services that exist, the image of the Dockerfile, and no secret', () => {
    const read = (name: string): string => readFileSync(join(root, 'deploy', name), 'utf8')
    const compose = parse(read('compose.yaml'), { merge: true }) as {
      services: Record<string, { depends_on?: Record<string, unknown>; ports?: readonly string[] }>
    }
    const names = Object.keys(compose.services)
    expect(names).toEqual(['postgres', 'migrate', 'login', 'worker-1', 'worker-2', 'server', 'inspector'])
    for (const [name, { depends_on: needs = {} }] of Object.entries(compose.services))
      for (const need of Object.keys(needs)) expect(names, name).toContain(need)
    const { inspector, postgres } = compose.services
    expect(JSON.stringify(inspector)).not.toMatch(/API_KEY|pal_worker/)
    expect(JSON.stringify(inspector)).toContain('pal_looker')
    for (const port of postgres!.ports ?? []) expect(port).toMatch(/^127\.0\.0\.1:/)
    const demo = parse(read('demo.yaml'), { merge: true }) as { services: Record<string, unknown> }
    for (const name of Object.keys(demo.services)) expect([...names, 'simulate']).toContain(name)
    expect(read('compose.yaml')).not.toMatch(/password: [a-z0-9]|sk-/i)
    const image = read('Dockerfile')
    const { version } = JSON.parse(
      readFileSync(join(root, 'node_modules', 'pg', 'package.json'), 'utf8'),
    ) as { version: string }
    expect(image).toContain(`pg@${version}`)
    expect(image).toContain('USER pal')
  })
})
